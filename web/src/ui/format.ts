// Formats numbers and times for users, in the language of the page.
import { localeNow, plural } from '../i18n';

export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

export function took(durationMs: number): string {
  if (durationMs < 1) return '< 1 ms';
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${decimal(durationMs / 1000)} s`;
}

export function decimal(n: number): string {
  return n.toLocaleString(localeNow(), { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

/** `0.5` is “50%”, or “50 %” where the language puts a space. */
export function percent(share: number): string {
  return share.toLocaleString(localeNow(), { style: 'percent' });
}

/** Answers of small models cost less than a cent. */
export function dollars(amount: number): string {
  const digits = amount < 1 ? 4 : 2;
  return amount.toLocaleString(localeNow(), { style: 'currency', currency: 'USD', maximumFractionDigits: digits });
}

/** A number and its noun, as a text of its own. Inside a sentence, use `plural` with the whole sentence. */
export function count(n: number, one: string, many = `${one}s`): string {
  return plural(n, `{n} ${one}`, `{n} ${many}`);
}

/** Of many releases only the year is known. */
export function shortDate(iso: string): string {
  if (/^\d{4}$/.test(iso)) return iso;
  return new Date(iso).toLocaleDateString(localeNow(), { day: 'numeric', month: 'short', year: 'numeric' });
}

/** The time if it is today, otherwise the day. */
export function moment(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const time = at.toLocaleTimeString(localeNow(), { hour: '2-digit', minute: '2-digit' });
  if (at.toDateString() === now.toDateString()) return time;
  const year = at.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return `${at.toLocaleDateString(localeNow(), { day: 'numeric', month: 'short', year })}, ${time}`;
}

/** The day and the time in full. */
export function fullMoment(iso: string): string {
  return new Date(iso).toLocaleString(localeNow());
}

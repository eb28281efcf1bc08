// Conversations under the days a person remembers them by.
import type { Conversation } from '../api/types';
import { localeNow, t } from '../i18n';

export interface Day {
  label: string;
  conversations: Conversation[];
}

/** Expects pinned ones first, then the newest, as the server lists them; keeps that order. */
export function byDay(conversations: Conversation[], now: Date): Day[] {
  const days: Day[] = [];
  for (const conversation of conversations) {
    const label = conversation.pinned ? t('Pinned') : labelOf(new Date(conversation.updatedAt), now);
    const last = days.at(-1);
    if (last?.label === label) last.conversations.push(conversation);
    else days.push({ label, conversations: [conversation] });
  }
  return days;
}

function labelOf(date: Date, now: Date): string {
  const age = Math.round((midnight(now) - midnight(date)) / 86_400_000);
  if (age <= 0) return t('Today');
  if (age === 1) return t('Yesterday');
  if (age < 7) return date.toLocaleDateString(localeNow(), { weekday: 'long' });
  if (age < 30) return t('Last 30 days');
  return date.toLocaleDateString(localeNow(), { month: 'long', year: 'numeric' });
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

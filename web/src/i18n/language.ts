// Which language the page is in: the user's choice on this device, else the first of the browser's languages that has texts.
import { useSyncExternalStore } from 'react';
import { speak, type Messages } from './index';

type Load = () => Promise<{ default: Messages }>;

/** One line for each language: its own name for itself, and its texts. */
export const LANGUAGES: Record<string, { name: string; load: Load }> = {
  en: { name: 'English', load: async () => ({ default: {} }) },
  de: { name: 'Deutsch', load: () => import('./de.json') },
  fr: { name: 'Français', load: () => import('./fr.json') },
  es: { name: 'Español', load: () => import('./es.json') },
};

const KEY = 'segue.language';
let current = 'en';
/** The last language that was asked for: an older one whose texts arrive later is not applied. */
let wanted = 'en';
const listeners = new Set<() => void>();

/** The user's choice, or null for the browser's language. */
export function storedLanguage(): string | null {
  try {
    const stored = localStorage.getItem(KEY);
    return stored !== null && Object.hasOwn(LANGUAGES, stored) ? stored : null;
  } catch {
    return null;
  }
}

/** Loads the language that applies. A failure leaves the language as it is. */
export async function applyLanguage(): Promise<void> {
  const language = storedLanguage() ?? languageOf(navigator.languages);
  wanted = language;
  const { default: messages } = await LANGUAGES[language]!.load();
  if (wanted !== language) return;
  speak(regionOf(language, navigator.languages), messages);
  document.documentElement.lang = language;
  current = language;
  listeners.forEach((listener) => listener());
}

/** Kept on this device once its texts are here; null goes back to the browser's language. */
export async function chooseLanguage(language: string | null): Promise<void> {
  const before = storedLanguage();
  store(language);
  try {
    await applyLanguage();
  } catch (error) {
    store(before);
    throw error;
  }
}

export const useLanguage = (): string => useSyncExternalStore(subscribe, () => current);

/** `['pt-BR', 'fr-CA', 'en']` is French: the first one that there are texts for. */
export function languageOf(preferred: readonly string[]): string {
  return preferred.map(languagePart).find((language) => Object.hasOwn(LANGUAGES, language)) ?? 'en';
}

/** Dates and numbers follow the region that the browser names for this language. */
export function regionOf(language: string, preferred: readonly string[]): string {
  return preferred.find((tag) => languagePart(tag) === language) ?? language;
}

const languagePart = (tag: string): string => tag.toLowerCase().split('-')[0] ?? tag;

function store(language: string | null): void {
  if (language === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, language);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

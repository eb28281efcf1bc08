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
/** The user's choice, or null for the browser's language. */
let chosen = storedLanguage();
/** The last language that was asked for: an older one whose texts arrive later is not applied. */
let wanted = 'en';
const listeners = new Set<() => void>();

export const chosenLanguage = (): string | null => chosen;

/** At the start of the page. A failure leaves the page in English. */
export const applyLanguage = (): Promise<void> => chooseLanguage(chosen);

/** Loads the texts, then keeps the choice on this device; null is the browser's language. A failure changes nothing. */
export async function chooseLanguage(choice: string | null): Promise<void> {
  const language = choice ?? languageOf(navigator.languages);
  wanted = language;
  const { default: messages } = await LANGUAGES[language]!.load();
  if (wanted !== language) return;
  speak(regionOf(language, navigator.languages), messages);
  document.documentElement.lang = language;
  store(choice);
  chosen = choice;
  current = language;
  listeners.forEach((listener) => listener());
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

export function storedLanguage(): string | null {
  try {
    const stored = localStorage.getItem(KEY);
    return stored !== null && Object.hasOwn(LANGUAGES, stored) ? stored : null;
  } catch {
    return null;
  }
}

function store(language: string | null): void {
  try {
    if (language === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, language);
  } catch {
    // Not available: the choice lasts until the page is loaded again.
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

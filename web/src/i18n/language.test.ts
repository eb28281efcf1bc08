import { afterEach, describe, expect, it, vi } from 'vitest';
import { clock, count, moment, percent, shortDate, took } from '../ui/format';
import { localeNow, msg, number, plural, speak, t } from './index';
import { applyLanguage, chooseLanguage, chosenLanguage, LANGUAGES, languageOf, regionOf, storedLanguage } from './language';

const browserSpeaks = (...languages: string[]) => vi.spyOn(navigator, 'languages', 'get').mockReturnValue(languages);

afterEach(async () => {
  vi.restoreAllMocks();
  browserSpeaks('en-US');
  await chooseLanguage(null);
  vi.restoreAllMocks();
  localStorage.clear();
});

describe('which language', () => {
  it.each([
    [['de-DE', 'en'], 'de'],
    [['pt-BR', 'fr-CA', 'en'], 'fr'],
    [['ES'], 'es'],
    [['ja', 'ko'], 'en'],
    [[], 'en'],
    [['constructor'], 'en'],
  ])('the browser wants %j: %s', (preferred, language) => expect(languageOf(preferred)).toBe(language));

  it('dates and numbers follow the region of that language', () => {
    expect(regionOf('de', ['en-US', 'de-AT'])).toBe('de-AT');
    expect(regionOf('fr', ['en-US', 'de-AT'])).toBe('fr');
  });

  it('a choice wins over the browser, is kept, and can be taken back', async () => {
    browserSpeaks('de-DE');
    await applyLanguage();
    expect(document.documentElement.lang).toBe('de');
    await chooseLanguage('fr');
    expect([document.documentElement.lang, storedLanguage(), t('Tasks')]).toEqual(['fr', 'fr', 'Tâches']);
    await chooseLanguage(null);
    expect([document.documentElement.lang, storedLanguage(), t('Tasks')]).toEqual(['de', null, 'Aufgaben']);
  });

  it('a language that does not load is not kept, and the page stays as it is', async () => {
    vi.spyOn(LANGUAGES.es!, 'load').mockRejectedValue(new Error('no network'));
    await expect(chooseLanguage('es')).rejects.toThrow('no network');
    expect([storedLanguage(), t('Tasks'), localeNow()]).toEqual([null, 'Tasks', 'en-US']);
  });

  it('the last choice wins, whichever texts arrive first', async () => {
    let arrive: (texts: { default: object }) => void = () => undefined;
    vi.spyOn(LANGUAGES.fr!, 'load').mockReturnValue(new Promise((resolve) => (arrive = resolve as typeof arrive)));
    const slow = chooseLanguage('fr');
    await chooseLanguage('de');
    arrive({ default: { Tasks: 'Tâches' } });
    await slow;
    expect([storedLanguage(), t('Tasks')]).toEqual(['de', 'Aufgaben']);
  });

  it('without storage a choice lasts as long as the page', async () => {
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('denied', 'SecurityError');
    });
    await chooseLanguage('fr');
    expect([chosenLanguage(), t('Tasks')]).toEqual(['fr', 'Tâches']);
  });

  it('a language that is stored but no longer there is ignored', () => {
    localStorage.setItem('segue.language', 'tlh');
    expect(storedLanguage()).toBeNull();
  });
});

describe('a text', () => {
  it('is English without a file, with its values and numbers', () => {
    expect(t('{n} of {all}', { n: 1_234, all: 2_000 })).toBe('1,234 of 2,000');
    expect(t(msg('Hello {name}'), { name: '{name} $& \\' })).toBe('Hello {name} $& \\');
    expect([count(1, 'entry', 'entries'), count(1_000, 'entry', 'entries')]).toEqual(['1 entry', '1,000 entries']);
  });

  it('takes the plural form of its language', () => {
    speak('pl', { '{n} tracks': { one: '{n} utwór', few: '{n} utwory', many: '{n} utworów', other: '{n} utworu' } });
    expect([1, 3, 5, 22].map((n) => count(n, 'track'))).toEqual(['1 utwór', '3 utwory', '5 utworów', '22 utwory']);
    expect(plural(2, '{n} album', '{n} albums')).toBe('2 albums');
  });

  it('writes numbers and dates as the language does', () => {
    speak('de-DE', {});
    expect([number(1_234.5), took(2_345), clock(65), percent(0.5)]).toEqual(['1.234,5', '2,3 s', '1:05', '50\u00a0%']);
    expect(shortDate('2026-03-05T12:00:00Z')).toBe('5. März 2026');
    expect(moment('2026-03-05T12:00:00', new Date('2026-04-01T00:00:00'))).toMatch(/^5\. März, 12:00$/);
  });
});

// The language of the page. It takes effect at once.
import { ChevronsUpDown } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { t } from '../i18n';
import { chooseLanguage, chosenLanguage, LANGUAGES } from '../i18n/language';
import { toastError } from '../ui/toast';

/** The page is drawn anew in another language; then the focus returns to where the choice was made. */
let justChosen = false;

export function LanguageChoice() {
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    if (justChosen) select.current?.focus();
    justChosen = false;
  }, []);
  const choose = (language: string) => {
    justChosen = true;
    chooseLanguage(language || null).catch((error: unknown) => {
      console.error('the texts of the language did not load:', error);
      justChosen = false;
      if (select.current) select.current.value = chosenLanguage() ?? '';
      toastError(new Error(t('The language could not be loaded. Try again when the server can be reached.')));
    });
  };
  return (
    <div className="select">
      <select
        ref={select}
        className="field"
        aria-label={t('Language')}
        defaultValue={chosenLanguage() ?? ''}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">{t('As in the browser')}</option>
        {Object.entries(LANGUAGES).map(([language, { name }]) => (
          <option key={language} value={language} lang={language}>
            {name}
          </option>
        ))}
      </select>
      <ChevronsUpDown size={15} aria-hidden />
    </div>
  );
}

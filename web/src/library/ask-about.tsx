// What can be asked now that there is music, with names from the person's own library.
import { useTracks } from '../api/queries';
import { useAsk } from '../chat/ask';
import { t } from '../i18n';
import '../chat/follow-ups.css';

export function AskAbout() {
  const ask = useAsk();
  const { data } = useTracks('', 'added');
  const tracks = data?.pages[0]?.tracks ?? [];
  const [first, ...others] = tracks;
  if (!first) return null;
  const another = others.find(({ artist }) => artist !== first.artist);
  const questions = [
    t('More like “{title}”', { title: first.title }),
    another && t('Songs by {artist}', { artist: another.artist }),
    t('Something calm for the evening'),
  ];
  return (
    <div className="ask-about">
      <p>{t('Now you can ask:')}</p>
      <ul className="follow-ups" aria-label={t('Ask next')}>
        {questions
          .filter((text) => text !== undefined)
          .map((text) => (
            <li key={text}>
              <button type="button" className="button small" dir="auto" onClick={() => ask(text)}>
                {text}
              </button>
            </li>
          ))}
      </ul>
    </div>
  );
}

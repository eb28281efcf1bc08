// What can be asked now that there is music, with names from the person's own library.
import { useTracks } from '../api/queries';
import { useAsk } from '../chat/ask';
import { AskNext } from '../chat/ask-next';
import { t } from '../i18n';

export function AskAbout() {
  const ask = useAsk();
  const { data } = useTracks('', 'added');
  const tracks = data?.pages[0]?.tracks ?? [];
  const [first, ...others] = tracks;
  if (!first) return null;
  const another = others.find(({ artist }) => artist !== '' && artist !== first.artist);
  const questions = [
    t('More like “{title}”', { title: first.title }),
    another && t('Songs by {artist}', { artist: another.artist }),
    t('Something calm for the evening'),
  ].filter((text) => text !== undefined);
  return (
    <div className="ask-about">
      <p>{t('Now you can ask:')}</p>
      <AskNext chips={questions.map((text) => ({ text }))} onAsk={ask} />
    </div>
  );
}

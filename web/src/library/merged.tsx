// What was merged into a track because it is the same recording, and the way back.
import { AudioLines } from 'lucide-react';
import { useChanged } from '../api/queries';
import { mergeTracks, undoMerge, useMerges } from '../api/sound-queries';
import type { MergeLine } from '../api/types';
import { t } from '../i18n';
import { toast, toastError } from '../ui/toast';
import './merged.css';

export function Merged({ trackId }: { trackId: string }) {
  const { data: merges = [] } = useMerges(trackId);
  const changed = useChanged();
  const separate = async ({ undoId, trackId: from, title }: MergeLine) => {
    try {
      await undoMerge(undoId);
    } catch (error) {
      return toastError(error);
    }
    changed('library');
    toast(t('“{title}” is a separate track again', { title: title || t('Without a name') }), {
      undo: () => mergeTracks(from, trackId).then(() => changed('library')),
    });
  };
  if (merges.length === 0) return null;
  return (
    <section className="merged" aria-label={t('The same recording')}>
      <p className="label">
        <AudioLines size={13} aria-hidden /> {t('The same recording')}
      </p>
      <ul>
        {merges.map((merge) => (
          <li key={merge.undoId}>
            <Part merge={merge} />
            <button
              type="button"
              className="button small"
              aria-label={t('Not the same: separate “{title}”', { title: merge.title || t('Without a name') })}
              onClick={() => void separate(merge)}
            >
              {t('Not the same: separate')}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Part({ merge: { title, artist, cause, files } }: { merge: MergeLine }) {
  const why = cause === 'sound' ? t('It sounds the same') : t('You merged it');
  return (
    <div>
      <p dir="auto">
        <strong>{title || t('Without a name')}</strong> {artist && t('by {artist}', { artist })}
      </p>
      <p className="merged-why">{why}</p>
      {files.map((path) => (
        <p key={path} className="merged-why" dir="auto" title={path}>
          {path.split(/[/\\]/).at(-1)}
        </p>
      ))}
    </div>
  );
}

// Adding a track or an album to the library, with the way back.
import { Check, Plus } from 'lucide-react';
import { useState } from 'react';
import { addAlbum, addTrack, removeAlbum, removeTrack, useAbout, useChanged } from '../api/queries';
import { t } from '../i18n';
import { toast, toastError } from '../ui/toast';
import { setOwned } from './ownership';

interface Props {
  title: string;
  owned: boolean;
  what: { isrc: string } | { albumId: string };
}

export function AddButton({ title, owned, what }: Props) {
  const { data: about } = useAbout();
  const changed = useChanged();
  const [state, setState] = useState<'new' | 'busy' | 'owned'>(owned ? 'owned' : 'new');
  // A found track is known to the server already; only albums need the catalogue.
  if ('albumId' in what && !about?.features.includes('catalogue')) return null;

  const undo = async () => {
    await ('isrc' in what ? removeTrack(what.isrc) : removeAlbum(what.albumId));
    setState('new');
    if ('isrc' in what) setOwned(what.isrc, false);
    changed('library');
  };
  const add = async () => {
    setState('busy');
    try {
      await ('isrc' in what ? addTrack(what.isrc) : addAlbum(what.albumId));
      setState('owned');
      if ('isrc' in what) setOwned(what.isrc, true);
      changed('library');
      toast(t('Added “{title}” to your library', { title }), { undo });
    } catch (error) {
      setState('new');
      toastError(error);
    }
  };
  const has = state === 'owned';
  return (
    <button
      type="button"
      className="button small"
      disabled={state !== 'new'}
      aria-label={has ? t('{title}: In library', { title }) : t('Add {title}', { title })}
      onClick={() => void add()}
    >
      {has ? <Check size={14} aria-hidden /> : <Plus size={14} aria-hidden />}
      {has ? t('In library') : t('Add')}
    </button>
  );
}

// Adding something from the catalogue to the library, with the way back. Shown only where a catalogue is connected.
import { Check, Plus } from 'lucide-react';
import { useState } from 'react';
import { addAlbum, addTrack, removeAlbum, removeTrack, useAbout, useChanged } from '../api/queries';
import { toast, toastError } from '../ui/toast';

interface Props {
  title: string;
  owned: boolean;
  what: { isrc: string } | { albumId: string };
}

export function AddButton({ title, owned, what }: Props) {
  const { data: about } = useAbout();
  const changed = useChanged();
  const [state, setState] = useState<'new' | 'busy' | 'owned'>(owned ? 'owned' : 'new');
  if (!about?.features.includes('catalogue')) return null;

  const undo = async () => {
    await ('isrc' in what ? removeTrack(what.isrc) : removeAlbum(what.albumId));
    setState('new');
    changed('library');
  };
  const add = async () => {
    setState('busy');
    try {
      await ('isrc' in what ? addTrack(what.isrc) : addAlbum(what.albumId));
      setState('owned');
      changed('library');
      toast(`Added “${title}” to your library`, { undo });
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
      aria-label={has ? `${title}: In library` : `Add ${title}`}
      onClick={() => void add()}
    >
      {has ? <Check size={14} aria-hidden /> : <Plus size={14} aria-hidden />}
      {has ? 'In library' : 'Add'}
    </button>
  );
}

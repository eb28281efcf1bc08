// Adding music you do not have yet, from the catalogue. Shown only where a catalogue is connected.
import { Check, Plus, Search } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { addAlbum, addTrack, removeAlbum, removeTrack, useCatalogueSearch, useChanged } from '../api/queries';
import { Artwork, coverOf } from '../music/artwork';
import { Dialog } from '../ui/dialog';
import { Failed, SkeletonRows } from '../ui/states';
import { toast, toastError } from '../ui/toast';

export function CatalogueButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button primary" onClick={() => setOpen(true)}>
        <Plus size={16} aria-hidden /> Add music
      </button>
      {open && (
        <Dialog title="Add from the catalogue" onClose={() => setOpen(false)}>
          <CatalogueSearch />
        </Dialog>
      )}
    </>
  );
}

function CatalogueSearch() {
  const [words, setWords] = useState('');
  const [query, setQuery] = useState('');
  const { data, error, isFetching } = useCatalogueSearch(query);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    setQuery(words.trim());
  };
  return (
    <div className="catalogue">
      <form onSubmit={onSubmit}>
        <label className="search-field">
          <Search size={16} aria-hidden />
          <input className="field" type="search" aria-label="Search the catalogue" placeholder="Artist, album or song, then Enter" autoFocus value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
      </form>
      {error && <Failed error={error} />}
      {isFetching && <SkeletonRows rows={4} label="Searching the catalogue" />}
      {data && !isFetching && (
        <ul>
          {data.albums?.map((album) => (
            <Candidate key={album.id} seed={coverOf({ artist: album.artist, title: album.title })} url={album.artworkUrl} title={album.title} by={`${album.artist} · Album`} owned={album.inLibrary} add={() => addAlbum(album.id)} takeBack={() => removeAlbum(album.id)} />
          ))}
          {data.tracks?.filter(({ isrc }) => isrc !== '').map((track) => (
            <Candidate key={track.tidalId ?? track.isrc} seed={coverOf(track)} url={track.artworkUrl} title={track.title} by={`${track.artist} · ${track.album}`} owned={track.inLibrary} add={() => addTrack(track.isrc)} takeBack={() => removeTrack(track.isrc)} />
          ))}
        </ul>
      )}
      {data && !isFetching && (data.albums?.length ?? 0) + (data.tracks?.length ?? 0) === 0 && <p className="tool-note">{data.summary}</p>}
    </div>
  );
}

interface CandidateProps {
  seed: string;
  url?: string | null;
  title: string;
  by: string;
  owned: boolean;
  add: () => Promise<unknown>;
  takeBack: () => Promise<unknown>;
}

function Candidate({ seed, url, title, by, owned, add, takeBack }: CandidateProps) {
  const [state, setState] = useState<'new' | 'busy' | 'owned'>(owned ? 'owned' : 'new');
  const changed = useChanged();
  const undo = async () => {
    await takeBack();
    setState('new');
    changed('library');
  };
  const onClick = async () => {
    setState('busy');
    try {
      await add();
      setState('owned');
      changed('library');
      toast(`Added “${title}”`, { undo });
    } catch (error) {
      setState('new');
      toastError(error);
    }
  };
  return (
    <li className="candidate">
      <Artwork seed={seed} url={url} />
      <span className="track-names">
        <span className="track-title">{title}</span>
        <span className="track-by">{by}</span>
      </span>
      <button type="button" className="button small" disabled={state !== 'new'} aria-label={state === 'owned' ? `${title}: In library` : `Add ${title}`} onClick={() => void onClick()}>
        {state === 'owned' ? <Check size={14} aria-hidden /> : <Plus size={14} aria-hidden />}
        {state === 'owned' ? 'In library' : 'Add'}
      </button>
    </li>
  );
}

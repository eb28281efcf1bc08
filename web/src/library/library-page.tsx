// Your music: tracks and albums, found by words or by meaning.
import { ChevronsUpDown, Search, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useAbout } from '../api/queries';
import type { LibrarySort } from '../api/types';
import { usePageTitle } from '../shell/page-title';
import { useDebounced } from '../ui/debounced';
import { Segments } from '../ui/segments';
import { useAddress, type View } from './address';
import { AlbumDialog, TrackDialog } from './details';
import { AlbumGrid } from './album-grid';
import { CatalogueButton } from './catalogue';
import { ArtistView, DecadeView, GenreView } from './groups';
import { ImportZone } from './import-zone';
import { IndexProgress } from './index-progress';
import { MeaningResults } from './meaning-results';
import { OpenEntries } from './open-entries';
import { TrackList } from './track-list';
import './library.css';

const SORTS: { value: LibrarySort; label: string }[] = [
  { value: 'added', label: 'Recently added' },
  { value: 'title', label: 'Title' },
  { value: 'artist', label: 'Artist' },
  { value: 'album', label: 'Album' },
];

const PLACEHOLDERS: Record<View, string> = {
  tracks: 'Title, artist or album',
  albums: 'Title, artist or album',
  artists: 'Artist',
  genres: 'Genre',
  decades: 'Decade',
  meaning: 'A mood, a story, a line you half remember',
};
const UNFILTERED = { artist: null, genre: null, decade: null };

export default function LibraryPage() {
  usePageTitle('Library');
  const page = useRef<HTMLDivElement>(null);
  const { view, sort, q: wanted, at, track, album, letter, artist, genre, decade, change, pick, open, close } = useAddress();
  const [words, setWords] = useState(wanted);
  const { data: about } = useAbout();
  const q = useDebounced(words.trim());
  useEffect(() => {
    if (q !== wanted) change({ q, at: null });
    // Only what is typed here changes the address; what the address says was read at the beginning.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [q]);
  const features = about?.features ?? [];
  const filter = { artist, genre, decade };
  const chosen = artist || genre || (decade && `${decade}s`);
  const show = (key: 'artist' | 'genre' | 'decade') => (value: string) => {
    setWords('');
    pick(key, value);
  };

  return (
    <div className="page" ref={page}>
      <div className="page-inner">
        <header className="page-head">
          <div>
            <h1>Library</h1>
            <IndexProgress />
          </div>
          {features.includes('catalogue') && <CatalogueButton />}
        </header>
        {features.includes('import') && (
          <>
            <ImportZone />
            <OpenEntries />
          </>
        )}
        <div className="library-tools">
          <Segments
            label="View"
            value={view}
            onChange={(next) => change({ ...UNFILTERED, view: next === 'tracks' ? null : next, at: null, letter: null })}
            options={[
              { value: 'tracks', label: 'Tracks' },
              { value: 'albums', label: 'Albums' },
              { value: 'artists', label: 'Artists' },
              { value: 'genres', label: 'Genres' },
              { value: 'decades', label: 'Decades' },
              { value: 'meaning', label: 'By meaning' },
            ]}
          />
          <label className="search-field">
            <Search size={16} aria-hidden />
            <input
              className="field"
              type="search"
              aria-label="Find in your library"
              placeholder={PLACEHOLDERS[view]}
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          </label>
          {(view === 'tracks' || view === 'albums') && (
            <div className="select">
              <select className="field" aria-label="Sort" value={sort} onChange={(event) => change({ sort: event.target.value, at: null })}>
                {SORTS.filter((option) => view === 'tracks' || option.value !== 'album').map((option) => (
                  <option key={option.value} value={option.value}>
                    {option.label}
                  </option>
                ))}
              </select>
              <ChevronsUpDown size={15} aria-hidden />
            </div>
          )}
        </div>
        {view === 'tracks' && chosen && (
          <button type="button" className="button small library-filter" onClick={() => change({ ...UNFILTERED, at: null })}>
            <span dir="auto">{chosen}</span> <X size={14} aria-label="Show all tracks" />
          </button>
        )}
        {view === 'tracks' && (
          <TrackList
            q={q}
            sort={sort}
            filter={filter}
            at={at}
            page={page}
            onOpen={(isrc) => open('track', isrc)}
            onMoved={(row) => change({ at: row > 0 ? String(row) : null })}
          />
        )}
        {view === 'albums' && <AlbumGrid q={q} sort={sort} onOpen={(id) => open('album', id)} />}
        {view === 'artists' && <ArtistView q={q} letter={letter} onPick={show('artist')} onLetter={(next) => change({ letter: next })} />}
        {view === 'genres' && <GenreView q={q} onPick={show('genre')} />}
        {view === 'decades' && <DecadeView q={q} onPick={show('decade')} />}
        {view === 'meaning' && <MeaningResults q={q} onSearch={setWords} />}
      </div>
      {track && <TrackDialog isrc={track} onClose={close} />}
      {album && <AlbumDialog id={album} onClose={close} />}
    </div>
  );
}

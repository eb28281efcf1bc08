// Your music: tracks and albums, found by words or by meaning.
import { ChevronsUpDown, Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useAbout } from '../api/queries';
import type { LibrarySort } from '../api/types';
import { usePageTitle } from '../shell/page-title';
import { useDebounced } from '../ui/debounced';
import { Segments } from '../ui/segments';
import { useAddress } from './address';
import { AlbumDialog, TrackDialog } from './details';
import { AlbumGrid } from './album-grid';
import { CatalogueButton } from './catalogue';
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

export default function LibraryPage() {
  usePageTitle('Library');
  const page = useRef<HTMLDivElement>(null);
  const { view, sort, q: wanted, at, track, album, change, open, close } = useAddress();
  const [words, setWords] = useState(wanted);
  const { data: about } = useAbout();
  const q = useDebounced(words.trim());
  useEffect(() => {
    if (q !== wanted) change({ q, at: null });
    // Only what is typed here changes the address; what the address says was read at the beginning.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [q]);
  const features = about?.features ?? [];

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
            onChange={(next) => change({ view: next === 'tracks' ? null : next, at: null })}
            options={[
              { value: 'tracks', label: 'Tracks' },
              { value: 'albums', label: 'Albums' },
              { value: 'meaning', label: 'By meaning' },
            ]}
          />
          <label className="search-field">
            <Search size={16} aria-hidden />
            <input
              className="field"
              type="search"
              aria-label="Find in your library"
              placeholder={view === 'meaning' ? 'A mood, a story, a line you half remember' : 'Title, artist or album'}
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          </label>
          {view !== 'meaning' && (
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
        {view === 'tracks' && (
          <TrackList
            q={q}
            sort={sort}
            at={at}
            page={page}
            onOpen={(isrc) => open('track', isrc)}
            onMoved={(row) => change({ at: row > 0 ? String(row) : null })}
          />
        )}
        {view === 'albums' && <AlbumGrid q={q} sort={sort} onOpen={(id) => open('album', id)} />}
        {view === 'meaning' && <MeaningResults q={q} />}
      </div>
      {track && <TrackDialog isrc={track} onClose={close} />}
      {album && <AlbumDialog id={album} onClose={close} />}
    </div>
  );
}

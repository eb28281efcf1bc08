// Your music: tracks and albums, found by words or by meaning.
import { ChevronsUpDown, Search } from 'lucide-react';
import { useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useAbout } from '../api/queries';
import type { LibrarySort } from '../api/types';
import { usePageTitle } from '../shell/page-title';
import { useDebounced } from '../ui/debounced';
import { Segments } from '../ui/segments';
import { AlbumDialog, TrackDialog } from './details';
import { AlbumGrid } from './album-grid';
import { CatalogueButton } from './catalogue';
import { ImportZone } from './import-zone';
import { IndexProgress } from './index-progress';
import { MeaningResults } from './meaning-results';
import { OpenEntries } from './open-entries';
import { TrackList } from './track-list';
import './library.css';

type View = 'tracks' | 'albums' | 'meaning';

const SORTS: { value: LibrarySort; label: string }[] = [
  { value: 'added', label: 'Recently added' },
  { value: 'title', label: 'Title' },
  { value: 'artist', label: 'Artist' },
  { value: 'album', label: 'Album' },
];

export default function LibraryPage() {
  usePageTitle('Library');
  const page = useRef<HTMLDivElement>(null);
  const [search, setSearch] = useSearchParams();
  const [words, setWords] = useState('');
  const [sort, setSort] = useState<LibrarySort>('added');
  const { data: about } = useAbout();
  const q = useDebounced(words.trim());
  const view = (search.get('view') ?? 'tracks') as View;
  const show = (key: 'view' | 'track' | 'album', value: string | null) =>
    setSearch((previous) => {
      const next = new URLSearchParams(previous);
      if (value === null) next.delete(key);
      else next.set(key, value);
      return next;
    });
  const track = search.get('track');
  const album = search.get('album');
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
            onChange={(next) => show('view', next === 'tracks' ? null : next)}
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
              <select className="field" aria-label="Sort" value={sort} onChange={(event) => setSort(event.target.value as LibrarySort)}>
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
        {view === 'tracks' && <TrackList q={q} sort={sort} page={page} onOpen={(isrc) => show('track', isrc)} />}
        {view === 'albums' && <AlbumGrid q={q} sort={sort} onOpen={(id) => show('album', id)} />}
        {view === 'meaning' && <MeaningResults q={q} />}
      </div>
      {track && <TrackDialog isrc={track} onClose={() => show('track', null)} />}
      {album && <AlbumDialog id={album} onClose={() => show('album', null)} />}
    </div>
  );
}

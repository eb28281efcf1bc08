// Your music: tracks and albums, found by words or by meaning.
import { ChevronsUpDown, Search, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useAbout } from '../api/queries';
import type { LibrarySort } from '../api/types';
import { msg, t } from '../i18n';
import { usePageTitle } from '../shell/page-title';
import { useDebounced } from '../ui/debounced';
import { Segments } from '../ui/segments';
import { useAddress, type View } from './address';
import { AlbumDialog, NamedAlbumDialog } from './album-dialog';
import { AlbumGrid } from './album-grid';
import { CatalogueButton } from './catalogue';
import { TrackDialog } from './details';
import { ArtistView, decadeName, DecadeView, GenreView } from './groups';
import { Folders } from './folders';
import { ImportZone } from './import-zone';
import { IndexProgress } from './index-progress';
import { MeaningResults } from './meaning-results';
import { OpenEntries } from './open-entries';
import { SampleNote } from './sample-note';
import { TrackList } from './track-list';
import './library.css';

const SORTS: { value: LibrarySort; label: string }[] = [
  { value: 'added', label: msg('Recently added') },
  { value: 'title', label: msg('Title') },
  { value: 'artist', label: msg('Artist') },
  { value: 'album', label: msg('Album') },
];

const PLACEHOLDERS: Record<View, string> = {
  tracks: msg('Title, artist or album'),
  albums: msg('Title, artist or album'),
  artists: msg('Artist'),
  genres: msg('Genre'),
  decades: msg('Decade'),
  meaning: msg('A mood, a story, a line you half remember'),
};
const UNFILTERED = { artist: null, genre: null, decade: null };

export default function LibraryPage() {
  usePageTitle(t('Library'));
  const page = useRef<HTMLDivElement>(null);
  const { view, sort, q: wanted, at, track, album, by, letter, artist, genre, decade, change, pick, open, close } = useAddress();
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
  const chosen = artist || genre || (decade && decadeName(decade));
  const show = (key: 'artist' | 'genre' | 'decade') => (value: string) => {
    setWords('');
    pick(key, value);
  };

  return (
    <div className="page" ref={page}>
      <div className="page-inner">
        <header className="page-head">
          <div>
            <h1>{t('Library')}</h1>
            <IndexProgress />
          </div>
          {features.includes('catalogue') && <CatalogueButton />}
        </header>
        {features.includes('import') && (
          <>
            <ImportZone />
            <Folders />
            <OpenEntries />
            <SampleNote />
          </>
        )}
        <div className="library-tools">
          <Segments
            label={t('View')}
            value={view}
            onChange={(next) => change({ ...UNFILTERED, view: next === 'tracks' ? null : next, at: null, letter: null })}
            options={[
              { value: 'tracks', label: t('Tracks') },
              { value: 'albums', label: t('Albums') },
              { value: 'artists', label: t('Artists') },
              { value: 'genres', label: t('Genres') },
              { value: 'decades', label: t('Decades') },
              { value: 'meaning', label: t('By meaning') },
            ]}
          />
          <label className="search-field">
            <Search size={16} aria-hidden />
            <input
              className="field"
              type="search"
              aria-label={t('Find in your library')}
              placeholder={t(PLACEHOLDERS[view])}
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          </label>
          {(view === 'tracks' || view === 'albums') && (
            <div className="select">
              <select
                className="field"
                aria-label={t('Sort')}
                value={sort}
                onChange={(event) => change({ sort: event.target.value, at: null })}
              >
                {SORTS.filter((option) => view === 'tracks' || option.value !== 'album').map((option) => (
                  <option key={option.value} value={option.value}>
                    {t(option.label)}
                  </option>
                ))}
              </select>
              <ChevronsUpDown size={15} aria-hidden />
            </div>
          )}
        </div>
        {view === 'tracks' && chosen && (
          <button type="button" className="button small library-filter" onClick={() => change({ ...UNFILTERED, at: null })}>
            <span dir="auto">{chosen}</span> <X size={14} aria-label={t('Show all tracks')} />
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
      {album && by === null && <AlbumDialog id={album} onClose={close} />}
      {album && by !== null && <NamedAlbumDialog title={album} by={by} onClose={close} />}
    </div>
  );
}

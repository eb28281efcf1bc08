// Adding music you do not have yet, from the catalogue. Shown only where a catalogue is connected.
import { Plus, Search } from 'lucide-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useCatalogueSearch } from '../api/queries';
import { t } from '../i18n';
import { AddButton } from '../music/add-button';
import { Artwork, coverOf } from '../music/artwork';
import { Incomplete } from '../music/incomplete';
import { Dialog } from '../ui/dialog';
import { Failed, SkeletonRows } from '../ui/states';

export function CatalogueButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button primary" onClick={() => setOpen(true)}>
        <Plus size={16} aria-hidden /> {t('Add music')}
      </button>
      {open && (
        <Dialog title={t('Add from the catalogue')} onClose={() => setOpen(false)}>
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
          <input
            className="field"
            type="search"
            aria-label={t('Search the catalogue')}
            placeholder={t('Artist, album or song, then Enter')}
            data-autofocus
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
      </form>
      {error && <Failed error={error} />}
      {isFetching && <SkeletonRows rows={4} label={t('Searching the catalogue')} />}
      {data && !isFetching && (
        <ul>
          {data.albums?.map(({ id, title, artist, artworkUrl, inLibrary }) => (
            <Candidate
              key={id}
              cover={{ seed: coverOf({ artist, title }), url: artworkUrl }}
              title={title}
              by={`${artist} · ${t('Album')}`}
            >
              <AddButton title={title} owned={inLibrary} what={{ albumId: id }} />
            </Candidate>
          ))}
          {data.tracks
            ?.filter(({ isrc }) => isrc !== '')
            .map((track) => (
              <Candidate
                key={track.tidalId ?? track.isrc}
                cover={{ seed: coverOf(track), url: track.artworkUrl }}
                title={track.title}
                by={`${track.artist} · ${track.album}`}
              >
                <AddButton title={track.title} owned={track.inLibrary} what={{ isrc: track.isrc }} />
              </Candidate>
            ))}
        </ul>
      )}
      {data && !isFetching && (data.albums?.length ?? 0) + (data.tracks?.length ?? 0) === 0 && (
        <p className="tool-note">{t('Nothing found.')}</p>
      )}
      <Incomplete of="tidal" when={!isFetching && data?.isIncomplete} />
    </div>
  );
}

interface CandidateProps {
  cover: { seed: string; url?: string | null };
  title: string;
  by: string;
  children: ReactNode;
}

function Candidate({ cover, title, by, children }: CandidateProps) {
  return (
    <li className="candidate">
      <Artwork {...cover} />
      <span className="track-names">
        <span className="track-title" dir="auto">
          {title}
        </span>
        <span className="track-by" dir="auto">
          {by}
        </span>
      </span>
      {children}
    </li>
  );
}

// Artists, genres and decades: pick one to see its tracks.
import { CalendarRange, ChevronRight, Tag, UserRound, type LucideIcon } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useArtists, useGenres } from '../api/view-queries';
import { msg, t } from '../i18n';
import { count } from '../ui/format';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { lettersOf } from './letters';
import './groups.css';

interface Group {
  key: string;
  name: string;
  facts: string;
}

interface Words {
  count: (n: number) => string;
  loading: string;
  unknown: string;
  none: string;
  notFound: string;
  unnamed: string;
}

const ARTISTS: Words = {
  count: (n) => count(n, 'artist'),
  loading: msg('Loading artists'),
  unknown: msg('No such artist'),
  none: msg('No artists yet'),
  notFound: msg('No artist contains “{q}”.'),
  unnamed: msg('Your tracks do not name any artist.'),
};
const GENRES: Words = {
  count: (n) => count(n, 'genre'),
  loading: msg('Loading genres'),
  unknown: msg('No such genre'),
  none: msg('No genres yet'),
  notFound: msg('No genre contains “{q}”.'),
  unnamed: msg('Your tracks do not name any genre.'),
};
const DECADES: Words = {
  count: (n) => count(n, 'decade'),
  loading: msg('Loading decades'),
  unknown: msg('No such decade'),
  none: msg('No decades yet'),
  notFound: msg('No decade contains “{q}”.'),
  unnamed: msg('Your tracks do not name any decade.'),
};

/** `1990` is “1990s”. */
export const decadeName = (decade: string): string => t('{decade}s', { decade });

interface PickProps {
  q: string;
  onPick: (key: string) => void;
}

export function ArtistView({ q, letter, onPick, onLetter }: PickProps & { letter: string | null; onLetter: (letter: string) => void }) {
  const { data, error, refetch } = useArtists(q);
  const groups = data?.map(({ name, trackCount, albumCount }) => ({
    key: name,
    name,
    facts: [albumCount > 0 && count(albumCount, 'album'), count(trackCount, 'track')].filter(Boolean).join(' · '),
  }));
  const shown = { groups, error, onRetry: () => void refetch(), onPick, icon: UserRound, words: ARTISTS };
  return <Groups {...shown} q={q} letters={{ letter, onLetter }} />;
}

export function GenreView({ q, onPick }: PickProps) {
  const { data, error, refetch } = useGenres();
  const groups = data?.genres.map(({ name, trackCount }) => ({ key: name, name, facts: count(trackCount, 'track') }));
  return (
    <Groups groups={matching(groups, q)} error={error} onRetry={() => void refetch()} onPick={onPick} icon={Tag} words={GENRES} q={q} />
  );
}

export function DecadeView({ q, onPick }: PickProps) {
  const { data, error, refetch } = useGenres();
  const groups = data?.decades.map(({ name, trackCount }) => ({ key: name, name: decadeName(name), facts: count(trackCount, 'track') }));
  return (
    <Groups
      groups={matching(groups, q)}
      error={error}
      onRetry={() => void refetch()}
      onPick={onPick}
      icon={CalendarRange}
      words={DECADES}
      q={q}
    />
  );
}

/** These lists are whole: their words are looked for here. */
function matching(groups: Group[] | undefined, q: string): Group[] | undefined {
  const words = q.toLocaleLowerCase();
  return groups?.filter(({ name }) => name.toLocaleLowerCase().includes(words));
}

interface GroupsProps {
  groups: Group[] | undefined;
  error: unknown;
  onRetry: () => void;
  onPick: (key: string) => void;
  icon: LucideIcon;
  words: Words;
  q: string;
  letters?: { letter: string | null; onLetter: (letter: string) => void };
}

function Groups({ groups, error, onRetry, onPick, icon: Icon, words, q, letters }: GroupsProps) {
  const list = useRef<HTMLUListElement>(null);
  const index = letters && groups ? lettersOf(groups.map(({ name }) => name)) : [];
  const wanted = letters?.letter ?? null;
  const ready = groups !== undefined;

  // The address names a letter: that is where the list begins, also after a reload.
  useEffect(() => {
    if (wanted === null || !ready) return;
    list.current?.querySelector(`[data-letter="${wanted}"]`)?.scrollIntoView({ block: 'start' });
  }, [wanted, ready]);

  if (error && !groups) return <Failed error={error} onRetry={onRetry} />;
  if (!groups) return <SkeletonRows rows={8} label={t(words.loading)} />;
  if (groups.length === 0) {
    return (
      <Empty icon={Icon} title={q ? t(words.unknown) : t(words.none)}>
        <p>{q ? t(words.notFound, { q }) : t(words.unnamed)}</p>
      </Empty>
    );
  }
  return (
    <>
      <p className="library-count">{words.count(groups.length)}</p>
      {index.length > 1 && (
        <nav className="letters" aria-label={t('Jump to a letter')}>
          {index.map(({ letter }) => (
            <button
              key={letter}
              type="button"
              aria-current={letter === wanted ? 'true' : undefined}
              onClick={() => {
                letters?.onLetter(letter);
                const row = list.current?.querySelector<HTMLElement>(`[data-letter="${letter}"]`);
                row?.scrollIntoView({ block: 'start' });
                row?.querySelector('button')?.focus({ preventScroll: true });
              }}
            >
              {letter}
            </button>
          ))}
        </nav>
      )}
      <ul className="groups" ref={list}>
        {groups.map(({ key, name, facts }, row) => (
          <li key={key} data-letter={index.find((entry) => entry.row === row)?.letter}>
            <button type="button" onClick={() => onPick(key)}>
              <Icon size={16} aria-hidden />
              <span className="track-title" dir="auto">
                {name}
              </span>
              <span className="track-by">{facts}</span>
              <ChevronRight size={16} aria-hidden />
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

// The tracks of your library: tens of thousands if need be, only the visible ones drawn.
import { useVirtualizer } from '@tanstack/react-virtual';
import { Disc3 } from 'lucide-react';
import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type RefObject } from 'react';
import { useTracks, type TrackFilter } from '../api/queries';
import type { LibraryEntry, LibrarySort } from '../api/types';
import { t } from '../i18n';
import { Artwork, coverOf } from '../music/artwork';
import { nameOf } from '../music/ownership';
import { clock, count } from '../ui/format';
import { withCommand } from '../ui/keys';
import { Empty, Failed, SkeletonRows } from '../ui/states';
import { useSelection, type Selection } from './selection';
import { SelectionBar } from './selection-bar';

const ROW_PX = 62;

interface Props {
  q: string;
  sort: LibrarySort;
  filter: TrackFilter;
  /** The row to begin at. */
  at: number;
  page: RefObject<HTMLDivElement | null>;
  onOpen: (isrc: string) => void;
  onMoved: (row: number) => void;
}

export function TrackList({ q, sort, filter, at, page, onOpen, onMoved }: Props) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useTracks(q, sort, filter);
  const tracks = data?.pages.flatMap((loaded) => loaded.tracks) ?? [];
  const total = data?.pages[0]?.total ?? 0;
  const list = useRef<HTMLOListElement>(null);
  const selection = useSelection(tracks);
  const [top, setTop] = useState(0);
  useEffect(() => setTop(list.current?.offsetTop ?? 0), [total]);

  const rows = useVirtualizer({
    count: tracks.length,
    getScrollElement: () => page.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollMargin: top,
  });
  usePlace({ at, top, page, loaded: tracks.length, more: hasNextPage, fetchMore: fetchNextPage, onMoved });
  const visible = rows.getVirtualItems();
  const lastVisible = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && lastVisible >= tracks.length - 25) void fetchNextPage();
  }, [lastVisible, tracks.length, hasNextPage, isFetchingNextPage, fetchNextPage]);

  const selectAll = async () => {
    let loaded = { data, hasNextPage };
    while (loaded.hasNextPage) loaded = await fetchNextPage();
    selection.all(loaded.data?.pages.flatMap((part) => part.tracks) ?? []);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!withCommand(event.nativeEvent) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'a') return;
    event.preventDefault();
    void selectAll();
  };

  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={8} label={t('Loading tracks')} />;
  if (tracks.length === 0) {
    return (
      <Empty icon={Disc3} title={q ? t('Nothing by that name') : t('No tracks yet')}>
        <p>
          {q
            ? t('No title, artist or album contains “{q}”. “By meaning” also looks at what songs are about.', { q })
            : t('What you add or import appears here.')}
        </p>
      </Empty>
    );
  }
  return (
    <>
      <div className="library-head">
        <p className="library-count">{count(total, 'track')}</p>
        {selection.active ? (
          <button type="button" className="button small quiet" onClick={() => void selectAll()}>
            {t('Select all')}
          </button>
        ) : (
          <button type="button" className="button small quiet" onClick={selection.begin}>
            {t('Select')}
          </button>
        )}
      </div>
      <ol
        className="library-list"
        ref={list}
        style={{ height: rows.getTotalSize() }}
        data-selecting={selection.active}
        onKeyDown={onKeyDown}
      >
        {visible.map((row) => {
          const track = tracks[row.index];
          if (!track) return null;
          return (
            <li
              key={track.trackId}
              aria-setsize={total}
              aria-posinset={row.index + 1}
              style={{ height: ROW_PX, transform: `translateY(${row.start - top}px)` }}
            >
              <Row track={track} row={row.index} selection={selection} onOpen={onOpen} />
            </li>
          );
        })}
      </ol>
      {selection.active && <SelectionBar tracks={[...selection.selected.values()]} onClear={selection.clear} />}
    </>
  );
}

interface Place {
  at: number;
  top: number;
  page: RefObject<HTMLDivElement | null>;
  loaded: number;
  more: boolean;
  fetchMore: () => Promise<unknown>;
  onMoved: (row: number) => void;
}

/** Comes back to the row the address names, and keeps the address at the row one reads. */
function usePlace({ at, top, page, loaded, more, fetchMore, onMoved }: Place): void {
  const wanted = useRef(at);
  useEffect(() => {
    if (wanted.current === 0 || loaded === 0 || top === 0) return;
    if (loaded <= wanted.current && more) return void fetchMore();
    page.current?.scrollTo({ top: top + wanted.current * ROW_PX });
    wanted.current = 0;
  }, [loaded, more, top, page, fetchMore]);

  const moved = useRef(onMoved);
  moved.current = onMoved;
  useEffect(() => {
    const element = page.current;
    if (!element) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (wanted.current === 0) moved.current(Math.max(0, Math.round((element.scrollTop - top) / ROW_PX)));
      }, 250);
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      element.removeEventListener('scroll', onScroll);
    };
  }, [page, top]);
}

interface RowProps {
  track: LibraryEntry;
  row: number;
  selection: Selection;
  onOpen: (isrc: string) => void;
}

function Row({ track, row, selection, onOpen }: RowProps) {
  const selected = selection.selected.has(track.trackId);
  const onClick = (event: MouseEvent) => {
    // Once tracks are selected, a tap anywhere on a row selects it.
    if (selection.active || withCommand(event.nativeEvent) || event.shiftKey) selection.toggle(row, event.shiftKey);
    else onOpen(nameOf(track));
  };
  return (
    <>
      <label className="row-check" data-checked={selected}>
        <input
          type="checkbox"
          aria-label={t('Select {title}', { title: track.title })}
          checked={selected}
          onChange={(event) => selection.toggle(row, (event.nativeEvent as globalThis.MouseEvent).shiftKey)}
        />
      </label>
      <button type="button" className="library-row" data-selected={selected} onClick={onClick}>
        <Artwork seed={coverOf(track)} url={track.artworkUrl} />
        <span className="track-names">
          <span className="track-title" dir="auto">
            {track.title}
          </span>
          <span className="track-by" dir="auto">
            {track.artist}
          </span>
        </span>
        <span className="library-album" dir="auto">
          {track.album}
        </span>
        {!track.isIndexed && <span className="chip">{t('Being read')}</span>}
        {track.duration != null && <span className="track-length">{clock(track.duration)}</span>}
      </button>
    </>
  );
}

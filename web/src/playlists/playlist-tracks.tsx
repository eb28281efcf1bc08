// The tracks of a playlist, arranged by dragging or with Alt and the arrow keys.
import { ArrowDown, ArrowUp, GripVertical, ListX } from 'lucide-react';
import { useLayoutEffect, useRef, useState, type KeyboardEvent, type PointerEvent as ReactPointerEvent } from 'react';
import type { PlaylistDetails } from '../api/types';
import { t } from '../i18n';
import { distinct } from '../music/reasons';
import { TrackRow } from '../music/track-row';
import { drag, marks, placeAt, type Dragging } from '../ui/arrange';
import { usePlaylistEdits } from './use-playlist-edits';

export function PlaylistTracks({ playlist }: { playlist: PlaylistDetails }) {
  const { id, tracks } = playlist;
  const { move, remove } = usePlaylistEdits(id);
  const list = useRef<HTMLOListElement>(null);
  const [dragging, setDragging] = useState<Dragging | null>(null);
  const focused = useRef<string | null>(null);
  const reasons = distinct(tracks.map(({ reasoning }) => reasoning));

  // A row that moves loses the focus, and a row that is gone takes it along.
  useLayoutEffect(() => {
    if (focused.current === null) return;
    const row = list.current?.querySelector(`[data-item="${focused.current}"] .track-drag`) ?? list.current?.querySelector('.track-drag');
    (row as HTMLElement | null)?.focus();
    focused.current = null;
  });

  const step = (itemId: string, by: number) => {
    focused.current = itemId;
    move(itemId, tracks.findIndex((track) => track.itemId === itemId) + by, true);
  };
  const take = (itemId: string) => {
    const at = tracks.findIndex((track) => track.itemId === itemId);
    focused.current = (tracks[at + 1] ?? tracks[at - 1])?.itemId ?? null;
    remove(itemId);
  };
  const onKeyDown = (itemId: string) => (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    step(itemId, event.key === 'ArrowUp' ? -1 : 1);
  };
  const onPointerDown = (itemId: string) => (event: ReactPointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault();
    drag(itemId, placeAt(list.current, itemId), setDragging, (to) => move(itemId, to));
  };

  return (
    <ol className="track-box arranged" ref={list} data-dragging={dragging !== null}>
      {tracks.map((track, row) => (
        <TrackRow
          key={track.itemId}
          track={track}
          reason={reasons[row]}
          number={row + 1}
          place={{
            handle: (
              <button
                type="button"
                className="track-drag"
                aria-label={t('Move {title}', { title: track.title })}
                aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
                title={t('Drag, or press Alt + ↑ or ↓')}
                onPointerDown={onPointerDown(track.itemId)}
              >
                <GripVertical size={16} />
              </button>
            ),
            row: {
              'data-item': track.itemId,
              ...marks(
                dragging,
                tracks.map(({ itemId }) => itemId),
                row,
              ),
              onKeyDown: onKeyDown(track.itemId),
            },
            actions: [
              ...(row > 0 ? [{ label: t('Move up'), icon: ArrowUp, onSelect: () => step(track.itemId, -1) }] : []),
              ...(row < tracks.length - 1 ? [{ label: t('Move down'), icon: ArrowDown, onSelect: () => step(track.itemId, 1) }] : []),
              { label: t('Remove from playlist'), icon: ListX, onSelect: () => take(track.itemId) },
            ],
          }}
        />
      ))}
    </ol>
  );
}

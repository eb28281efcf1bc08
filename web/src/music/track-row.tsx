// One track in a list: cover, names, why it is here, one action, a menu, and the rest on demand.
import { ArrowUpRight, AudioLines, BookmarkCheck, ChevronDown, Ellipsis, ListCollapse, ListPlus, Plus, Trash2 } from 'lucide-react';
import { Suspense, memo, useId, useState, type HTMLAttributes, type ReactNode } from 'react';
import { useAsk } from '../chat/ask';
import type { IndexedTrackResult } from '../api/types';
import { msg, t } from '../i18n';
import { clock } from '../ui/format';
import { Menu, type MenuItem } from '../ui/menu';
import { lazyPage } from '../ui/lazy-page';
import { Artwork, coverOf } from './artwork';
import { strengthOf, whyLine } from './match';
import { tidalAddress } from './open-in';
import { nameOf, useOwnership } from './ownership';
import { TrackDetails } from './track-details';
import './track-row.css';

const { Component: AddToPlaylist } = lazyPage<{ tracks: IndexedTrackResult[]; onClose: () => void }>(
  () => import('../playlists/add-to-playlist'),
);

interface Props {
  track: IndexedTrackResult;
  reason?: string;
  number?: number;
  /** Its flags are from an earlier visit. */
  old?: boolean;
  /** Where the row is part of something that can be arranged. */
  place?: Place;
}

export interface Place {
  handle: ReactNode;
  row: HTMLAttributes<HTMLLIElement> & { 'data-item': string };
  actions: MenuItem[];
}

export const TrackRow = memo(function TrackRow({ track, reason, number, old, place }: Props) {
  const [open, setOpen] = useState(false);
  const [adding, setAdding] = useState(false);
  const detailsId = useId();
  const ownership = useOwnership(track, old);
  const why = reason ?? whyLine(track);
  return (
    <li className="track" data-open={open} {...place?.row}>
      <div className="track-line">
        {place?.handle}
        <button
          type="button"
          className="track-head"
          aria-expanded={open}
          aria-controls={open ? detailsId : undefined}
          onClick={() => setOpen(!open)}
        >
          {number !== undefined && <span className="track-number">{number}</span>}
          <Artwork seed={coverOf(track)} url={track.artworkUrl} />
          <span className="track-names">
            <span className="track-title" dir="auto">
              {track.title}
            </span>
            <span className="track-by" dir="auto">
              {track.artist}
              {track.album && <span className="track-album"> · {track.album}</span>}
            </span>
            {why && !open && (
              <span className="track-why" data-reason={reason !== undefined} dir="auto">
                {why}
              </span>
            )}
          </span>
          <TrackMarks inLibrary={ownership.owned} score={track.score} />
          {track.duration != null && <span className="track-length">{clock(track.duration)}</span>}
          <ChevronDown className="track-chevron" size={16} aria-hidden />
        </button>
        <TrackActions
          track={track}
          ownership={ownership}
          open={open}
          onDetails={() => setOpen(!open)}
          onPlaylist={() => setAdding(true)}
          actions={place?.actions ?? []}
        />
      </div>
      {adding && (
        <Suspense>
          <AddToPlaylist tracks={[track]} onClose={() => setAdding(false)} />
        </Suspense>
      )}
      {open && (
        <div id={detailsId} className="track-more rise">
          {reason && <p className="track-reason">{reason}</p>}
          <TrackDetails track={{ ...track, inLibrary: ownership.owned }} withAdd={false} />
        </div>
      )}
    </li>
  );
});

interface ActionProps {
  track: IndexedTrackResult;
  ownership: ReturnType<typeof useOwnership>;
  open: boolean;
  onDetails: () => void;
  onPlaylist: () => void;
  actions: MenuItem[];
}

function TrackActions({ track, ownership, open, onDetails, onPlaylist, actions }: ActionProps) {
  const ask = useAsk();
  const { title, artist } = track;
  const { owned, busy, add, remove } = ownership;
  const more = () => ask(artist ? t('More like “{title}” by {artist}', { title, artist }) : t('More like “{title}”', { title }));
  const known = nameOf(track) !== '';
  const atTidal = tidalAddress(track);
  return (
    <span className="track-actions">
      {owned || !known ? (
        <button
          type="button"
          className="icon-button small track-similar"
          aria-label={t('More like {title}', { title })}
          title={t('More like this')}
          onClick={more}
        >
          <AudioLines size={16} />
        </button>
      ) : (
        <button
          type="button"
          className="icon-button small track-add"
          aria-label={t('Add {title} to library', { title })}
          title={t('Add to library')}
          disabled={busy}
          onClick={() => void add()}
        >
          <Plus size={17} />
        </button>
      )}
      <Menu
        trigger={
          <button type="button" className="icon-button small" aria-label={t('More for {title}', { title })}>
            <Ellipsis size={16} />
          </button>
        }
        items={[
          { label: t('More like this'), icon: AudioLines, onSelect: more },
          { label: open ? t('Hide details') : t('Details'), icon: ListCollapse, onSelect: onDetails },
          { label: t('Add to playlist …'), icon: ListPlus, onSelect: onPlaylist },
          ...(atTidal
            ? [{ label: t('Open in Tidal'), icon: ArrowUpRight, onSelect: () => void window.open(atTidal, '_blank', 'noreferrer') }]
            : []),
          ...actions,
          ...(known && !owned ? [{ label: t('Add to library'), icon: Plus, onSelect: () => void add() }] : []),
          ...(known && owned ? [{ label: t('Remove from library'), icon: Trash2, danger: true, onSelect: () => void remove() }] : []),
        ]}
      />
    </span>
  );
}

const STRENGTHS = { strong: msg('Strong match'), good: msg('Good match'), weak: msg('Weak match') };

export function TrackMarks({ inLibrary, score }: { inLibrary: boolean; score?: number | null }) {
  const strength = score != null ? strengthOf(score) : null;
  if (!inLibrary && !strength) return null;
  return (
    <span className="track-marks">
      {inLibrary && (
        <span className="chip good">
          <BookmarkCheck size={11} aria-hidden /> {t('In library')}
        </span>
      )}
      {strength && (
        <span className="strength" data-strength={strength}>
          {t(STRENGTHS[strength])}
        </span>
      )}
    </span>
  );
}

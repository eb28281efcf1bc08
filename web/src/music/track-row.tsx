// One track in a list of results: cover, names, what it is to you, and the rest on demand.
import { BookmarkCheck, ChevronDown, Waves } from 'lucide-react';
import { memo, useId, useState } from 'react';
import type { IndexedTrackResult } from '../api/types';
import { clock } from '../ui/format';
import { Artwork, coverOf } from './artwork';
import { TrackDetails } from './track-details';
import './track-row.css';

export const TrackRow = memo(function TrackRow({ track, reason, number }: { track: IndexedTrackResult; reason?: string; number?: number }) {
  const [open, setOpen] = useState(false);
  const detailsId = useId();
  return (
    <li className="track" data-open={open}>
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
          <span className="track-title">{track.title}</span>
          <span className="track-by">
            {track.artist}
            {track.album && <span className="track-album"> · {track.album}</span>}
          </span>
        </span>
        <TrackMarks track={track} />
        {track.duration != null && <span className="track-length">{clock(track.duration)}</span>}
        <ChevronDown className="track-chevron" size={16} aria-hidden />
      </button>
      {reason && <p className="track-reason">{reason}</p>}
      {open && (
        <div id={detailsId} className="track-more rise">
          <TrackDetails track={track} />
        </div>
      )}
    </li>
  );
});

export function TrackMarks({ track }: { track: Pick<IndexedTrackResult, 'inLibrary' | 'isIndexed' | 'score'> }) {
  return (
    <span className="track-marks">
      {track.inLibrary && (
        <span className="chip good">
          <BookmarkCheck size={11} aria-hidden /> In library
        </span>
      )}
      {track.isIndexed && (
        <span className="chip info">
          <Waves size={11} aria-hidden /> Indexed
        </span>
      )}
      {track.score != null && <Score value={track.score} />}
    </span>
  );
}

function Score({ value }: { value: number }) {
  const percent = Math.round(value * 100);
  return (
    <span className="score" title="How well it matches">
      <span className="score-bar" aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
      <span className="visually-hidden">Match </span>
      {percent}%
    </span>
  );
}

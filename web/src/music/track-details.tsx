// Everything known about one track: why it came up, how it sounds, what it says.
import { ArrowUpRight, BookOpenText, MicVocal, Sparkles } from 'lucide-react';
import { useState } from 'react';
import { useTrack } from '../api/queries';
import type { IndexedTrackResult } from '../api/types';
import { t } from '../i18n';
import { SkeletonRows } from '../ui/states';
import { AddButton } from './add-button';
import { Features, featureWords } from './features';
import { tidalAddress } from './open-in';
import { nameOf } from './ownership';
import './track-details.css';

/** Lists tell little about a track; what is known beyond that is fetched when someone opens it. */
export function TrackDetails({ track: listed, withAdd = true }: { track: IndexedTrackResult; withAdd?: boolean }) {
  const known = listed.interpretation != null || listed.audioFeatures != null || nameOf(listed) === '';
  const { data: fetched, isPending } = useTrack(known ? null : nameOf(listed));
  // The listing wins: its flags were true when the agent saw them.
  const track = { ...fetched, ...listed };
  const atTidal = tidalAddress(track);
  return (
    <div className="track-details">
      {!known && isPending && <SkeletonRows rows={2} height={18} label={t('Loading the track')} />}
      {track.why && <Why why={track.why} />}
      {track.shortDescription && (
        <p className="track-blurb" dir="auto">
          {track.shortDescription}
        </p>
      )}
      {track.audioFeatures && <Features features={track.audioFeatures} />}
      <Texts track={track} />
      {track.tags && track.tags.length > 0 && (
        <p className="track-tags" aria-label={t('Tags')}>
          {track.tags.map((tag) => (
            <span key={tag} className="chip">
              {tag}
            </span>
          ))}
        </p>
      )}
      <p className="track-codes">
        <span>
          {track.releaseDate?.slice(0, 4)}
          {track.releaseDate && track.isrc && ' · '}
          {track.isrc && (
            <span title={t('The international code of this recording')}>{t('Recording code (ISRC) {isrc}', { isrc: track.isrc })}</span>
          )}
        </span>
        {atTidal && (
          <a className="button small" href={atTidal} target="_blank" rel="noreferrer">
            {t('Open in Tidal')} <ArrowUpRight size={13} aria-hidden />
          </a>
        )}
        {withAdd && !track.inLibrary && nameOf(track) !== '' && (
          <AddButton title={track.title} owned={false} what={{ isrc: nameOf(track) }} />
        )}
      </p>
    </div>
  );
}

function Why({ why }: { why: NonNullable<IndexedTrackResult['why']> }) {
  const hints = [
    ...[...(why.words ?? []), ...(why.tags ?? [])].map((word) => t('“{words}”', { words: word })),
    ...(why.features ?? []).map(featureWords),
    ...(why.limits ?? []),
  ];
  if (!why.lyric && !why.closeTo && hints.length === 0) return null;
  return (
    <div className="why">
      <p className="label">
        <Sparkles size={13} aria-hidden /> {t('Why it matched')}
      </p>
      {why.lyric && <blockquote dir="auto">{why.lyric}</blockquote>}
      {why.closeTo && <p dir="auto">{t('Close in meaning: “{words}”', { words: why.closeTo })}</p>}
      {hints.length > 0 && (
        <p>
          {[...new Set(hints)].map((hint) => (
            <span key={hint} className="chip accent">
              {hint}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

type Shown = 'lyrics' | 'interpretation' | null;

function Texts({ track }: { track: IndexedTrackResult }) {
  const [shown, setShown] = useState<Shown>(null);
  if (!track.lyrics && !track.interpretation) return null;
  const toggle = (what: Shown) => setShown(shown === what ? null : what);
  return (
    <div>
      <div className="track-texts">
        {track.interpretation && (
          <button
            type="button"
            className="button small"
            aria-expanded={shown === 'interpretation'}
            onClick={() => toggle('interpretation')}
          >
            <BookOpenText size={14} aria-hidden /> {t('Interpretation')}
          </button>
        )}
        {track.lyrics && (
          <button type="button" className="button small" aria-expanded={shown === 'lyrics'} onClick={() => toggle('lyrics')}>
            <MicVocal size={14} aria-hidden /> {t('Lyrics')}
          </button>
        )}
      </div>
      {shown === 'interpretation' && (
        <p className="interpretation rise" dir="auto">
          {track.interpretation}
        </p>
      )}
      {shown === 'lyrics' && (
        <p className="lyrics rise" dir="auto">
          {track.lyrics}
        </p>
      )}
    </div>
  );
}

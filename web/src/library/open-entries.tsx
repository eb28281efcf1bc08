// What imports left open: which recording was meant, and what no catalogue knows yet.
import { Download, RotateCw, X } from 'lucide-react';
import { useState } from 'react';
import { chooseRecording, forgetEntry, lookAgain, rememberEntry, useChanged, useOpenEntries } from '../api/queries';
import type { CandidateItem, OpenItem } from '../api/types';
import { Artwork, coverOf } from '../music/artwork';
import { clock, count } from '../ui/format';
import { ShortList } from '../ui/short-list';
import { toast, toastError } from '../ui/toast';

/** Some files hold only another service's id. */
const NAMELESS = 'Without a name';

export function OpenEntries() {
  const { data: entries } = useOpenEntries();
  if (!entries || entries.length === 0) return null;
  const toChoose = entries.filter(({ candidates }) => (candidates?.length ?? 0) > 0);
  const unknown = entries.filter(({ candidates }) => (candidates?.length ?? 0) === 0);
  const words = [
    toChoose.length > 0 && `${toChoose.length.toLocaleString('en')} to choose`,
    unknown.length > 0 && `${unknown.length.toLocaleString('en')} not found yet`,
  ];
  return (
    <details className="open-entries">
      <summary>From your imports: {words.filter(Boolean).join(', ')}</summary>
      {toChoose.length > 0 && (
        <>
          <h2>Which one is it?</h2>
          <ShortList items={toChoose} first={4} render={(entry) => <Question key={entry.id} entry={entry} />} />
        </>
      )}
      {unknown.length > 0 && (
        <>
          <h2>Not found yet</h2>
          <p className="open-note">They are kept and looked for again by themselves.</p>
          <ShortList items={unknown} first={6} render={(entry) => <Unknown key={entry.id} entry={entry} />} />
        </>
      )}
      <OpenActions />
    </details>
  );
}

function Question({ entry }: { entry: OpenItem }) {
  const [busy, setBusy] = useState(false);
  const changed = useChanged();
  const forget = useForget(entry);
  const settle = async (what: Promise<unknown>) => {
    setBusy(true);
    try {
      await what;
      changed('library');
      changed('playlists');
    } catch (error) {
      setBusy(false);
      toastError(error);
    }
  };
  return (
    <li className="question" aria-busy={busy}>
      <p className="question-head">
        <Wanted entry={entry} />
        <button type="button" className="button small quiet" disabled={busy} onClick={() => void settle(forget())}>
          None of these
        </button>
      </p>
      <ul>
        {entry.candidates?.map((candidate) => (
          <li key={candidate.isrc}>
            <button
              type="button"
              className="candidate-choice"
              disabled={busy}
              onClick={() =>
                void settle(chooseRecording(entry.id, candidate.isrc).then(() => toast(`Added “${candidate.title}” to your library`)))
              }
            >
              <Choice candidate={candidate} />
            </button>
          </li>
        ))}
      </ul>
    </li>
  );
}

function Choice({ candidate }: { candidate: CandidateItem }) {
  const { title, artist, album, duration, source, confidence } = candidate;
  return (
    <>
      <Artwork seed={coverOf({ artist, album: album ?? undefined, title })} size={36} />
      <span className="track-names">
        <span className="track-title" dir="auto">
          {title}
        </span>
        <span className="track-by" dir="auto">
          {[artist, album, duration != null && clock(duration), source].filter(Boolean).join(' · ')}
        </span>
      </span>
      <span className="score" title={candidate.reason}>
        <span className="visually-hidden">Fits </span>
        {Math.round(confidence * 100)}%
      </span>
    </>
  );
}

/** Forgets an entry, and says how to take that back. */
function useForget(entry: OpenItem): () => Promise<void> {
  const changed = useChanged();
  return async () => {
    await forgetEntry(entry.id);
    changed('library');
    toast(`Forgot “${entry.title || NAMELESS}”`, { undo: () => rememberEntry(entry.id).then(() => changed('library')) });
  };
}

function Unknown({ entry }: { entry: OpenItem }) {
  const forget = useForget(entry);
  return (
    <li className="unknown">
      <Wanted entry={entry} />
      <button
        type="button"
        className="icon-button small"
        aria-label={`Forget ${entry.title || NAMELESS}`}
        onClick={() => void forget().catch(toastError)}
      >
        <X size={15} />
      </button>
    </li>
  );
}

/** What the file said, and where. */
function Wanted({ entry: { title, artist, album, file, line, reason } }: { entry: OpenItem }) {
  return (
    <span className="wanted" dir="auto">
      <span>
        <strong>{title || NAMELESS}</strong> {[artist && `by ${artist}`, album && `on ${album}`].filter(Boolean).join(' ')}
      </span>
      <span className="open-note">{[reason, `${file}, line ${line}`].filter(Boolean).join(' · ')}</span>
    </span>
  );
}

function OpenActions() {
  const changed = useChanged();
  const again = async () => {
    try {
      const { entries } = await lookAgain();
      changed('library');
      toast(`Looking again for ${count(entries, 'entry', 'entries')}`);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <p className="open-actions">
      <button type="button" className="button small" onClick={() => void again()}>
        <RotateCw size={14} aria-hidden /> Look again
      </button>
      <a className="button small" href="/api/library/unmatched?format=csv" download="unmatched.csv">
        <Download size={14} aria-hidden /> As a table
      </a>
    </p>
  );
}

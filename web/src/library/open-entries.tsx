// What imports left open: which recording was meant, and what no catalogue knows yet.
import { Download, RotateCw, X } from 'lucide-react';
import { useState } from 'react';
import { chooseRecording, forgetEntry, lookAgain, rememberEntry, useChanged, useOpenEntries } from '../api/queries';
import type { CandidateItem, OpenItem } from '../api/types';
import { msg, plural, t } from '../i18n';
import { Artwork, coverOf } from '../music/artwork';
import { clock, percent } from '../ui/format';
import { ShortList } from '../ui/short-list';
import { toast, toastError } from '../ui/toast';

/** Some files hold only another service's id. */
const NAMELESS = msg('Without a name');

export function OpenEntries() {
  const { data: entries } = useOpenEntries();
  if (!entries || entries.length === 0) return null;
  const toChoose = entries.filter(({ candidates }) => (candidates?.length ?? 0) > 0);
  const unknown = entries.filter(({ candidates }) => (candidates?.length ?? 0) === 0);
  const words = [
    toChoose.length > 0 && plural(toChoose.length, '{n} to choose', '{n} to choose'),
    unknown.length > 0 && plural(unknown.length, '{n} not found yet', '{n} not found yet'),
  ];
  return (
    <details className="open-entries">
      <summary>{t('From your imports: {what}', { what: words.filter(Boolean).join(', ') })}</summary>
      {toChoose.length > 0 && (
        <>
          <h2>{t('Which one is it?')}</h2>
          <ShortList items={toChoose} first={4} render={(entry) => <Question key={entry.id} entry={entry} />} />
        </>
      )}
      {unknown.length > 0 && (
        <>
          <h2>{t('Not found yet')}</h2>
          <p className="open-note">{t('They are kept and looked for again by themselves.')}</p>
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
          {t('None of these')}
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
                void settle(
                  chooseRecording(entry.id, candidate.isrc).then(() =>
                    toast(t('Added “{title}” to your library', { title: candidate.title })),
                  ),
                )
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
        <span className="visually-hidden">{t('Fits')} </span>
        {percent(confidence)}
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
    toast(t('Forgot “{title}”', { title: entry.title || t(NAMELESS) }), {
      undo: () => rememberEntry(entry.id).then(() => changed('library')),
    });
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
        aria-label={t('Forget {title}', { title: entry.title || t(NAMELESS) })}
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
        <strong>{title || t(NAMELESS)}</strong>{' '}
        {[artist && t('by {artist}', { artist }), album && t('on {album}', { album })].filter(Boolean).join(' ')}
      </span>
      <span className="open-note">{[reason, `${file}, ${t('line {line}', { line: String(line) })}`].filter(Boolean).join(' · ')}</span>
    </span>
  );
}

function OpenActions() {
  const changed = useChanged();
  const again = async () => {
    try {
      const { entries } = await lookAgain();
      changed('library');
      toast(plural(entries, 'Looking again for {n} entry', 'Looking again for {n} entries'));
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <p className="open-actions">
      <button type="button" className="button small" onClick={() => void again()}>
        <RotateCw size={14} aria-hidden /> {t('Look again')}
      </button>
      <a className="button small" href="/api/library/unmatched?format=csv" download="unmatched.csv">
        <Download size={14} aria-hidden /> {t('As a table')}
      </a>
    </p>
  );
}

// What became of imported files: what matters first, each thing once, the rest folded.
import type { FileCounts, ImportAnswer, LineFailure } from '../api/types';
import { count } from '../ui/format';

export function ImportReport({ answer }: { answer: ImportAnswer }) {
  const { tracks, added, alreadyThere, ambiguous, unmatched, failures, files } = answer;
  const facts = [
    count(tracks, 'track'),
    `${added.toLocaleString('en')} new`,
    alreadyThere > 0 && `${alreadyThere.toLocaleString('en')} already there`,
    ambiguous.length > 0 && `${ambiguous.length.toLocaleString('en')} to choose`,
    unmatched.length > 0 && `${unmatched.length.toLocaleString('en')} not found yet`,
    failures.length > 0 && `${failures.length.toLocaleString('en')} unreadable`,
  ].filter(Boolean);
  return (
    <div className="import-report" role="status">
      <p>
        <strong>{facts.join(' · ')}</strong>
      </p>
      <Silent files={files} />
      {failures.length > 0 && <Unreadable failures={failures} />}
      <details>
        <summary>{files.length === 1 ? 'About this file' : `About ${count(files.length, 'file')}`}</summary>
        <ul className="plain-rows">
          {files.map((file, row) => (
            <File key={row} file={file} />
          ))}
        </ul>
      </details>
    </div>
  );
}

/** One sentence however many files and sources; the technical reasons are there for those who want them. */
function Silent({ files }: { files: FileCounts[] }) {
  const reasons = silentSources(files);
  if (reasons.size === 0) return null;
  const names = [...reasons.keys()];
  return (
    <details>
      <summary>
        {listed(names)} could not be asked. {names.length === 1 ? 'It is' : 'They are'} asked again later.
      </summary>
      <ul className="plain-rows">
        {byReason(reasons).map(([reason, who]) => (
          <li key={reason}>
            {listed(who)}: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Each source once, with the first reason it gave. */
export function silentSources(files: FileCounts[]): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const [who, why] of files.flatMap(({ silent }) => Object.entries(silent))) {
    if (!reasons.has(who)) reasons.set(who, why);
  }
  return reasons;
}

function byReason(reasons: Map<string, string>): [string, string[]][] {
  const grouped = new Map<string, string[]>();
  for (const [who, why] of reasons) grouped.set(why, [...(grouped.get(why) ?? []), who]);
  return [...grouped];
}

function listed(names: string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names);
}

function File({ file: { file, kind, read, leftOut } }: { file: FileCounts }) {
  const left = Object.entries(leftOut).map(([why, n]) => `${n.toLocaleString('en')} left out: ${why}`);
  return <li>{[`${file} (${kind}), ${count(read, 'entry', 'entries')}`, ...left].join('. ')}</li>;
}

function Unreadable({ failures }: { failures: LineFailure[] }) {
  return (
    <details>
      <summary>Unreadable ({failures.length.toLocaleString('en')})</summary>
      <ul className="plain-rows">
        {failures.map(({ file, line, reason }, row) => (
          <li key={row}>
            {file}
            {line > 0 && `, line ${line}`}: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}

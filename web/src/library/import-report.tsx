// What became of imported files: counts first, then what could not be used and who could not be asked.
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
      <ul className="plain-rows">
        {files.map((file, row) => (
          <File key={row} file={file} />
        ))}
      </ul>
      {failures.length > 0 && <Unreadable failures={failures} />}
    </div>
  );
}

function File({ file: { file, kind, read, leftOut, silent } }: { file: FileCounts }) {
  const left = Object.entries(leftOut).map(([why, n]) => `${n.toLocaleString('en')} left out: ${why}`);
  const asked = Object.entries(silent).map(([who, why]) => `${who} could not be asked: ${why}`);
  return <li>{[`${file} (${kind}), ${count(read, 'entry', 'entries')}`, ...left, ...asked].join('. ')}</li>;
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

// What became of imported files: what matters first, each thing once, the rest folded.
import type { FileCounts, ImportAnswer, LineFailure } from '../api/types';
import { localeNow, plural, t } from '../i18n';
import { count } from '../ui/format';

export function ImportReport({ answer }: { answer: ImportAnswer }) {
  const { tracks, added, alreadyThere, files } = answer;
  // The lists have at most a thousand entries each; the files have the counts.
  const ambiguous = Math.max(
    answer.ambiguous.length,
    files.reduce((sum, file) => sum + file.ambiguous, 0),
  );
  const unmatched = Math.max(
    answer.unmatched.length,
    files.reduce((sum, file) => sum + file.unmatched, 0),
  );
  const failures = distinctFailures(answer.failures);
  const facts = [
    count(tracks, 'track'),
    plural(added, '{n} new', '{n} new'),
    alreadyThere > 0 && plural(alreadyThere, '{n} already there', '{n} already there'),
    ambiguous > 0 && plural(ambiguous, '{n} to choose', '{n} to choose'),
    unmatched > 0 && plural(unmatched, '{n} not found yet', '{n} not found yet'),
    failures.length > 0 && plural(failures.length, '{n} unreadable', '{n} unreadable'),
  ].filter(Boolean);
  return (
    <div className="import-report" role="status">
      <p>
        <strong>{facts.join(' · ')}</strong>
      </p>
      <Silent files={files} />
      {failures.length > 0 && <Unreadable failures={failures} />}
      <details>
        <summary>{plural(files.length, 'About this file', 'About {n} files')}</summary>
        <ul className="plain-rows">
          {files.map((file, row) => (
            <File key={row} file={file} />
          ))}
        </ul>
      </details>
    </div>
  );
}

/** A file without a usable entry is told with the reason of its entry: that reason is enough. */
export function distinctFailures(failures: LineFailure[]): LineFailure[] {
  const repeats = (whole: LineFailure) => (one: LineFailure) =>
    one.file === whole.file && one.line > 0 && whole.reason.includes(one.reason);
  return failures.filter((failure) => failure.line > 0 || !failures.some(repeats(failure)));
}

/** One sentence however many files and sources; the technical reasons are there for those who want them. */
function Silent({ files }: { files: FileCounts[] }) {
  const reasons = silentSources(files);
  if (reasons.size === 0) return null;
  const names = [...reasons.keys()];
  return (
    <details>
      <summary>
        {plural(
          names.length,
          '{names} could not be asked. It is asked again later.',
          '{names} could not be asked. They are asked again later.',
          { names: listed(names) },
        )}
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
  return new Intl.ListFormat(localeNow(), { type: 'conjunction' }).format(names);
}

function File({ file: { file, kind, read, leftOut } }: { file: FileCounts }) {
  const left = Object.entries(leftOut).map(([why, n]) => plural(n, '{n} left out: {why}', '{n} left out: {why}', { why }));
  return <li>{[`${file} (${kind}), ${count(read, 'entry', 'entries')}`, ...left].join('. ')}</li>;
}

function Unreadable({ failures }: { failures: LineFailure[] }) {
  return (
    <details>
      <summary>{t('Unreadable ({n})', { n: failures.length })}</summary>
      <ul className="plain-rows">
        {failures.map(({ file, line, reason }, row) => (
          <li key={row}>
            {file}
            {line > 0 && `, ${t('line {line}', { line: String(line) })}`}: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}

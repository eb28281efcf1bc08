// Bringing a library in: drop a file, read what matched. Shown only where the server can import.
import { FileUp } from 'lucide-react';
import { useRef, useState, type DragEvent } from 'react';
import { importFile, useChanged } from '../api/queries';
import type { ImportReport } from '../api/types';
import { count } from '../ui/format';
import { Failed } from '../ui/states';

type State = { step: 'ready' } | { step: 'busy'; name: string } | { step: 'done'; name: string; report: ImportReport } | { step: 'failed'; error: unknown };

export function ImportZone() {
  const [state, setState] = useState<State>({ step: 'ready' });
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const changed = useChanged();

  const take = async (file: File | undefined) => {
    if (!file) return;
    setState({ step: 'busy', name: file.name });
    try {
      const report = await importFile(file);
      setState({ step: 'done', name: file.name, report });
      changed('library');
    } catch (error) {
      setState({ step: 'failed', error });
    }
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };

  return (
    <div
      className="import-zone"
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <FileUp size={20} aria-hidden />
      <p>
        {state.step === 'busy' ? (
          <span role="status">Reading {state.name}…</span>
        ) : (
          <>
            Drop a playlist or library export here, or{' '}
            <button type="button" className="link-button" onClick={() => input.current?.click()}>
              choose a file
            </button>
            .
          </>
        )}
      </p>
      <input ref={input} type="file" hidden onChange={(event) => void take(event.target.files?.[0])} />
      {state.step === 'failed' && <Failed error={state.error} />}
      {state.step === 'done' && <Report name={state.name} report={state.report} />}
    </div>
  );
}

function Report({ name, report }: { name: string; report: ImportReport }) {
  const { read, matched, added, ambiguous = [], unmatched = [] } = report;
  const facts = [
    read !== undefined && `${count(read, 'row')} read`,
    matched !== undefined && `${matched.toLocaleString('en')} matched`,
    added !== undefined && `${added.toLocaleString('en')} new`,
    ambiguous.length > 0 && `${ambiguous.length.toLocaleString('en')} unclear`,
    unmatched.length > 0 && `${unmatched.length.toLocaleString('en')} not found`,
  ].filter(Boolean);
  return (
    <div className="import-report" role="status">
      <strong>{name}</strong>
      <p>{facts.join(' · ')}</p>
      <Rows title="Unclear" rows={ambiguous} />
      <Rows title="Not found" rows={unmatched} />
    </div>
  );
}

function Rows({ title, rows }: { title: string; rows: NonNullable<ImportReport['unmatched']> }) {
  if (rows.length === 0) return null;
  return (
    <details>
      <summary>
        {title} ({rows.length})
      </summary>
      <ul>
        {rows.map((row, index) => (
          <li key={index}>
            {row.line !== undefined && <span className="line">{row.line}</span>}
            {row.title}
            {row.artist && ` · ${row.artist}`}
            {row.reason && <em> {row.reason}</em>}
          </li>
        ))}
      </ul>
    </details>
  );
}

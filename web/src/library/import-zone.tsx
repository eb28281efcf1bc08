// Bringing a library in: drop files anywhere on the page, read what became of them. Shown only where the server can import.
import { FileUp, LoaderCircle } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { importFiles, useChanged } from '../api/queries';
import type { ImportAnswer } from '../api/types';
import { count } from '../ui/format';
import { Failed } from '../ui/states';
import { ImportReport } from './import-report';

const KINDS = '.csv,.tsv,.txt,.json,.jsonl,.xml,.m3u,.m3u8,.xspf,.jspf,.zip,audio/*';

type State =
  { step: 'ready' } | { step: 'busy'; what: string } | { step: 'done'; answer: ImportAnswer } | { step: 'failed'; error: unknown };

export function ImportZone() {
  const [state, setState] = useState<State>({ step: 'ready' });
  const input = useRef<HTMLInputElement>(null);
  const changed = useChanged();

  const take = useCallback(
    async (files: File[]) => {
      if (files.length === 0) return;
      setState({ step: 'busy', what: files.length === 1 ? (files[0]?.name ?? '') : count(files.length, 'file') });
      try {
        setState({ step: 'done', answer: await importFiles(files) });
      } catch (error) {
        setState({ step: 'failed', error });
      }
      // A list in the file is a playlist here; and even a refused file may stand beside one that came in.
      changed('library');
      changed('playlists');
    },
    [changed],
  );
  const over = useDroppedFiles(take);

  return (
    <section className="import-zone" data-over={over} aria-label="Import">
      {state.step === 'busy' ? <LoaderCircle className="spin" size={20} aria-hidden /> : <FileUp size={20} aria-hidden />}
      <p role="status">
        {state.step === 'busy' ? (
          `Reading ${state.what}…`
        ) : (
          <>
            Drop exports, playlists or audio files here, or{' '}
            <button type="button" className="link-button" onClick={() => input.current?.click()}>
              choose files
            </button>
            .
          </>
        )}
      </p>
      <input ref={input} type="file" multiple accept={KINDS} hidden onChange={(event) => void take([...(event.target.files ?? [])])} />
      {state.step === 'failed' && <Failed error={state.error} />}
      {state.step === 'done' && <ImportReport answer={state.answer} />}
    </section>
  );
}

/** The whole page takes files: a browser that was not told would leave the page to show the file. */
function useDroppedFiles(take: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const onDragOver = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const onDrop = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(false);
      take([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener('dragover', onDragOver);
    window.addEventListener('dragleave', onDragLeave);
    window.addEventListener('drop', onDrop);
    return () => {
      window.removeEventListener('dragover', onDragOver);
      window.removeEventListener('dragleave', onDragLeave);
      window.removeEventListener('drop', onDrop);
    };
  }, [take]);
  return over;
}

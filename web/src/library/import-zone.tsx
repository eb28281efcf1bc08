// Bringing a library in: drop files or folders anywhere on the page, read what became of them. Shown only where the server can import.
import { FileUp, LoaderCircle } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { importFiles, useChanged } from '../api/queries';
import type { ImportAnswer } from '../api/types';
import { t } from '../i18n';
import { count } from '../ui/format';
import { Failed } from '../ui/states';
import { AskAbout } from './ask-about';
import { checkReadable, entriesOf, filesOf, inPortions, usableOf } from './dropped';
import { ImportReport } from './import-report';
import { mergeReports } from './merge-reports';
import { takeWaiting } from './waiting-files';

const KINDS = '.csv,.tsv,.txt,.json,.jsonl,.xml,.m3u,.m3u8,.xspf,.jspf,.zip,audio/*';

type State =
  { step: 'ready' } | { step: 'busy'; what: string } | { step: 'done'; answer: ImportAnswer } | { step: 'failed'; error: unknown };

export function ImportZone() {
  const [state, setState] = useState<State>({ step: 'ready' });
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const changed = useChanged();

  const take = useCallback(
    async (wanted: File[] | Promise<File[]>) => {
      try {
        const list = await wanted;
        if (list.length === 0) return;
        await checkReadable(list);
        setState({ step: 'done', answer: await sendAll(list, (what) => setState({ step: 'busy', what })) });
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
  useEffect(() => {
    const waiting = takeWaiting();
    if (waiting) void take(waiting);
  }, [take]);
  const onChosen = (input: HTMLInputElement) => {
    const chosen = [...(input.files ?? [])];
    void take(input === folder.current ? usableOf(chosen) : chosen);
    // Otherwise choosing the same file again would be no change and do nothing.
    input.value = '';
  };

  return (
    <section className="import-zone" data-over={over} aria-label={t('Import')}>
      {state.step === 'busy' ? <LoaderCircle className="spin" size={20} aria-hidden /> : <FileUp size={20} aria-hidden />}
      <p role="status" className={state.step === 'busy' ? undefined : 'import-hint'}>
        {state.step === 'busy'
          ? t('Reading {what}…', { what: state.what })
          : t('Drop exports, playlists, audio files or whole folders here.')}
      </p>
      <span className="import-choose">
        <button type="button" className="button small" disabled={state.step === 'busy'} onClick={() => files.current?.click()}>
          {t('Choose files')}
        </button>
        <button type="button" className="button small" disabled={state.step === 'busy'} onClick={() => folder.current?.click()}>
          {t('Choose a folder')}
        </button>
      </span>
      <input ref={files} type="file" multiple accept={KINDS} hidden onChange={(event) => onChosen(event.target)} />
      <input ref={folder} type="file" {...{ webkitdirectory: '' }} hidden onChange={(event) => onChosen(event.target)} />
      {state.step === 'failed' && <Failed error={state.error} />}
      {state.step === 'done' && <ImportReport answer={state.answer} />}
      {state.step === 'done' && state.answer.added > 0 && <AskAbout />}
    </section>
  );
}

async function sendAll(files: File[], tell: (what: string) => void): Promise<ImportAnswer> {
  const answers: ImportAnswer[] = [];
  let sent = 0;
  for (const portion of inPortions(files)) {
    const all = files.length === 1 ? (files[0]?.name ?? '') : count(files.length, 'file');
    tell(sent === 0 ? all : t('{files}, {n} done', { files: all, n: sent }));
    answers.push(await importFiles(portion));
    sent += portion.length;
  }
  return mergeReports(answers);
}

/** The whole page takes files: a browser that was not told would leave the page to show the file. */
function useDroppedFiles(take: (files: Promise<File[]>) => void): boolean {
  const [over, setOver] = useState(false);
  // Before the zone is painted: a file that is dropped as soon as it can be seen is not lost.
  useLayoutEffect(() => {
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const onDragOver = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer || !carriesFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const entries = entriesOf(event.dataTransfer);
      take(entries.length > 0 ? filesOf(entries) : Promise.resolve([...event.dataTransfer.files]));
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

// An empty library: two ways to begin.
import { FileUp, FolderOpen, ListMusic, Telescope } from 'lucide-react';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { post } from '../api/client';
import { useChanged } from '../api/queries';
import { t } from '../i18n';
import { usableOf } from '../library/dropped';
import { leaveForImport } from '../library/waiting-files';
import { toastError } from '../ui/toast';
import './first-day.css';

export default function FirstDay({ mode }: { mode: string }) {
  return (
    <div className="first-day">
      <BringMusic />
      <section>
        <h2>
          <Telescope size={18} aria-hidden /> {t('Look around with the sample')}
        </h2>
        {mode === 'local' ? (
          <>
            <p>{t('A made-up collection of 300 tracks to try everything on. You can remove it at any time.')}</p>
            <div className="first-day-actions">
              <LoadSample />
            </div>
          </>
        ) : (
          <p>{t('A made-up collection to try everything on. The person who runs this Segue can load it for you.')}</p>
        )}
      </section>
    </div>
  );
}

function LoadSample() {
  const [busy, setBusy] = useState(false);
  const changed = useChanged();
  const load = async () => {
    setBusy(true);
    try {
      await post('/api/library/sample', {});
      changed('library');
    } catch (error) {
      setBusy(false);
      toastError(error);
    }
  };
  return (
    <button type="button" className="button" aria-disabled={busy} onClick={() => !busy && void load()}>
      {busy ? t('Loading…') : t('Load the sample')}
    </button>
  );
}

function BringMusic() {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const [pasting, setPasting] = useState(false);
  const [, navigate] = useLocation();
  const bring = (chosen: Promise<File[]>) => {
    leaveForImport(chosen);
    navigate('/library');
  };
  return (
    <section>
      <h2>
        <FileUp size={18} aria-hidden /> {t('Bring your music')}
      </h2>
      <p>{t('Playlists, exports of another service, or your audio files. Drop them anywhere on this page, or choose:')}</p>
      <div className="first-day-actions">
        <button type="button" className="button primary" onClick={() => files.current?.click()}>
          <FileUp size={16} aria-hidden /> {t('Files')}
        </button>
        <button type="button" className="button" onClick={() => folder.current?.click()}>
          <FolderOpen size={16} aria-hidden /> {t('A folder')}
        </button>
        <button type="button" className="button" aria-expanded={pasting} onClick={() => setPasting(!pasting)}>
          <ListMusic size={16} aria-hidden /> {t('Paste a list')}
        </button>
      </div>
      <input ref={files} type="file" multiple hidden onChange={(event) => bring(Promise.resolve([...(event.target.files ?? [])]))} />
      <input
        ref={folder}
        type="file"
        {...{ webkitdirectory: '' }}
        hidden
        onChange={(event) => bring(usableOf([...(event.target.files ?? [])]))}
      />
      {pasting && <PastedList onDone={(text) => bring(Promise.resolve([new File([text], 'pasted list.txt', { type: 'text/plain' })]))} />}
    </section>
  );
}

function PastedList({ onDone }: { onDone: (text: string) => void }) {
  const [text, setText] = useState('');
  return (
    <form
      className="first-day-paste"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(text);
      }}
    >
      <textarea
        className="field"
        rows={5}
        dir="auto"
        autoFocus
        aria-label={t('Songs, one a line')}
        placeholder={t('Artist - Title\nArtist - Title')}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button primary small" disabled={text.trim() === ''}>
        {t('Import')}
      </button>
    </form>
  );
}

// Folders of the server that the library is kept in step with: when each was scanned, and how far the comparison of sounds is.
import { useQueryClient } from '@tanstack/react-query';
import { FolderSync, LoaderCircle, RotateCw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useChanged } from '../api/queries';
import { scanFolder, useFolders, waitingIn } from '../api/sound-queries';
import type { ScanReport, Source } from '../api/types';
import { plural, t } from '../i18n';
import { count, fullMoment, moment } from '../ui/format';
import { toast, toastError } from '../ui/toast';
import './folders.css';

export function Folders() {
  const { data: folders = [] } = useFolders();
  const queries = useQueryClient();
  const waiting = waitingIn(folders);
  useEffect(() => {
    // Files that sound the same become one track.
    for (const kind of ['tracks', 'merges']) void queries.invalidateQueries({ queryKey: ['library', kind] });
  }, [queries, waiting]);
  if (folders.length === 0) return null;
  return (
    <ul className="folders" aria-label={t('Folders')}>
      {folders.map((folder) => (
        <Folder key={folder.id} folder={folder} />
      ))}
    </ul>
  );
}

function Folder({ folder }: { folder: Source }) {
  const { path, sound, syncedAt } = folder;
  // The document says that it is any object.
  const report = folder.report as ScanReport | undefined;
  const n = Math.max(report?.files ?? 0, sound?.waiting ?? 0);
  const waiting = sound?.waiting ?? 0;
  return (
    <li className="folder">
      <FolderSync size={18} aria-hidden />
      <div className="folder-facts">
        <p className="folder-path" dir="auto">
          {path}
        </p>
        <p title={syncedAt ? fullMoment(syncedAt) : undefined}>
          {syncedAt
            ? [count(report?.files ?? 0, 'file'), t('scanned {when}', { when: moment(syncedAt) })].join(' · ')
            : t('It is scanned within a minute.')}
        </p>
        {waiting > 0 && (
          <p className="folder-progress">
            {plural(n, 'Comparing sounds: {done} of {n} file', 'Comparing sounds: {done} of {n} files', { done: n - waiting })}
            <progress max={n} value={n - waiting} aria-label={t('Comparing sounds')} />
          </p>
        )}
        <Problems problems={{ ...report?.unreadable, ...sound?.undecodable }} />
      </div>
      <Scan folder={folder} />
    </li>
  );
}

function Problems({ problems }: { problems: Record<string, string> }) {
  const all = Object.entries(problems);
  if (all.length === 0) return null;
  return (
    <details>
      <summary>{t('Unreadable ({n})', { n: all.length })}</summary>
      <ul className="plain-rows">
        {all.map(([path, why]) => (
          <li key={path}>
            {path}: {why}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Scan({ folder: { id, path } }: { folder: Source }) {
  const [busy, setBusy] = useState(false);
  const changed = useChanged();
  const scan = async () => {
    setBusy(true);
    try {
      toast(summary(await scanFolder(id)));
      changed('library');
      changed('playlists');
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
  };
  return (
    <button
      type="button"
      className="button small"
      aria-label={t('Scan now: {path}', { path })}
      aria-disabled={busy}
      onClick={() => !busy && void scan()}
    >
      {busy ? <LoaderCircle className="spin" size={14} aria-hidden /> : <RotateCw size={14} aria-hidden />} {t('Scan now')}
    </button>
  );
}

function summary({ added, changed, moved, gone }: ScanReport): string {
  const facts = [
    added > 0 && plural(added, '{n} new', '{n} new'),
    changed > 0 && plural(changed, '{n} changed', '{n} changed'),
    moved > 0 && plural(moved, '{n} moved', '{n} moved'),
    gone > 0 && plural(gone, '{n} gone', '{n} gone'),
  ].filter(Boolean);
  return facts.length > 0 ? facts.join(' · ') : t('Nothing has changed in the folder');
}

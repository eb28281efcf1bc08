// A playlist as a file, and whether a player can do anything with it.
import { Download } from 'lucide-react';
import type { PlaylistDetails, PlaylistFormat } from '../api/types';
import { msg, plural, t } from '../i18n';
import { Menu } from '../ui/menu';

const FORMATS: { format: PlaylistFormat; label: string }[] = [
  { format: 'm3u8', label: msg('M3U8, for players') },
  { format: 'xspf', label: msg('XSPF, open format') },
  { format: 'jspf', label: msg('JSPF, for ListenBrainz') },
  { format: 'csv', label: msg('CSV, for spreadsheets') },
];

/** What a player finds in the file. */
export function playable(tracks: { hasFile: boolean }[]): string {
  const n = tracks.filter(({ hasFile }) => hasFile).length;
  if (n === 0) return t('No track here has a file, so a player finds nothing to play in it.');
  if (n === tracks.length) return t('A player on this server opens every track.');
  return plural(
    n,
    '{n} of {all} tracks has a file that a player on this server opens.',
    '{n} of {all} tracks have a file that a player on this server opens.',
    { all: tracks.length },
  );
}

export function ExportMenu({ playlist }: { playlist: PlaylistDetails }) {
  const download = (format: PlaylistFormat) => {
    const link = document.createElement('a');
    link.href = `/api/playlists/${playlist.id}?format=${format}`;
    link.download = `${playlist.title}.${format}`;
    link.click();
  };
  return (
    <Menu
      align="start"
      note={playable(playlist.tracks)}
      trigger={
        <button type="button" className="button">
          <Download size={16} aria-hidden /> {t('Export')}
        </button>
      }
      items={FORMATS.map(({ format, label }) => ({ label: t(label), icon: Download, onSelect: () => download(format) }))}
    />
  );
}

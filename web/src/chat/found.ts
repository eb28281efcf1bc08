// What an answer found: the tracks and tasks of its calls, and what to ask next.
import type { IndexedTrackResult, Task } from '../api/types';
import { t } from '../i18n';
import { cardFor } from '../tools';
import type { ChatMessage, ToolCall } from './reduce';

type Found = IndexedTrackResult & { reasoning?: string };

export function callsOf(message: ChatMessage): ToolCall[] {
  return message.parts.flatMap((part) => (part.kind === 'tool' ? [part.call] : []));
}

/** The last call with something to show stands open in the answer; the ones before it led there. */
export function shownCall(message: ChatMessage): string | null {
  return callsOf(message).findLast((call) => !cardFor(call).staysClosed && call.output !== undefined)?.id ?? null;
}

export function tracksOf(call: ToolCall): Found[] {
  const tracks = call.output?.['tracks'];
  return Array.isArray(tracks) ? (tracks as Found[]).filter((track) => typeof track?.title === 'string') : [];
}

/** The tasks of a list, or the one that was changed. */
export function tasksOf(call: ToolCall): Task[] {
  return (call.output && cardFor(call).tasks?.(call.output)) ?? [];
}

/** The search that the answer ends with, if it found nothing and nothing before it did. */
export function emptySearch(message: ChatMessage): ToolCall | null {
  const last = callsOf(message).at(-1);
  const isEmpty = last?.name === 'semanticSearch' && last.status === 'done' && !last.output;
  return isEmpty && shownCall(message) === null ? last : null;
}

/** Things worth asking next, made from what was found. */
export function followUps(message: ChatMessage): string[] {
  const call = callsOf(message).findLast(({ id }) => id === shownCall(message));
  if (!call) return [];
  const tracks = tracksOf(call);
  if (tracks.length > 0) return aboutTracks(call.name, tracks);
  if (call.name === 'edit_playlist') return [t('What is on it?')];
  return cardFor(call).tasks ? aboutTasks(call) : [];
}

function aboutTracks(tool: string, tracks: Found[]): string[] {
  const [first, second] = tracks;
  if (!first) return [];
  const other = second && second.artist !== first.artist ? second.artist : tool === 'batchMetadata' ? first.artist : null;
  return [
    t('More like “{title}”', { title: first.title }),
    // A look-up has just told.
    tool !== 'batchMetadata' && t('Tell me about “{title}”', { title: first.title }),
    tool !== 'suggestPlaylist' && tracks.length > 2 && t('Make a playlist of these'),
    // Files may not name their artist.
    other && t('Songs by {artist}', { artist: other }),
  ]
    .filter((text) => typeof text === 'string')
    .filter((text) => text !== '');
}

function aboutTasks(call: ToolCall): string[] {
  const open = tasksOf(call).filter((task) => !task.completed);
  return [
    ...open.slice(0, 2).map((task) => t('I have finished “{title}”', { title: task.title })),
    ...(call.name === 'list_tasks' ? [] : [t('What is still open?')]),
  ];
}

// Names that an answer's text may mention: what each can mean, and which meaning the words beside it leave.
import type { AlbumResult, DeleteTaskOutput } from '../api/types';
import { nameOf } from '../music/ownership';
import { callsOf, tasksOf, tracksOf } from './found';
import { albumHref, artistHref, namedAlbumHref, taskHref, trackHref } from './mentions';
import type { ChatMessage, ToolCall } from './reduce';

type Kind = 'track' | 'artist' | 'album' | 'task';

export interface Meaning {
  kind: Kind;
  href: string;
  /** The artist of a track or an album. */
  by?: string;
  /** An album that was not found itself; a track that was found is on it. */
  aside?: boolean;
}

export type Names = ReadonlyMap<string, readonly Meaning[]>;

/** Tracks, albums and tasks of all calls, and artists that are in the library. */
export function namesIn(messages: ChatMessage[]): Names {
  const calls = messages.flatMap(callsOf);
  const deleted = new Set(calls.filter(({ name }) => name === 'delete_task').map(deletedTask));
  const names = new Map<string, Meaning[]>();
  const add = (name: string, meaning: Meaning) => {
    const known = names.get(name) ?? [];
    if (name && !known.some(({ href }) => href === meaning.href)) names.set(name, [...known, meaning]);
  };
  for (const call of calls) {
    addTracks(call, add);
    addAlbums(call, add);
    for (const { id, title } of tasksOf(call)) if (!deleted.has(id)) add(title, { kind: 'task', href: taskHref(id) });
  }
  return names;
}

type Add = (name: string, meaning: Meaning) => void;

function addTracks(call: ToolCall, add: Add): void {
  for (const track of tracksOf(call)) {
    const { title, artist, album, inLibrary } = track;
    const name = nameOf(track);
    if (name) add(title, { kind: 'track', href: trackHref(name), by: artist });
    // Of others there would be nothing to see.
    if (inLibrary && artist) add(artist, { kind: 'artist', href: artistHref(artist) });
    if (inLibrary && album) add(album, { kind: 'album', href: namedAlbumHref(album, artist), by: artist, aside: true });
  }
}

function addAlbums({ name, output }: ToolCall, add: Add): void {
  const found = name === 'tidalSearch' ? output?.['albums'] : null;
  for (const { id, title, artist } of Array.isArray(found) ? (found as AlbumResult[]) : []) {
    add(title, { kind: 'album', href: albumHref(id), by: artist });
  }
  const { albumId, albumTitle, artist } = (name === 'albumTracks' && output) || {};
  if (typeof albumId === 'string' && typeof albumTitle === 'string') {
    add(albumTitle, { kind: 'album', href: albumHref(albumId), by: String(artist ?? '') });
  }
}

const deletedTask = ({ output }: ToolCall) => (output as unknown as DeleteTaskOutput | undefined)?.task_id;

const endsWith = (words: string) => new RegExp(`(?<!\\p{L})(?:${words}):?\\s+$`, 'iu');
/** The word before a name says what it is, in each language of the page. */
const SAYS: readonly (readonly [RegExp, Kind])[] = [
  [endsWith('by|von|par'), 'artist'],
  [endsWith('albums?|alben|álbum(?:es)?'), 'album'],
  [endsWith('songs?|tracks?|lied|titel|chanson|titre|canción|tema'), 'track'],
  [endsWith('tasks?|aufgaben?|tâches?|tareas?'), 'task'],
];
const ON_ALBUM = endsWith('from|on|aus|auf|sur');
const OPENING = /[“"‘'«„]\s*$/;
const CLOSING = /^\s*[”"’'»“]/;
const CREDIT = /^\s*(?:by|von|par|de)\s+/iu;
const DASH = /^\s*[—–-]\s+/;

/** The only meaning that the words before and after a name leave. Without one the name is no link: none is better than a wrong one. */
export function meaningOf(meanings: readonly Meaning[], before: string, after: string): Meaning | null {
  const [lead, rest] = [before.replace(OPENING, ''), after.replace(CLOSING, '')];
  const said = SAYS.find(([words]) => words.test(lead))?.[1];
  let left = meanings.filter(({ kind }) => said === undefined || kind === said);
  if (CREDIT.test(rest)) left = left.filter((meaning) => isCredited(meaning, rest.replace(CREDIT, '')));
  if (DASH.test(rest)) left = preferred(left, ({ by }) => !!by && rest.replace(DASH, '').startsWith(by));
  // “Title by Artist (Album, 2019)”.
  if (ON_ALBUM.test(lead) || (lead.endsWith('(') && /^, \d/.test(rest))) left = preferred(left, ({ kind }) => kind === 'album');
  left = preferred(left, ({ aside }) => !aside);
  const [first, ...others] = left;
  return first && others.every((other) => isVersion(first, other)) ? first : null;
}

/** Two releases of one track: either will do. Two tasks of one name are two things. */
const isVersion = (a: Meaning, b: Meaning) => a.kind === b.kind && !!a.by && a.by === b.by;

/** “Home by Another Band” is not the “Home” that was found. */
function isCredited({ kind, by }: Meaning, to: string): boolean {
  const [first = ''] = to.toLowerCase().split(/[\s,.;:!?()]/);
  if (kind === 'artist') return false;
  return !by || first === '' || by.toLowerCase().split(/\s+/).includes(first);
}

function preferred(meanings: readonly Meaning[], test: (meaning: Meaning) => boolean): Meaning[] {
  const some = meanings.filter(test);
  return some.length > 0 ? some : [...meanings];
}

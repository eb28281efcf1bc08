// The server's types, as generated from its OpenAPI document, and the few words the page narrows them by.
import type { TidalSearchOutput } from './schema';

export type * from './schema';

export type AgentId = 'discover' | 'tasks';

/** The document says `string`: an agent this page was not built for is talked to like Discover. */
export const agentOf = (agent: string): AgentId => (agent === 'tasks' ? 'tasks' : 'discover');

export type AlbumResult = NonNullable<TidalSearchOutput['albums']>[number];
export type PlaylistFormat = 'm3u8' | 'xspf' | 'jspf' | 'csv';

/** Counts first, then what needs a person's eye. Fields a server does not know yet are simply absent. */
export interface ImportReport {
  read?: number;
  matched?: number;
  added?: number;
  ambiguous?: { line?: number; title: string; artist?: string; reason?: string }[];
  unmatched?: { line?: number; title: string; artist?: string; reason?: string }[];
}

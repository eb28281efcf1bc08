// The server's types, as generated from its OpenAPI document, and the few words the page narrows them by.
import type { TidalSearchOutput } from './schema';

export type * from './schema';

export type AgentId = 'discover' | 'tasks';

/** The document says `string`: an agent this page was not built for is talked to like Discover. */
export const agentOf = (agent: string): AgentId => (agent === 'tasks' ? 'tasks' : 'discover');

export type AlbumResult = NonNullable<TidalSearchOutput['albums']>[number];
export type PlaylistFormat = 'm3u8' | 'xspf' | 'jspf' | 'csv';

// The server's types, generated from its OpenAPI document, and the narrower types that the page uses.
import type { TidalSearchOutput } from './schema';

export type * from './schema';

export type AgentId = 'discover' | 'tasks';

/** The document says `string`. An agent that this page does not know is treated like Discover. */
export const agentOf = (agent: string): AgentId => (agent === 'tasks' ? 'tasks' : 'discover');

export type AlbumResult = NonNullable<TidalSearchOutput['albums']>[number];
export type PlaylistFormat = 'm3u8' | 'xspf' | 'jspf' | 'csv';

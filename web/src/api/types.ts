// The server's types, generated from its OpenAPI document, and the narrower types that the page uses.

export type * from './schema';

/** The `id` of an agent of `/api/about`. */
export type AgentId = string;

export type PlaylistFormat = 'm3u8' | 'xspf' | 'jspf' | 'csv';

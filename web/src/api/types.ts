// The server's types, as generated from its OpenAPI document, and the few words the page narrows them by.
import type { IndexStatus, TidalSearchOutput } from './schema';

export type * from './schema';

export type AgentId = 'discover' | 'tasks';

/** The document says `string`: an agent this page was not built for is talked to like Discover. */
export const agentOf = (agent: string): AgentId => (agent === 'tasks' ? 'tasks' : 'discover');

export type AlbumResult = NonNullable<TidalSearchOutput['albums']>[number];
export type PlaylistFormat = 'm3u8' | 'xspf' | 'jspf' | 'csv';

// ---- importing and ingestion: said here until the document says it; then these lines go and the generated ones serve --------

export interface CandidateItem {
  isrc: string;
  title: string;
  artist: string;
  album?: string | null;
  duration?: number | null;
  source: string;
  confidence: number;
  reason: string;
}

export interface OpenItem {
  id: string;
  file: string;
  line: number;
  title: string;
  artist: string;
  album?: string | null;
  duration?: number | null;
  /** `ambiguous` or `unmatched`. */
  outcome: string;
  reason: string;
  candidates?: CandidateItem[];
}

export interface OpenList {
  entries: OpenItem[];
}

export interface LineFailure {
  file: string;
  line: number;
  reason: string;
}

export interface FileCounts {
  file: string;
  kind: string;
  read: number;
  tracks: number;
  matched: number;
  ambiguous: number;
  unmatched: number;
  unusable: number;
  leftOut: Record<string, number>;
  silent: Record<string, string>;
}

export interface ImportAnswer {
  read: number;
  tracks: number;
  matched: number;
  added: number;
  alreadyThere: number;
  ambiguous: OpenItem[];
  unmatched: OpenItem[];
  failures: LineFailure[];
  files: FileCounts[];
}

export interface Retried {
  entries: number;
}

export interface StepProgress {
  done: number;
  waiting: number;
  running: number;
  failed: number;
  off: number;
}

export interface StepFailure {
  isrc: string;
  title: string;
  artist: string;
  step: string;
  reason: string;
  at: string;
}

export interface IngestStatus extends IndexStatus {
  failed?: number;
  failures?: StepFailure[];
  lookingFor?: number;
  steps?: Partial<Record<'lyrics' | 'features' | 'describe' | 'index', StepProgress>>;
}

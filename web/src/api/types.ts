// What the server sends and takes, word for word as the contract has it.

export type AgentId = 'discover' | 'tasks';
export type AuthMode = 'local' | 'accounts' | 'jwt';

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

// ---- the chat stream -------------------------------------------------------------------------------------------

export type StopReason = 'complete' | 'stopped' | 'max_steps';

export interface TurnError {
  code: string;
  message: string;
  retryable: boolean;
}

export type Frame = { seq: number } & (
  | { type: 'message_start'; messageId: string; conversationId: string; turnId: string }
  | { type: 'text_delta'; content: string }
  | { type: 'tool_call_start'; toolCallId: string; toolName: string; input: unknown }
  | {
      type: 'tool_call_end';
      toolCallId: string;
      summary: string;
      resultCount: number;
      durationMs: number;
      output?: unknown;
    }
  | {
      type: 'tool_call_error';
      toolCallId: string;
      error: string;
      retryable: boolean;
      wasRetried: boolean;
      durationMs: number;
    }
  | { type: 'message_end'; usage: Usage; stopReason: StopReason }
  | ({ type: 'error' } & TurnError)
);

// ---- conversations ---------------------------------------------------------------------------------------------

export interface ConversationSummary {
  id: string;
  agent: AgentId;
  title: string;
  preview: string;
  createdAt: string;
  updatedAt: string;
}

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; tool_use_id: string; content: unknown; is_error?: boolean };

export type MessageStatus = 'running' | 'error' | StopReason;

export interface StoredMessage {
  id: string;
  role: 'user' | 'assistant';
  content: ContentBlock[];
  status: MessageStatus;
  createdAt: string;
  turnId?: string;
  usage?: Usage;
  error?: TurnError;
}

export interface Conversation extends ConversationSummary {
  messages: StoredMessage[];
}

// ---- music -----------------------------------------------------------------------------------------------------

export interface AudioFeatures {
  acousticness?: number;
  danceability?: number;
  energy?: number;
  instrumentalness?: number;
  key?: number;
  liveness?: number;
  loudness?: number;
  mode?: number;
  speechiness?: number;
  tempo?: number;
  valence?: number;
}

export interface WhyMatched {
  lyric?: string;
  words?: string[];
  features?: string[];
}

export interface TrackResult {
  /** Empty where the catalogue does not tell. */
  isrc: string;
  title: string;
  artist: string;
  album: string;
  artworkUrl?: string;
  duration?: number;
  inLibrary: boolean;
  isIndexed: boolean;
  score?: number;
  tidalId?: string;
}

export interface IndexedTrackResult extends TrackResult {
  shortDescription?: string;
  lyrics?: string;
  interpretation?: string;
  tags?: string[];
  releaseDate?: string;
  audioFeatures?: AudioFeatures;
  why?: WhyMatched;
}

export interface AlbumResult {
  id: string;
  title: string;
  artist: string;
  artworkUrl?: string;
  releaseDate?: string;
  trackCount: number;
  inLibrary: boolean;
}

interface ToolOutput {
  summary: string;
  durationMs: number;
}

export interface SemanticSearchOutput extends ToolOutput {
  tracks: IndexedTrackResult[];
  query: string;
  totalFound: number;
}

export interface TidalSearchOutput extends ToolOutput {
  tracks?: TrackResult[];
  albums?: AlbumResult[];
  query: string;
  totalFound: { tracks: number; albums: number };
}

export interface AlbumTracksOutput extends ToolOutput {
  albumId: string;
  albumTitle: string;
  artist: string;
  tracks: TrackResult[];
}

export interface BatchMetadataOutput extends ToolOutput {
  tracks: IndexedTrackResult[];
  found: string[];
  notFound: string[];
  invalid: { isrc: string; reason: string }[];
}

export type PlaylistTrack = TrackResult & { reasoning: string };

export interface SuggestPlaylistOutput extends ToolOutput {
  id: string;
  title: string;
  createdAt: string;
  tracks: PlaylistTrack[];
  unknown: string[];
}

export type LibraryTrack = TrackResult & { addedAt: string };
export type LibraryAlbum = AlbumResult & { addedAt: string };
export type TrackSort = 'added' | 'title' | 'artist' | 'album';

export interface TrackPage {
  tracks: LibraryTrack[];
  next?: number;
  total: number;
}

export interface AlbumDetails extends AlbumResult {
  tracks: TrackResult[];
}

export interface PlaylistSummary {
  id: string;
  title: string;
  createdAt: string;
  trackCount: number;
}

export interface Playlist {
  id: string;
  title: string;
  createdAt: string;
  tracks: PlaylistTrack[];
}

export type PlaylistFormat = 'm3u8' | 'xspf' | 'jspf' | 'csv';

export interface IndexStatus {
  tracks: number;
  embedder: string;
  pending: number;
  failed?: number;
  failures?: { isrc: string; title?: string; reason: string }[];
}

/** Counts first, then what needs a person's eye. Fields a server does not know yet are simply absent. */
export interface ImportReport {
  read?: number;
  matched?: number;
  added?: number;
  ambiguous?: { line?: number; title: string; artist?: string; reason?: string }[];
  unmatched?: { line?: number; title: string; artist?: string; reason?: string }[];
}

// ---- tasks -----------------------------------------------------------------------------------------------------

export interface Task {
  id: string;
  title: string;
  description?: string | null;
  completed: boolean;
  createdAt: string;
  updatedAt: string;
}

export type TaskFilter = 'all' | 'pending' | 'completed';

// ---- the house -------------------------------------------------------------------------------------------------

export interface Me {
  id: string;
  name: string;
  mode: AuthMode;
}

export interface Agent {
  id: AgentId;
  title: string;
  description: string;
  examples: string[];
}

export type Feature = 'import' | 'catalogue' | 'ingest' | 'accounts';

export interface About {
  version: string;
  mode?: AuthMode;
  model: { id: string; offline: boolean; hint?: string };
  agents: Agent[];
  tidal: boolean;
  /** Absent while the index does not answer. */
  index?: { tracks: number; embedder: string };
  features?: string[];
}

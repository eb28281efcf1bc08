// Made from the OpenAPI document by `npm run types`. Change the Rust types, not this file.

/**
 * The id of a recording. ISRC, MusicBrainz id, file and server id are attributes of a recording and never its key.
 *
 * The id of the first recording with an ISRC is computed from the code, so that every node, every user and the SQL
 * migration get the same id without coordination. A recording without a code belongs to one owner.
 */
export type TrackId = string;
export type AppliedKind =
  | 'years'
  | 'tempo'
  | 'duration'
  | 'key'
  | 'language'
  | 'vocals'
  | 'explicit'
  | 'library'
  | 'artist'
  | 'album'
  | 'atMost'
  | 'perArtist'
  | 'without'
  | 'seed'
  | 'sound';
/**
 * One piece of a message, in the order it happened.
 *
 * The order tells which calls were made together: calls of one reply stand side by side before their results.
 */
export type Block =
  | {
      text: string;
      type: 'text';
    }
  | {
      text: string;
      type: 'reasoning';
    }
  | {
      id: CallId;
      input: unknown;
      name: string;
      type: 'tool_use';
    }
  | {
      /**
       * Shared with the event and the journal: it may be large, and an answer is copied several times.
       */
      content: {
        [k: string]: unknown;
      };
      is_error?: boolean;
      tool_use_id: CallId;
      type: 'tool_result';
    };
/**
 * One tool call. Ours, never the provider's: local servers number theirs from zero in every reply.
 */
export type CallId = string;
/**
 * The id of one entry of a playlist.
 */
export type ItemId = string;
/**
 * The id of a change that can be undone. For a tool call, it is the id of the call.
 */
export type UndoId = string;
export type Provider = 'anthropic' | 'openai';
/**
 * The services that can be connected on the settings page.
 */
export type Service = 'model' | 'catalogue' | 'embedder';
export type ConnectionState = ('stored' | 'off') | 'settings' | 'unreadable';
/**
 * The scope of a decision.
 */
export type ConsentScope = 'once' | 'conversation';
export type Decision = 'refuse' | 'once' | 'conversation';
export type DeletedKind = 'album' | 'conversation' | 'playlist' | 'task' | 'track';
/**
 * What a call does to the world. Decides concurrency, MCP hints and undo.
 */
export type Effect = 'reads' | 'writes' | 'deletes';
/**
 * Why a turn failed, in the words of the wire.
 */
export type FailureCode =
  'AI_SERVICE_UNAVAILABLE' | 'DATABASE_ERROR' | 'VALIDATION_ERROR' | 'RATE_LIMITED' | 'TIMEOUT' | 'INTERRUPTED' | 'INTERNAL_ERROR';
export type Format = 'json' | 'markdown';
export type Frame =
  | {
      conversationId: string;
      messageId: string;
      seq: number;
      turnId: string;
      type: 'message_start';
    }
  | {
      content: string;
      seq: number;
      type: 'text_delta';
    }
  | {
      content: string;
      seq: number;
      type: 'reasoning';
    }
  | {
      seq: number;
      tokensRead: number;
      tokensTotal: number;
      type: 'reading';
    }
  | {
      input: unknown;
      seq: number;
      /**
       * The tool's name for users.
       */
      title?: string | null;
      toolCallId: CallId;
      toolName: string;
      type: 'tool_call_start';
    }
  | {
      durationMs: number;
      output?: unknown;
      resultCount: number;
      seq: number;
      summary: string;
      toolCallId: CallId;
      type: 'tool_call_end';
    }
  | {
      /**
       * The question to the user, when the call waits for their consent.
       */
      consentId?: string | null;
      durationMs: number;
      error: string;
      /**
       * Whether the user may try again later.
       */
      retryable: boolean;
      seq: number;
      toolCallId: CallId;
      type: 'tool_call_error';
      wasRetried: boolean;
    }
  | {
      /**
       * The cost of the answer in US dollars, if the settings contain the model's price.
       */
      costUsd?: number | null;
      /**
       * Notes about the answer for the user, e.g. `UNCONFIRMED_CLAIM`.
       */
      notices: Notice[];
      seq: number;
      stopReason: StopReason;
      type: 'message_end';
      usage: UsageFrame;
    }
  | {
      code: FailureCode;
      message: string;
      retryable: boolean;
      seq: number;
      type: 'error';
    };
export type StopReason = 'complete' | 'stopped' | 'max_steps';
export type LibrarySort = ('title' | 'artist' | 'album') | 'added' | 'year' | 'plays';
/**
 * Who is asking. A token's subject, so any text.
 */
export type UserId = string;
export type MessageStatus = 'running' | 'complete' | 'stopped' | 'max_steps' | 'error';
export type SourceKind = 'folder';
export type Role = 'user' | 'assistant';
export type TaskFilter = 'all' | 'pending' | 'completed';

export interface About {
  agents: AgentAbout[];
  /**
   * Optional features that are on.
   */
  features: string[];
  /**
   * The size of the index; absent while the index does not answer, and on a server with several users.
   */
  index?: IndexStatus | null;
  mode: string;
  model: ModelAbout;
  /**
   * How the page signs in when another issuer gives out the tokens.
   */
  signIn?: SignInAbout | null;
  /**
   * Whether the Tidal catalogue can be searched.
   */
  tidal: boolean;
  version: string;
}
export interface AgentAbout {
  description: string;
  examples: string[];
  /**
   * The question above an empty conversation.
   */
  greeting?: string;
  id: string;
  /**
   * The text in the empty message field.
   */
  placeholder?: string;
  title: string;
  /**
   * Segue's own tools that the agent can use.
   */
  tools?: string[];
}
/**
 * The state of the index.
 */
export interface IndexStatus {
  /**
   * The model that turns text into vectors.
   */
  embedder: string;
  /**
   * `embedded` or `qdrant`.
   */
  engine: string;
  /**
   * Tracks that are being added to the index or removed from it.
   */
  pending: number;
  /**
   * Tracks that can be found now.
   */
  tracks: number;
}
export interface ModelAbout {
  /**
   * The one of `choices` that answers by default; absent when the default model is not in `choices`.
   */
  choice?: string | null;
  /**
   * Names of the models that a conversation can choose from (`SEGUE_MODELS`); absent when there are none.
   */
  choices?: string[];
  /**
   * How to connect a model; absent when one is connected.
   */
  hint?: string | null;
  id: string;
  offline: boolean;
}
export interface SignInAbout {
  /**
   * The issuer's sign-in page; `{return}` in it stands for the address to return to.
   */
  signInUrl: string;
  /**
   * Returns `{"token": …}` to a browser that is signed in at the issuer.
   */
  tokenUrl: string;
}
export interface Active {
  /**
   * `settings`: a setting names it and wins; `operator`: chosen here; `connection`: connected on the settings page; `default`: nothing is chosen.
   */
  chosenBy: string;
  /**
   * `provider:model`.
   */
  id: string;
  server?: string | null;
}
export interface Additions {
  /**
   * The number of tracks before the new ones; default: at the end.
   */
  at?: number | null;
  /**
   * `trackId`s or ISRCs, in playing order.
   *
   * @minItems 1
   */
  trackIds: [string, ...string[]];
}
export interface AddTaskOutput {
  completed: boolean;
  createdAt: string;
  description: string;
  durationMs: number;
  id: string;
  summary: string;
  title: string;
  /**
   * For `POST /api/undo/{id}`.
   */
  undoId: string;
  updatedAt: string;
}
export interface AlbumEntry {
  addedAt?: string | null;
  artist: string;
  artworkUrl?: string | null;
  /**
   * The catalogue's id of the album, or Segue's own for an album of library tracks.
   */
  id: string;
  inLibrary: boolean;
  releaseDate?: string | null;
  title: string;
  trackCount: number;
}
export interface AlbumList {
  albums: AlbumEntry[];
  /**
   * Where the next page begins; absent when there is none.
   */
  next?: number | null;
}
export interface AlbumResult {
  artist: string;
  artworkUrl?: string | null;
  /**
   * The catalogue's id of the album, or Segue's own for an album of library tracks.
   */
  id: string;
  inLibrary: boolean;
  releaseDate?: string | null;
  title: string;
  trackCount: number;
}
export interface AlbumTracksOutput {
  albumId: string;
  albumTitle: string;
  artist: string;
  durationMs: number;
  summary: string;
  tracks: TrackResult[];
}
/**
 * A track, with flags for this user at the time of the call.
 */
export interface TrackResult {
  album: string;
  artist: string;
  /**
   * A path of this server for the picture in your own file; otherwise a URL of the catalogue, to be shown through
   * `/api/artwork?url=`.
   */
  artworkUrl?: string | null;
  /**
   * Seconds.
   */
  duration?: number | null;
  inLibrary: boolean;
  isIndexed: boolean;
  /**
   * Part of the sample library.
   */
  isSample?: boolean;
  /**
   * Empty if neither a file nor the catalogue has one.
   */
  isrc: string;
  tidalId?: string | null;
  title: string;
  /**
   * The id of the recording. Every parameter that takes an ISRC also takes this id.
   */
  trackId: TrackId;
}
/**
 * One thing that was understood, for a chip that can be removed.
 */
export interface Applied {
  kind: AppliedKind;
  /**
   * In plain English: `1990–1999`, `without drums`.
   */
  label: string;
  /**
   * The words of the message it was read from: without them the limit is gone. Empty: it was given as a field.
   */
  text: string;
}
export interface Arrangement {
  /**
   * The revision that this order is based on. If the playlist has another revision, it is not changed (409).
   */
  revision?: number | null;
  /**
   * All tracks of the playlist, as `trackId`s or ISRCs, in playing order.
   */
  trackIds: string[];
}
/**
 * An artist of the user's tracks.
 */
export interface ArtistLine {
  albumCount: number;
  name: string;
  trackCount: number;
}
export interface ArtistPage {
  artists: ArtistLine[];
  next?: number | null;
  total: number;
}
/**
 * The eleven audio features. Each may be unknown.
 */
export interface AudioFeatures {
  acousticness?: number | null;
  danceability?: number | null;
  energy?: number | null;
  instrumentalness?: number | null;
  key?: number | null;
  liveness?: number | null;
  loudness?: number | null;
  mode?: number | null;
  speechiness?: number | null;
  tempo?: number | null;
  valence?: number | null;
}
export interface BatchMetadataOutput {
  durationMs: number;
  /**
   * The codes that were found, as the caller wrote them.
   */
  found: string[];
  /**
   * Codes that are not valid ISRCs, and why; they are in `notFound` too.
   */
  invalid: Invalid[];
  notFound: string[];
  summary: string;
  tracks: IndexedTrackResult[];
}
export interface Invalid {
  isrc: string;
  reason: string;
}
/**
 * A track with all data of the index.
 */
export interface IndexedTrackResult {
  album: string;
  artist: string;
  /**
   * A path of this server for the picture in your own file; otherwise a URL of the catalogue, to be shown through
   * `/api/artwork?url=`.
   */
  artworkUrl?: string | null;
  audioFeatures?: AudioFeatures | null;
  /**
   * Seconds.
   */
  duration?: number | null;
  inLibrary: boolean;
  interpretation?: string | null;
  isIndexed: boolean;
  /**
   * Part of the sample library.
   */
  isSample?: boolean;
  /**
   * Empty if neither a file nor the catalogue has one.
   */
  isrc: string;
  lyrics?: string | null;
  /**
   * The source of each field; only with the details of one track.
   */
  provenance?: {
    [k: string]: string;
  };
  /**
   * What moved it up among the matches, in shares of the best score, such as `words end a phrase (+0.40)`.
   */
  rankedBy?: string[];
  releaseDate?: string | null;
  /**
   * How well it matches, 0 to 1, comparable between searches.
   */
  score?: number | null;
  shortDescription?: string | null;
  tags?: string[];
  tidalId?: string | null;
  title: string;
  /**
   * The id of the recording. Every parameter that takes an ISRC also takes this id.
   */
  trackId: TrackId;
  /**
   * Why it matched.
   */
  why?: Why | null;
}
export interface Why {
  /**
   * The sentence of the interpretation that is closest in meaning to the query.
   */
  closeTo?: string | null;
  /**
   * Audio features that fit the query, such as `low energy (0.12)`.
   */
  features?: string[];
  /**
   * Facts that meet the limits of the search, such as `1994`.
   */
  limits?: string[];
  /**
   * The line of the lyrics that says it.
   */
  lyric?: string | null;
  /**
   * Tags that the query names.
   */
  tags?: string[];
  /**
   * Words of the query that the track's names, meaning or lyrics have, as typed, or translated: `money (Geld)`.
   */
  words?: string[];
}
export interface Branch {
  /**
   * A message of this conversation: one of the `siblings` of a message.
   */
  messageId: string;
}
export interface CandidateItem {
  album?: string | null;
  artist: string;
  /**
   * 0 to 1.
   */
  confidence: number;
  /**
   * Seconds.
   */
  duration?: number | null;
  isrc: string;
  reason: string;
  /**
   * The catalogue that has it.
   */
  source: string;
  title: string;
}
/**
 * A playlist after an edit.
 */
export interface ChangedPlaylist {
  createdAt: string;
  /**
   * Empty if there is none.
   */
  description: string;
  id: string;
  /**
   * Increases with every edit.
   */
  revision: number;
  title: string;
  tracks: PlaylistTrackResult[];
  /**
   * For `POST /api/undo/{id}`.
   */
  undoId: UndoId;
  updatedAt: string;
}
/**
 * A track on a playlist.
 */
export interface PlaylistTrackResult {
  album: string;
  artist: string;
  /**
   * A path of this server for the picture in your own file; otherwise a URL of the catalogue, to be shown through
   * `/api/artwork?url=`.
   */
  artworkUrl?: string | null;
  /**
   * Seconds.
   */
  duration?: number | null;
  /**
   * Whether a player can open a file of yours for this track.
   */
  hasFile: boolean;
  inLibrary: boolean;
  isIndexed: boolean;
  /**
   * Part of the sample library.
   */
  isSample?: boolean;
  /**
   * Empty if neither a file nor the catalogue has one.
   */
  isrc: string;
  /**
   * The id of this entry; the same recording may be on the playlist twice.
   */
  itemId: ItemId;
  reasoning: string;
  tidalId?: string | null;
  title: string;
  /**
   * The id of the recording. Every parameter that takes an ISRC also takes this id.
   */
  trackId: TrackId;
}
export interface ChangedTrack {
  artist: string;
  /**
   * Where it is now, or was before it was removed; from 1.
   */
  position: number;
  title: string;
}
export interface ChangePassword {
  current: string;
  /**
   * At least 8 characters.
   */
  next: string;
}
export interface ChatRequest {
  /**
   * The `id` of an agent of `GET /api/about`, for a new conversation; default: the first one.
   */
  agent?: string | null;
  /**
   * Makes a repeated request safe: the same id attaches to the existing turn.
   */
  clientMessageId?: string | null;
  conversationId?: string | null;
  /**
   * The id of an earlier question of this conversation, which is asked again with the text `message`. Another text
   * adds a sibling question, the same text another answer. The earlier messages stay on their own branch.
   */
  editOf?: string | null;
  message: string;
  /**
   * A model of the list in the settings, for this message and later ones of the conversation.
   */
  model?: string | null;
}
export interface Checked {
  /**
   * The answer of the service, or the problem.
   */
  says: string;
  well: boolean;
}
export interface Choice {
  /**
   * One of the candidates, or any other known recording: an ISRC or a trackId.
   */
  isrc: string;
}
export interface CompleteTaskOutput {
  completed: boolean;
  createdAt: string;
  description: string;
  durationMs: number;
  id: string;
  summary: string;
  title: string;
  /**
   * The id of a change that can be undone. For a tool call, it is the id of the call.
   */
  undoId: string;
  updatedAt: string;
}
/**
 * The connection of a service, without its secret.
 */
export interface ConnectionLine {
  /**
   * Whether the stored or removed connection takes effect at the next start.
   */
  atNextStart: boolean;
  clientId?: string | null;
  /**
   * Whether a key or a secret is stored. It is never returned.
   */
  hasSecret: boolean;
  model?: string | null;
  /**
   * Why it is not used.
   */
  problem?: string | null;
  provider?: Provider | null;
  service: Service;
  /**
   * The settings of the server that are used instead, if `state` is `settings`.
   */
  settings: string[];
  state: ConnectionState;
  url?: string | null;
}
export interface Connections {
  connections: ConnectionLine[];
  /**
   * What the operator must set before a secret can be stored; absent when one can be.
   */
  missingKey?: string | null;
  /**
   * The providers that a model can be connected to.
   */
  providers: ProviderLine[];
}
/**
 * A provider that can be connected on the settings page.
 */
export interface ProviderLine {
  name: Provider;
  /**
   * The name for users.
   */
  title: string;
  /**
   * The server that is used if no other is named.
   */
  url: string;
}
/**
 * The state of a consent.
 */
export interface ConsentLine {
  /**
   * False while the user has not decided.
   */
  decided: boolean;
  id: string;
  /**
   * The scope of the consent; absent while the user has not decided, and after a refusal.
   */
  scope?: ConsentScope | null;
  toolCallId: CallId;
  toolName: string;
}
export interface Conversation {
  agent: string;
  createdAt: string;
  id: string;
  /**
   * The line that contains the searched words, if a message contains them.
   */
  match?: string | null;
  /**
   * The model that was chosen for it, by its name in `SEGUE_MODELS`; absent: the active model answers.
   */
  model?: string | null;
  /**
   * Pinned by the user: pinned conversations are first in the list.
   */
  pinned: boolean;
  /**
   * The beginning of the newest message.
   */
  preview: string;
  /**
   * Whether a turn is running in it.
   */
  running: boolean;
  title: string;
  updatedAt: string;
}
/**
 * The fields to change. An absent field is kept.
 */
export interface ConversationChange {
  /**
   * A model of the list in the settings, for later messages; `null`: the active one.
   */
  model?: string | null;
  pinned?: boolean | null;
  title?: string | null;
}
export interface ConversationList {
  conversations: Conversation[];
  next?: string | null;
}
export interface Decide {
  decision: Decision;
}
/**
 * A deleted item.
 */
export interface Deleted {
  /**
   * For the `restore` endpoint of an album.
   */
  albumId?: string | null;
  deletedAt: string;
  /**
   * The newest message of a conversation, the description of a playlist or task, the artist of a track or an album.
   */
  detail: string;
  /**
   * After this time it cannot be restored.
   */
  expiresAt: string;
  /**
   * For `DELETE /api/trash/{id}`, and for its own `restore` endpoint, unless it is an album.
   */
  id: string;
  kind: DeletedKind;
  title: string;
}
export interface DeleteTaskOutput {
  durationMs: number;
  message: string;
  summary: string;
  task_id: string;
  title: string;
  /**
   * The id of a change that can be undone. For a tool call, it is the id of the call.
   */
  undoId: string;
}
/**
 * The problem with one field.
 */
export interface Detail {
  field: string;
  message: string;
}
export interface Done {
  track: LibraryEntry;
  /**
   * For `POST /api/tracks/merges/{undoId}/undo`.
   */
  undoId: string;
}
/**
 * A track, with flags for this user at the time of the call.
 */
export interface LibraryEntry {
  addedAt: string;
  album: string;
  artist: string;
  /**
   * A path of this server for the picture in your own file; otherwise a URL of the catalogue, to be shown through
   * `/api/artwork?url=`.
   */
  artworkUrl?: string | null;
  /**
   * Seconds.
   */
  duration?: number | null;
  firstPlayedAt?: string | null;
  genre?: string | null;
  inLibrary: boolean;
  isIndexed: boolean;
  /**
   * Part of the sample library.
   */
  isSample?: boolean;
  /**
   * Empty if neither a file nor the catalogue has one.
   */
  isrc: string;
  lastPlayedAt?: string | null;
  /**
   * The location of the audio: a file of this server, or the location in an import.
   */
  location?: string | null;
  /**
   * How certain the match to a recording is: `matched`, or `ambiguous` or `unmatched`, for which Segue still
   * searches.
   */
  match: string;
  /**
   * The number of plays in the imported listening history.
   */
  plays: number;
  tidalId?: string | null;
  title: string;
  /**
   * The id of the recording. Every parameter that takes an ISRC also takes this id.
   */
  trackId: TrackId;
  trackNumber?: number | null;
  year?: number | null;
}
export interface EditPlaylistOutput {
  action: 'rename' | 'add' | 'remove' | 'move';
  /**
   * What was added, removed or moved: the first 100.
   */
  changed: ChangedTrack[];
  durationMs: number;
  id: string;
  summary: string;
  title: string;
  trackCount: number;
  /**
   * The id of a change that can be undone. For a tool call, it is the id of the call.
   */
  undoId: string;
}
/**
 * The body of every error response.
 */
export interface ErrorBody {
  error: ErrorContent;
}
export interface ErrorContent {
  code: string;
  details?: Detail[];
  message: string;
}
/**
 * A step that needs a user's action.
 */
export interface Failure {
  artist: string;
  at: string;
  /**
   * Empty if the track has none.
   */
  isrc: string;
  reason: string;
  /**
   * `lyrics`, `features`, `describe` or `index`.
   */
  step: string;
  title: string;
  trackId: string;
}
/**
 * The counts of one file.
 */
export interface FileCounts {
  ambiguous: number;
  file: string;
  /**
   * The format of the file, for people.
   */
  kind: string;
  /**
   * Entries that were left out on purpose, by reason.
   */
  leftOut: {
    [k: string]: number;
  };
  matched: number;
  read: number;
  /**
   * Catalogues that could not be asked, and why.
   */
  silent: {
    [k: string]: string;
  };
  tracks: number;
  unmatched: number;
  /**
   * Entries that cannot be used.
   */
  unusable: number;
}
/**
 * How far the comparison of the files of a folder has come.
 */
export interface FolderSound {
  /**
   * Files that cannot be decoded, and why; the first hundred.
   */
  undecodable: {
    [k: string]: string;
  };
  /**
   * Files whose sound will be compared.
   */
  waiting: number;
}
export interface Found {
  /**
   * What a probe has found, in one line; absent before the first probe.
   */
  capabilities?: string | null;
  name: string;
}
/**
 * Something a user should know about an answer.
 */
export interface Notice {
  /**
   * `UNCONFIRMED_CLAIM`.
   */
  code: string;
  message: string;
}
export interface UsageFrame {
  inputTokens: number;
  outputTokens: number;
}
export interface Genres {
  /**
   * By their first year.
   */
  decades: GroupLine[];
  genres: GroupLine[];
}
/**
 * A genre of the user's tracks, or the first year of a decade.
 */
export interface GroupLine {
  name: string;
  trackCount: number;
}
/**
 * The result of an import: counts, then the entries that need a user's action.
 */
export interface ImportAnswer {
  /**
   * Tracks that were not in the library before.
   */
  added: number;
  /**
   * Tracks that were already in the library.
   */
  alreadyThere: number;
  /**
   * Entries that match several recordings, the first thousand: choose one with `POST /api/library/unmatched/{id}`. `files` has
   * the counts, and `GET /api/library/unmatched` all entries.
   */
  ambiguous: OpenItem[];
  /**
   * Entries that cannot be used, by line; the first thousand.
   */
  failures: LineFailure[];
  files: FileCounts[];
  matched: number;
  /**
   * Lines, plays or rows that were read.
   */
  read: number;
  /**
   * Different tracks among them.
   */
  tracks: number;
  /**
   * Entries that no catalogue has confirmed, the first thousand. They are tracks of the library, and Segue searches for them
   * again.
   */
  unmatched: OpenItem[];
}
/**
 * An entry that is still open.
 */
export interface OpenItem {
  album?: string | null;
  artist: string;
  /**
   * The possible recordings, best first.
   */
  candidates: CandidateItem[];
  /**
   * Seconds.
   */
  duration?: number | null;
  file: string;
  id: string;
  line: number;
  /**
   * `ambiguous` or `unmatched`.
   */
  outcome: string;
  /**
   * The reason.
   */
  reason: string;
  title: string;
  /**
   * The track that represents the entry: it can be found, played and listed like any other.
   */
  trackId?: string | null;
}
export interface LineFailure {
  file: string;
  line: number;
  reason: string;
}
/**
 * An imported file with its report.
 */
export interface ImportLine {
  createdAt: string;
  id: string;
  [k: string]: unknown;
}
export interface ImportList {
  imports: ImportLine[];
  next?: string | null;
}
/**
 * The state of the index and of enrichment, with failed steps.
 */
export interface IngestStatus {
  /**
   * The model that turns text into vectors.
   */
  embedder: string;
  /**
   * `embedded` or `qdrant`.
   */
  engine: string;
  /**
   * Steps that failed and are not retried automatically.
   */
  failed: number;
  /**
   * Your tracks with failed steps, newest first.
   */
  failures: Failure[];
  /**
   * Whether your searches find the sample library; `DELETE /api/library/sample` removes it.
   */
  hasSample: boolean;
  /**
   * Entries of imports that are being searched for.
   */
  lookingFor: number;
  /**
   * Tracks that are being added to the index or removed from it.
   */
  pending: number;
  /**
   * The progress of each step.
   */
  steps: {
    describe?: StepProgress;
    features?: StepProgress;
    index?: StepProgress;
    lyrics?: StepProgress;
  };
  /**
   * Tracks that can be found now.
   */
  tracks: number;
}
/**
 * The progress of one step.
 */
export interface StepProgress {
  /**
   * Tracks for which the step is done or not needed.
   */
  done: number;
  /**
   * Tracks for which a user must act.
   */
  failed: number;
  /**
   * Tracks without this step, because the source is disabled.
   */
  off: number;
  running: number;
  /**
   * Tracks for which it will be done, now or after an earlier step.
   */
  waiting: number;
}
export interface ListPlaylistsOutput {
  durationMs: number;
  /**
   * The newest 200, newest first; only the requested one, if any.
   */
  playlists: PlaylistLine[];
  summary: string;
  /**
   * The first 500, in playing order; empty unless one playlist was requested.
   */
  tracks: PlaylistTrackResult[];
}
export interface PlaylistLine {
  createdAt: string;
  description: string;
  id: string;
  title: string;
  trackCount: number;
  updatedAt: string;
}
export interface ListTasksOutput {
  durationMs: number;
  /**
   * Set if there are more; `GET /api/tasks` has pages.
   */
  hasMore?: boolean;
  summary: string;
  /**
   * At most 500, and 512 KiB of texts.
   */
  tasks: Task[];
}
export interface Task {
  completed: boolean;
  createdAt: string;
  description: string;
  id: string;
  title: string;
  updatedAt: string;
}
export interface Me {
  id: UserId;
  mode: string;
  name: string;
}
export interface Merge {
  /**
   * The track that stays: an ISRC or a trackId.
   */
  into: string;
}
/**
 * A merge that was not undone.
 */
export interface MergeLine {
  artist: string;
  /**
   * `user`, or `sound`: two files have the same sound.
   */
  cause: string;
  /**
   * The files of the track that became part of the other one.
   */
  files: string[];
  /**
   * The track that stayed.
   */
  into: string;
  intoArtist: string;
  intoTitle: string;
  mergedAt: string;
  title: string;
  /**
   * The track that became part of another one.
   */
  trackId: string;
  /**
   * For `POST /api/tracks/merges/{undoId}/undo`.
   */
  undoId: string;
}
export interface MergeList {
  merges: MergeLine[];
  next?: string | null;
}
export interface ModelList {
  /**
   * Only for operators.
   */
  active?: Active | null;
  /**
   * Model servers on the usual ports of this machine. They get no text of a user before an operator chooses one. Only
   * for operators.
   */
  found?: Server[] | null;
  /**
   * Names for `model` in `POST /api/chat/stream`.
   */
  models: Named[];
}
export interface Server {
  /**
   * "Ollama".
   */
  family: string;
  models: Found[];
  /**
   * In the form of `OPENAI_BASE_URL`.
   */
  server: string;
}
export interface Named {
  name: string;
  /**
   * In US dollars for a million tokens. Only for operators.
   */
  price?: PricePerMillion | null;
}
export interface PricePerMillion {
  input: number;
  output: number;
}
export interface NewAlbum {
  /**
   * The catalogue's id of the album, as `tidalSearch` returns it.
   */
  albumId: string;
}
/**
 * The input of an operator. An omitted secret is kept while the server or the id is the same; an empty one is removed.
 */
export interface NewConnection {
  /**
   * For the catalogue.
   */
  clientId?: string | null;
  clientSecret?: string | null;
  key?: string | null;
  /**
   * Name of the model; default: the provider's current one.
   */
  model?: string | null;
  /**
   * For a model.
   */
  provider?: Provider | null;
  /**
   * Base URL of the server of a model or an embedder; default: the provider's own.
   */
  url?: string | null;
}
export interface NewPlaylist {
  description?: string;
  title: string;
  /**
   * `trackId`s or ISRCs, in playing order.
   */
  trackIds?: string[];
}
export interface NewSource {
  /**
   * `folder`.
   */
  kind: SourceKind;
  /**
   * A folder of the server.
   */
  path: string;
}
export interface NewTask {
  description?: string;
  title: string;
}
export interface NewTrack {
  /**
   * An ISRC or a trackId.
   */
  isrc: string;
}
export interface OpenAlbum {
  artist: string;
  artworkUrl?: string | null;
  /**
   * The catalogue's id of the album, or Segue's own for an album of library tracks.
   */
  id: string;
  inLibrary: boolean;
  releaseDate?: string | null;
  title: string;
  trackCount: number;
  tracks: TrackResult[];
}
export interface OpenConversation {
  agent: string;
  /**
   * Calls that wait or waited for your consent; see `POST /api/consents/{consent_id}`.
   */
  consents: ConsentLine[];
  createdAt: string;
  id: string;
  /**
   * The line that contains the searched words, if a message contains them.
   */
  match?: string | null;
  /**
   * Oldest first.
   */
  messages: StoredMessage[];
  /**
   * The model that was chosen for it, by its name in `SEGUE_MODELS`; absent: the active model answers.
   */
  model?: string | null;
  /**
   * The `cursor` of the page with the messages before these; absent when there are none.
   */
  next?: string | null;
  /**
   * Pinned by the user: pinned conversations are first in the list.
   */
  pinned: boolean;
  /**
   * The beginning of the newest message.
   */
  preview: string;
  /**
   * Whether a turn is running in it.
   */
  running: boolean;
  title: string;
  updatedAt: string;
}
export interface StoredMessage {
  /**
   * The tool calls of the answer: what is shown about each beside its output. Absent if there are none.
   */
  calls?: StoredCall[];
  content: Block[];
  /**
   * What the answer has cost in US dollars, where the price of its model was known.
   */
  costUsd?: number | null;
  createdAt: string;
  error?: TurnError | null;
  id: string;
  /**
   * The parent message; `None` for a first question.
   */
  parentId?: string | null;
  role: Role;
  /**
   * The siblings of the message; absent if there is only one branch here.
   */
  siblings?: Siblings | null;
  status: MessageStatus;
  /**
   * The turn that wrote it; only for answers.
   */
  turnId?: string | null;
  usage?: Usage | null;
}
/**
 * A tool call of an answer, with what the stream said about it.
 */
export interface StoredCall {
  /**
   * The id of its `tool_use` and `tool_result`.
   */
  id: CallId;
  /**
   * The number of results; absent if the call failed or has not ended.
   */
  resultCount?: number | null;
  /**
   * Absent if the call failed or has not ended.
   */
  summary?: string | null;
  /**
   * The tool's name for users.
   */
  title?: string | null;
}
/**
 * The error of a failed turn, as it was shown.
 */
export interface TurnError {
  code: FailureCode;
  message: string;
  retryable: boolean;
}
/**
 * The messages with the same parent: one for each branch.
 */
export interface Siblings {
  count: number;
  /**
   * Oldest first, including this message.
   */
  ids: string[];
  /**
   * The position of this message among them, from 0.
   */
  index: number;
}
/**
 * Token counts of one or more replies.
 */
export interface Usage {
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  /**
   * Everything the model read, cached or not.
   */
  inputTokens: number;
  outputTokens: number;
}
export interface OpenList {
  entries: OpenItem[];
  next?: number | null;
}
/**
 * The fields to change. An absent field is kept; `null` or an empty text clears the description.
 */
export interface PlaylistChange {
  description?: string | null;
  title?: string | null;
}
/**
 * A playlist with current flags.
 */
export interface PlaylistDetails {
  createdAt: string;
  /**
   * Empty if there is none.
   */
  description: string;
  id: string;
  /**
   * Increases with every edit.
   */
  revision: number;
  title: string;
  tracks: PlaylistTrackResult[];
  updatedAt: string;
}
export interface PlaylistList {
  /**
   * The `cursor` of the next page; absent when there is none.
   */
  next?: string | null;
  playlists: PlaylistLine[];
}
export interface RemovedTracks {
  removed: number;
  undoId: UndoId;
}
export interface Retried {
  /**
   * Number of entries that are searched again.
   */
  entries: number;
}
/**
 * The report of a scan.
 */
export interface ScanReport {
  /**
   * New files that can be read.
   */
  added: number;
  changed: number;
  /**
   * The number of audio files.
   */
  files: number;
  /**
   * Missing files. Their tracks were removed from the library; they return with the file or are restored by hand.
   */
  gone: number;
  /**
   * Other files, by the reason why they are ignored.
   */
  leftOut: {
    [k: string]: number;
  };
  moved: number;
  /**
   * Playlist files that are new or changed.
   */
  playlists: number;
  /**
   * Files that cannot be read, and why; the first hundred.
   */
  unreadable: {
    [k: string]: string;
  };
}
export interface Select {
  model?: string | null;
  /**
   * A `server` of `GET /api/models`; if absent, the choice is removed.
   */
  server?: string | null;
}
export interface SelectedAnswer {
  active: Active;
}
export interface SemanticSearchOutput {
  /**
   * The limits that were recognised. Results satisfy them exactly.
   */
  applied: Applied[];
  durationMs: number;
  /**
   * True while the index is being filled: tracks of yours cannot be found yet.
   */
  isIncomplete?: boolean;
  /**
   * The nearest tracks, if nothing matches.
   */
  nearest?: IndexedTrackResult[];
  query: string;
  summary: string;
  /**
   * The number of matching tracks, also beyond `limit`.
   */
  totalFound: number;
  /**
   * The matching tracks, best first.
   */
  tracks: IndexedTrackResult[];
  /**
   * How many tracks were left out because their data does not say whether they satisfy a limit.
   */
  undecided?: number | null;
}
export interface Several {
  /**
   * 1 to 1000. Tracks that are not in the library are ignored.
   *
   * Items: An ISRC or a trackId.
   */
  trackIds: string[];
}
export interface SignedIn {
  id: UserId;
  mode: string;
  name: string;
}
export interface SignIn {
  name: string;
  password: string;
}
export interface SignUp {
  /**
   * From `segue user invite`.
   */
  invitation: string;
  name: string;
  /**
   * At least 8 characters.
   */
  password: string;
}
export interface SimilarTracks {
  tracks: IndexedTrackResult[];
}
/**
 * A synchronised folder.
 */
export interface Source {
  createdAt: string;
  id: string;
  /**
   * `folder`.
   */
  kind: string;
  path: string;
  /**
   * The report of the last scan.
   */
  report?: {
    [k: string]: unknown;
  };
  /**
   * In a list, unless sounds are not compared: how far it has come.
   */
  sound?: FolderSound | null;
  syncedAt?: string | null;
}
export interface SourceList {
  sources: Source[];
}
export interface Split {
  /**
   * The file that becomes a track of its own; without it the last one.
   */
  path?: string | null;
}
/**
 * The turn that makes the call.
 */
export interface Started {
  conversationId: string;
  messageId: string;
  turnId: string;
}
export interface SuggestPlaylistOutput {
  createdAt: string;
  durationMs: number;
  id: string;
  summary: string;
  title: string;
  tracks: PlaylistTrackResult[];
  /**
   * The id of a change that can be undone. For a tool call, it is the id of the call.
   */
  undoId: string;
  /**
   * Codes that no source knows. They are not on the playlist.
   */
  unknown: string[];
}
/**
 * The fields to change. An absent field is kept; `null` clears a field that may be empty.
 */
export interface TaskChange {
  /**
   * Moves it after this task.
   */
  after?: string | null;
  /**
   * Moves it before this task.
   */
  before?: string | null;
  completed?: boolean | null;
  description?: string | null;
  title?: string | null;
}
export interface TaskList {
  next?: string | null;
  tasks: Task[];
}
export interface Test {
  connection?: NewConnection | null;
}
export interface TidalSearchOutput {
  albums?: AlbumResult[] | null;
  durationMs: number;
  /**
   * True: Tidal had more, but did not deliver it in time.
   */
  isIncomplete?: boolean;
  query: string;
  /**
   * The query that Tidal got, if the original is too long for Tidal.
   */
  searchedFor?: string | null;
  summary: string;
  totalFound: TotalFound;
  tracks?: TrackResult[] | null;
}
export interface TotalFound {
  albums: number;
  tracks: number;
}
export interface TokenSessionBody {
  /**
   * When the session ends; a new token before that renews it.
   */
  expiresAt: string;
  id: UserId;
  mode: string;
  name: string;
}
export interface ToolList {
  tools: ToolSpec[];
}
/**
 * A tool as models, MCP clients and the API documentation see it.
 */
export interface ToolSpec {
  description: string;
  effect: Effect;
  inputSchema: unknown;
  name: string;
  outputSchema: unknown;
  title: string;
}
export interface TrackPage {
  next?: number | null;
  total: number;
  tracks: LibraryEntry[];
}
export interface TrashList {
  items: Deleted[];
  next?: string | null;
}
/**
 * The result of an undo.
 */
export interface Undone {
  /**
   * The restored playlist; absent if the change was something else.
   */
  playlistId?: string | null;
  taskId?: string | null;
  undoId: UndoId;
}
export interface UpdateTaskOutput {
  completed: boolean;
  createdAt: string;
  description: string;
  durationMs: number;
  id: string;
  summary: string;
  title: string;
  /**
   * The id of a change that can be undone. For a tool call, it is the id of the call.
   */
  undoId: string;
  updatedAt: string;
}
export interface UsageToday {
  /**
   * In US dollars, of the answers whose models have a price (`SEGUE_MODELS`); absent: no such answer today.
   */
  costUsd?: number | null;
  /**
   * When both begin at 0 again.
   */
  resetsAt: string;
  /**
   * Input and output tokens since midnight UTC. With a limit, exactly what counts against it, descriptions and
   * rewording included.
   */
  tokens: number;
  /**
   * The limit of the day; absent: there is none.
   */
  tokensPerDay?: number | null;
}

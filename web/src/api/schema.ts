// Made from the OpenAPI document by `npm run types`. Change the Rust types, not this file.

/**
 * The id of a recording. ISRC, MusicBrainz id, file and server id are attributes of a recording and never its key.
 *
 * The id of the first recording with an ISRC is computed from the code, so that every node, every user and the SQL
 * migration get the same id without coordination. A recording without a code belongs to one owner.
 */
export type TrackId = string;
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
      id: CallId;
      input: unknown;
      name: string;
      type: 'tool_use';
    }
  | {
      content: unknown;
      is_error?: boolean;
      tool_use_id: CallId;
      type: 'tool_result';
    };
/**
 * One tool call. Ours, never the provider's: local servers number theirs from zero in every reply.
 */
export type CallId = string;
/**
 * One entry of one playlist.
 */
export type ItemId = string;
/**
 * What was done, for taking it back. That of a tool call is the id of the call.
 */
export type UndoId = string;
export type Provider = 'anthropic' | 'openai';
/**
 * What can be connected on the settings page.
 */
export type Service = 'model' | 'catalogue' | 'embedder';
export type ConnectionState = ('stored' | 'off') | 'settings' | 'unreadable';
/**
 * How far a decision reaches.
 */
export type ConsentScope = 'once' | 'conversation';
export type Decision = 'refuse' | 'once' | 'conversation';
export type DeletedKind = 'conversation' | 'playlist' | 'task' | 'track';
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
      input: unknown;
      seq: number;
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
       * What the answer has cost in US dollars, where the model's price is in the settings.
       */
      costUsd?: number | null;
      /**
       * What the user should know about the answer, e.g. `UNCONFIRMED_CLAIM`.
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
   * What this server offers beyond the basics.
   */
  features: string[];
  /**
   * What can be searched; absent while the index does not answer, and where several people share this server.
   */
  index?: IndexStatus | null;
  mode: string;
  model: ModelAbout;
  /**
   * How the page signs in where another issuer gives the tokens out.
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
  id: string;
  title: string;
}
/**
 * How much is indexed, and of what.
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
   * Tracks on their way into the index, or out of it.
   */
  pending: number;
  /**
   * Tracks that can be found now.
   */
  tracks: number;
}
export interface ModelAbout {
  /**
   * The one of `choices` that answers where none is chosen; absent when another one does.
   */
  choice?: string | null;
  /**
   * Names of the models that a conversation can choose from (`SEGUE_MODELS`); absent when there are none.
   */
  choices?: string[];
  /**
   * How to connect a real model, when none is.
   */
  hint?: string | null;
  id: string;
  offline: boolean;
}
export interface SignInAbout {
  /**
   * Where people sign in; `{return}` in it is the address to come back to.
   */
  signInUrl: string;
  /**
   * Answers `{"token": …}` to a browser that is signed in there.
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
   * How many tracks come before them; the end without it.
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
   * The catalogue's id of the album, or ours where it is made of tracks in the library.
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
export interface AlbumTracksOutput {
  albumId: string;
  albumTitle: string;
  artist: string;
  durationMs: number;
  summary: string;
  tracks: TrackResult[];
}
/**
 * A track, and what it is to this listener at the time of the call.
 */
export interface TrackResult {
  album: string;
  artist: string;
  /**
   * A path of this server for the picture in your own file; otherwise an address of the catalogue, to be shown through
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
   * Empty where neither a file nor the catalogue tells.
   */
  isrc: string;
  tidalId?: string | null;
  title: string;
  /**
   * The recording's own id. Everything that takes an ISRC takes it too.
   */
  trackId: TrackId;
}
export interface Arrangement {
  /**
   * The revision that this order was made from. A playlist that has another one by now stays as it is (409).
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
   * Codes that were found, as they were asked for.
   */
  found: string[];
  /**
   * Codes that cannot be ISRCs, and why; they are in `notFound` too.
   */
  invalid: {
    isrc: string;
    reason: string;
  }[];
  notFound: string[];
  summary: string;
  tracks: IndexedTrackResult[];
}
/**
 * A track with everything the index knows.
 */
export interface IndexedTrackResult {
  album: string;
  artist: string;
  /**
   * A path of this server for the picture in your own file; otherwise an address of the catalogue, to be shown through
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
   * Empty where neither a file nor the catalogue tells.
   */
  isrc: string;
  lyrics?: string | null;
  /**
   * Where each field came from; only with the details of one track.
   */
  provenance?: {
    [k: string]: string;
  };
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
   * The recording's own id. Everything that takes an ISRC takes it too.
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
   * Words of the query that the track's names, meaning or lyrics have, as the query spells them.
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
   * Who knows it.
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
   * Empty where there is none.
   */
  description: string;
  id: string;
  /**
   * Goes up with every edit.
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
   * A path of this server for the picture in your own file; otherwise an address of the catalogue, to be shown through
   * `/api/artwork?url=`.
   */
  artworkUrl?: string | null;
  /**
   * Seconds.
   */
  duration?: number | null;
  /**
   * Whether a file of yours is known that a player can open.
   */
  hasFile: boolean;
  inLibrary: boolean;
  isIndexed: boolean;
  /**
   * Part of the sample library.
   */
  isSample?: boolean;
  /**
   * Empty where neither a file nor the catalogue tells.
   */
  isrc: string;
  /**
   * Names this entry; the same recording may be on the playlist twice.
   */
  itemId: ItemId;
  reasoning: string;
  tidalId?: string | null;
  title: string;
  /**
   * The recording's own id. Everything that takes an ISRC takes it too.
   */
  trackId: TrackId;
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
   * `discover` or `tasks`, for a new conversation.
   */
  agent?: string | null;
  /**
   * Makes a repeated request harmless: the same id attaches to the turn that is already there.
   */
  clientMessageId?: string | null;
  conversationId?: string | null;
  /**
   * An earlier question of this conversation, asked again in the words of `message`: other words make a question beside
   * it, the same words another answer to it. What was there stays, on a branch of its own.
   */
  editOf?: string | null;
  /**
   * 1 to 10,000 characters.
   */
  message: string;
  /**
   * A model of the list in the settings, for this message and those after it in the conversation.
   */
  model?: string | null;
}
export interface Checked {
  /**
   * What the service said, or what is wrong with it.
   */
  says: string;
  well: boolean;
}
export interface Choice {
  /**
   * One of the candidates, or any recording that is known: an ISRC or a trackId.
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
   * For `POST /api/undo/{id}`.
   */
  undoId: string;
  updatedAt: string;
}
/**
 * How a service is connected, without its secret.
 */
export interface ConnectionLine {
  /**
   * What was stored or removed is used from the next start on.
   */
  atNextStart: boolean;
  clientId?: string | null;
  /**
   * Whether a key or a secret is stored. It is never shown.
   */
  hasSecret: boolean;
  model?: string | null;
  /**
   * Why it is not used, in words.
   */
  problem?: string | null;
  provider?: Provider | null;
  service: Service;
  /**
   * The settings of the server that decide, when `state` is `settings`.
   */
  settings: string[];
  state: ConnectionState;
  url?: string | null;
}
export interface Connections {
  connections: ConnectionLine[];
  /**
   * What to set before a secret can be stored; absent when one can.
   */
  missingKey?: string | null;
}
/**
 * What became of a question.
 */
export interface ConsentLine {
  /**
   * False while it waits for a decision.
   */
  decided: boolean;
  id: string;
  /**
   * How far the consent reaches; absent while it waits, and when it was refused.
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
   * The line with the words that were searched for, where a message has them.
   */
  match?: string | null;
  /**
   * The model that was chosen for it, by its name in `SEGUE_MODELS`; absent: the active one answers.
   */
  model?: string | null;
  /**
   * Pinned by its user: it comes first in the list.
   */
  pinned: boolean;
  /**
   * The beginning of the newest message.
   */
  preview: string;
  /**
   * Whether a turn runs in it now.
   */
  running: boolean;
  title: string;
  updatedAt: string;
}
/**
 * What to change about a conversation. A field that is absent stays as it is.
 */
export interface ConversationChange {
  /**
   * A model of the list in the settings, for the messages to come; `null`: the active one.
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
 * One deleted thing.
 */
export interface Deleted {
  deletedAt: string;
  /**
   * The newest message of a conversation, the description of a playlist or task, the artist of a track.
   */
  detail: string;
  /**
   * From then on it cannot be restored.
   */
  expiresAt: string;
  /**
   * For its own `restore` endpoint, and for `DELETE /api/trash/{id}`.
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
   * For `POST /api/undo/{id}`.
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
 * A track, and what it is to this listener at the time of the call.
 */
export interface LibraryEntry {
  addedAt: string;
  album: string;
  artist: string;
  /**
   * A path of this server for the picture in your own file; otherwise an address of the catalogue, to be shown through
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
   * Empty where neither a file nor the catalogue tells.
   */
  isrc: string;
  lastPlayedAt?: string | null;
  /**
   * Where the audio is: a file of this server, or what an import said.
   */
  location?: string | null;
  /**
   * How sure it is which recording this is: `matched`, or `ambiguous` or `unmatched` and still looked for.
   */
  match: string;
  /**
   * How often a history says it was played.
   */
  plays: number;
  tidalId?: string | null;
  title: string;
  /**
   * The recording's own id. Everything that takes an ISRC takes it too.
   */
  trackId: TrackId;
  trackNumber?: number | null;
  year?: number | null;
}
export interface EditPlaylistOutput {
  action: 'rename' | 'add' | 'remove' | 'move';
  /**
   * What was added, removed or moved.
   */
  changed: {
    artist: string;
    /**
     * Where it is now, or was before it was removed; from 1.
     */
    position: number;
    title: string;
  }[];
  durationMs: number;
  id: string;
  summary: string;
  title: string;
  trackCount: number;
  /**
   * For `POST /api/undo/{id}`.
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
 * A step that needs a person.
 */
export interface Failure {
  artist: string;
  at: string;
  /**
   * Empty where the track has none.
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
 * One file in numbers.
 */
export interface FileCounts {
  ambiguous: number;
  file: string;
  /**
   * What kind of file it is, for people.
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
   * What a probe has found, in one line; absent before one.
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
 * A genre, or the first year of a decade, of the user's tracks.
 */
export interface GroupLine {
  name: string;
  trackCount: number;
}
/**
 * What an import did, for programs: counts first, then what needs a person.
 */
export interface ImportAnswer {
  /**
   * Tracks that were not in the library before.
   */
  added: number;
  /**
   * Tracks that were.
   */
  alreadyThere: number;
  /**
   * Entries that could mean several recordings: choose with `POST /api/library/unmatched/{id}`.
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
   * Entries that no catalogue has confirmed: tracks of the library all the same, and looked for again.
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
   * What it could be, best first.
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
   * Why.
   */
  reason: string;
  title: string;
  /**
   * The track that it is meanwhile: it can be found, played and listed like any other.
   */
  trackId?: string | null;
}
export interface LineFailure {
  file: string;
  line: number;
  reason: string;
}
/**
 * A file that was imported, with its report.
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
 * How much is indexed, how much is on its way, and what is in its way.
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
   * Steps that failed and will not be tried again by themselves.
   */
  failed: number;
  /**
   * Which of your tracks they are of, newest first.
   */
  failures: Failure[];
  /**
   * The sample library is among what you can find; `DELETE /api/library/sample` removes it.
   */
  hasSample: boolean;
  /**
   * Entries of imports that are being looked for.
   */
  lookingFor: number;
  /**
   * Tracks on their way into the index, or out of it.
   */
  pending: number;
  /**
   * How far each step has come.
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
 * How far one step has come.
 */
export interface StepProgress {
  /**
   * Tracks for which it has ended, well or not at all needed.
   */
  done: number;
  /**
   * Tracks for which a person must look.
   */
  failed: number;
  /**
   * Tracks that went without, because the source is switched off.
   */
  off: number;
  running: number;
  /**
   * Tracks for which it will be done, now or when an earlier step has ended.
   */
  waiting: number;
}
export interface ListPlaylistsOutput {
  durationMs: number;
  /**
   * Newest first; only the one that was asked for, if any.
   */
  playlists: PlaylistLine[];
  summary: string;
  /**
   * In playing order; empty unless one playlist was asked for.
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
  summary: string;
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
   * Servers on the usual ports of this machine. They get no word of a user before one is chosen. Only for operators.
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
   * As `OPENAI_BASE_URL` wants it.
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
 * What an operator enters. A secret that is left out stays as it is while the server or the id is the same; an empty one
 * is removed.
 */
export interface NewConnection {
  /**
   * Of the catalogue.
   */
  clientId?: string | null;
  clientSecret?: string | null;
  key?: string | null;
  /**
   * Name of the model; the provider's current one when left out.
   */
  model?: string | null;
  /**
   * Of a model.
   */
  provider?: Provider | null;
  /**
   * Base URL of a model's or an embedder's server; the provider's own when left out.
   */
  url?: string | null;
}
export interface NewPlaylist {
  /**
   * At most 2000 characters.
   */
  description?: string;
  /**
   * 1 to 200 characters.
   */
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
  /**
   * At most 2000 characters.
   */
  description?: string;
  /**
   * 1 to 200 characters.
   */
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
   * The catalogue's id of the album, or ours where it is made of tracks in the library.
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
   * Calls that waited for your consent, or still do; see `POST /api/consents/{consent_id}`.
   */
  consents: ConsentLine[];
  createdAt: string;
  id: string;
  /**
   * The line with the words that were searched for, where a message has them.
   */
  match?: string | null;
  /**
   * Oldest first.
   */
  messages: StoredMessage[];
  /**
   * The model that was chosen for it, by its name in `SEGUE_MODELS`; absent: the active one answers.
   */
  model?: string | null;
  /**
   * The `cursor` of the page with the messages before these; absent when there are none.
   */
  next?: string | null;
  /**
   * Pinned by its user: it comes first in the list.
   */
  pinned: boolean;
  /**
   * The beginning of the newest message.
   */
  preview: string;
  /**
   * Whether a turn runs in it now.
   */
  running: boolean;
  title: string;
  updatedAt: string;
}
export interface StoredMessage {
  content: Block[];
  createdAt: string;
  error?: TurnError | null;
  id: string;
  /**
   * The message it follows; none for a first question.
   */
  parentId?: string | null;
  role: Role;
  /**
   * The branches that part here; absent where there is only one.
   */
  siblings?: Siblings | null;
  status: MessageStatus;
  /**
   * The turn that wrote it; answers only.
   */
  turnId?: string | null;
  usage?: Usage | null;
}
/**
 * How a turn failed, as it was shown.
 */
export interface TurnError {
  code: FailureCode;
  message: string;
  retryable: boolean;
}
/**
 * The messages that stand in one place of a conversation, one a branch.
 */
export interface Siblings {
  count: number;
  /**
   * Oldest first, this message among them.
   */
  ids: string[];
  /**
   * Which of them this message is, from 0.
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
 * What to change. A field that is absent stays as it is; `null` or an empty text clears the description.
 */
export interface PlaylistChange {
  description?: string | null;
  title?: string | null;
}
/**
 * A playlist with flags that are true now, not when it was made.
 */
export interface PlaylistDetails {
  createdAt: string;
  /**
   * Empty where there is none.
   */
  description: string;
  id: string;
  /**
   * Goes up with every edit.
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
   * Entries that are looked for again.
   */
  entries: number;
}
/**
 * What a scan found.
 */
export interface ScanReport {
  /**
   * Files that are new and can be read.
   */
  added: number;
  changed: number;
  /**
   * Audio files that are there.
   */
  files: number;
  /**
   * Their tracks have left the library; they come back with the file, or are restored by hand.
   */
  gone: number;
  /**
   * What else lies there, by reason.
   */
  leftOut: {
    [k: string]: number;
  };
  moved: number;
  /**
   * Playlist files that are new or have changed.
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
   * A `server` of `GET /api/models`; absent: nothing is chosen any more.
   */
  server?: string | null;
}
export interface SelectedAnswer {
  active: Active;
}
export interface SemanticSearchOutput {
  /**
   * The limits that were understood. Results keep them exactly.
   *
   * Items: One thing that was understood, for a chip that can be removed.
   */
  applied: {
    kind:
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
     * In plain English: `1990–1999`, `without drums`.
     */
    label: string;
    /**
     * The words of the message it was read from: without them the limit is gone. Empty: it was given as a field.
     */
    text: string;
  }[];
  durationMs: number;
  /**
   * What comes closest when nothing matches.
   */
  nearest?: IndexedTrackResult[];
  query: string;
  summary: string;
  /**
   * How many tracks match, also beyond `limit`.
   */
  totalFound: number;
  /**
   * What matches, best first.
   */
  tracks: IndexedTrackResult[];
  /**
   * How many tracks were left out because nothing tells whether they meet a limit.
   */
  undecided?: number | null;
}
export interface Several {
  /**
   * 1 to 1000. What is not in the library is left out.
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
  /**
   * 1 to 64 characters.
   */
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
 * A folder that is kept in step.
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
   * What the last scan found.
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
   * For `POST /api/undo/{id}`.
   */
  undoId: string;
  /**
   * Codes that no source knows. They are not on the playlist.
   */
  unknown: string[];
}
/**
 * What to change. A field that is absent stays as it is; `null` clears one that may be empty.
 */
export interface TaskChange {
  /**
   * Puts it after this task.
   */
  after?: string | null;
  /**
   * Puts it before this task.
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
  albums?:
    | {
        artist: string;
        artworkUrl?: string | null;
        /**
         * The catalogue's id of the album, or ours where it is made of tracks in the library.
         */
        id: string;
        inLibrary: boolean;
        releaseDate?: string | null;
        title: string;
        trackCount: number;
      }[]
    | null;
  durationMs: number;
  /**
   * True: Tidal had more, but did not deliver it in time.
   */
  isIncomplete?: boolean;
  query: string;
  /**
   * What Tidal was asked for, where the query is longer than Tidal reads.
   */
  searchedFor?: string | null;
  summary: string;
  totalFound: {
    albums: number;
    tracks: number;
  };
  tracks?: TrackResult[] | null;
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
 * What was taken back.
 */
export interface Undone {
  /**
   * The playlist that is as it was; absent when it was something else.
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
   * For `POST /api/undo/{id}`.
   */
  undoId: string;
  updatedAt: string;
}

-- A recording has an id of its own. ISRC, MusicBrainz id and Tidal id are names of a recording; several recordings may
-- share one name (movements of one work share an ISRC). The id of the first recording with an ISRC follows from the
-- code: `TrackId::of_isrc` computes the same text.
--
-- What a catalogue confirmed is public. What a file or export says belongs to its owner: it is in `library_tracks.own`
-- and in documents that only the owner reads.
CREATE TABLE migrating_ids AS
SELECT isrc, substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-8' || substr(h, 13, 3) || '-8' || substr(h, 16, 3) || '-'
        || substr(h, 19, 6) || '000000' AS id
FROM (SELECT isrc, encode(convert_to(isrc, 'UTF8'), 'hex') AS h FROM (
    SELECT isrc FROM tracks UNION SELECT isrc FROM ingested_tracks UNION SELECT isrc FROM library_tracks
    UNION SELECT isrc FROM library_album_tracks UNION SELECT isrc FROM catalogue_tracks) AS codes) AS hexed;
CREATE INDEX migrating_ids_by_isrc ON migrating_ids (isrc);

-- Codes whose description holds words of a file: 0.1 kept them for everyone.
CREATE TABLE migrating_private AS
SELECT isrc FROM (SELECT isrc, (track -> 'provenance')::text AS says FROM ingested_tracks) AS described WHERE says LIKE '%, imported"%';
CREATE INDEX migrating_private_by_isrc ON migrating_private (isrc);

-- The names of a recording, public ones only: what a user's file calls it is with the user's track.
CREATE TABLE recording_names (
    kind         TEXT NOT NULL,
    value        TEXT NOT NULL,
    recording_id TEXT NOT NULL,
    PRIMARY KEY (kind, value, recording_id)
);
CREATE INDEX recording_names_by_recording ON recording_names (recording_id);

-- A user's tracks. `own` is what the user's file or export says; it overrides public facts for this user alone.
ALTER TABLE library_tracks RENAME TO library_tracks_0_1;
CREATE TABLE library_tracks (
    user_id        TEXT NOT NULL,
    recording_id   TEXT NOT NULL,
    isrc           TEXT,
    tidal_id       TEXT,
    name           TEXT NOT NULL,
    duration       DOUBLE PRECISION,
    title          TEXT NOT NULL,
    artist         TEXT NOT NULL,
    album          TEXT NOT NULL,
    album_artist   TEXT,
    searchable     TEXT NOT NULL,
    genre          TEXT,
    year           INTEGER,
    disc_number    INTEGER,
    track_number   INTEGER,
    own            JSONB,
    is_sample      BOOLEAN NOT NULL DEFAULT FALSE,
    n_plays        INTEGER NOT NULL DEFAULT 0,
    last_played_at TIMESTAMPTZ,
    added_at       TIMESTAMPTZ NOT NULL,
    removed_at     TIMESTAMPTZ,
    PRIMARY KEY (user_id, recording_id)
);
INSERT INTO library_tracks (user_id, recording_id, isrc, tidal_id, name, duration, title, artist, album, searchable,
    is_sample, added_at, removed_at)
SELECT l.user_id, m.id, l.isrc, l.tidal_id, l.recording, l.duration, l.title, l.artist, l.album, l.searchable,
    COALESCE((t.track #>> '{provenance,all}') = 'sample library', FALSE), l.added_at, l.removed_at
FROM library_tracks_0_1 l JOIN migrating_ids m ON m.isrc = l.isrc LEFT JOIN tracks t ON t.isrc = l.isrc;
DROP TABLE library_tracks_0_1;
CREATE INDEX library_tracks_by_name ON library_tracks (user_id, name);
CREATE INDEX library_tracks_by_isrc ON library_tracks (isrc, user_id);
CREATE INDEX library_tracks_by_tidal_id ON library_tracks (user_id, tidal_id);
CREATE INDEX library_tracks_by_recording ON library_tracks (recording_id);
CREATE INDEX library_tracks_by_artist ON library_tracks (user_id, artist, album);

ALTER TABLE library_album_tracks RENAME TO library_album_tracks_0_1;
CREATE TABLE library_album_tracks (
    user_id      TEXT NOT NULL,
    album_id     TEXT NOT NULL,
    recording_id TEXT NOT NULL,
    isrc         TEXT,
    name         TEXT NOT NULL,
    duration     DOUBLE PRECISION,
    PRIMARY KEY (user_id, album_id, recording_id),
    FOREIGN KEY (user_id, album_id) REFERENCES library_albums (user_id, album_id) ON DELETE CASCADE
);
INSERT INTO library_album_tracks (user_id, album_id, recording_id, isrc, name, duration)
SELECT l.user_id, l.album_id, m.id, l.isrc, l.recording, l.duration
FROM library_album_tracks_0_1 l JOIN migrating_ids m ON m.isrc = l.isrc;
DROP TABLE library_album_tracks_0_1;
CREATE INDEX library_album_tracks_by_recording ON library_album_tracks (recording_id);
CREATE INDEX library_album_tracks_by_user ON library_album_tracks (user_id, recording_id);

-- What is searched: one public document of each recording (owner ''), and one for each user whose own words differ.
-- `readers` are the marks that a search's scope names. A document that is gone stays as a row without content until
-- every index has seen it go.
CREATE TABLE documents (
    id           TEXT PRIMARY KEY,
    recording_id TEXT NOT NULL,
    owner        TEXT NOT NULL,
    revision     BIGINT NOT NULL,
    name         TEXT NOT NULL,
    is_sample    BOOLEAN NOT NULL DEFAULT FALSE,
    readers      JSONB NOT NULL,
    track        JSONB,
    updated_at   TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX documents_by_revision ON documents (revision);
CREATE INDEX documents_by_recording ON documents (recording_id, owner);
CREATE INDEX documents_by_name ON documents (name COLLATE "C");

-- What is being enriched. An overlay is a user's own words over a public document: it takes what that one learns.
ALTER TABLE ingested_tracks RENAME TO ingested_tracks_0_1;
ALTER TABLE ingest_steps RENAME TO ingest_steps_0_1;
DROP INDEX ingested_tracks_by_recording;
DROP INDEX ingest_steps_by_due;
DROP INDEX ingest_steps_by_lease;
CREATE TABLE ingested_tracks (
    id           TEXT PRIMARY KEY,
    recording_id TEXT NOT NULL,
    owner        TEXT NOT NULL,
    is_overlay   BOOLEAN NOT NULL,
    name         TEXT NOT NULL,
    track        JSONB NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX ingested_tracks_by_recording ON ingested_tracks (recording_id, owner);
CREATE TABLE ingest_steps (
    document_id TEXT NOT NULL REFERENCES ingested_tracks (id) ON DELETE CASCADE,
    step        TEXT NOT NULL,
    state       TEXT NOT NULL,
    priority    INTEGER NOT NULL,
    tries       INTEGER NOT NULL,
    due_at      TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ,
    node        TEXT,
    version     TEXT,
    result      JSONB,
    error       TEXT,
    settled_at  TIMESTAMPTZ,
    PRIMARY KEY (document_id, step)
);
CREATE INDEX ingest_steps_by_due ON ingest_steps (step, state, priority, due_at);
CREATE INDEX ingest_steps_by_lease ON ingest_steps (lease_until) WHERE state = 'running';

-- Which old description becomes which document. Words of a file become the document of the one user who has it; where
-- several have it nobody knows whose words they are, so each begins again from what their own library says.
CREATE TABLE migrating_documents AS
SELECT i.isrc, m.id AS recording_id, '' AS owner, m.id AS id, TRUE AS is_kept
FROM ingested_tracks_0_1 i JOIN migrating_ids m ON m.isrc = i.isrc
WHERE i.isrc NOT IN (SELECT isrc FROM migrating_private)
UNION ALL
SELECT l.isrc, l.recording_id, l.user_id, gen_random_uuid()::text,
    (SELECT COUNT(*) FROM library_tracks o WHERE o.recording_id = l.recording_id) = 1
FROM library_tracks l WHERE l.isrc IN (SELECT isrc FROM migrating_private);
CREATE INDEX migrating_documents_by_isrc ON migrating_documents (isrc);

INSERT INTO ingested_tracks (id, recording_id, owner, is_overlay, name, track, updated_at)
SELECT d.id, d.recording_id, d.owner, FALSE, i.recording, i.track, i.updated_at
FROM migrating_documents d JOIN ingested_tracks_0_1 i ON i.isrc = d.isrc WHERE d.is_kept;
INSERT INTO ingested_tracks (id, recording_id, owner, is_overlay, name, track, updated_at)
SELECT d.id, d.recording_id, d.owner, FALSE, l.name, jsonb_build_object('trackId', l.recording_id, 'isrc', l.isrc, 'title', l.title, 'artist', l.artist, 'album', l.album,
        'duration', l.duration, 'tidalId', l.tidal_id), l.added_at
FROM migrating_documents d JOIN library_tracks l ON l.recording_id = d.recording_id AND l.user_id = d.owner
WHERE NOT d.is_kept;
UPDATE library_tracks SET own = (SELECT i.track FROM ingested_tracks i
    WHERE i.recording_id = library_tracks.recording_id AND i.owner = library_tracks.user_id);

INSERT INTO ingest_steps (document_id, step, state, priority, tries, due_at, lease_until, node, version, result, error,
    settled_at)
SELECT d.id, s.step, s.state, s.priority, s.tries, s.due_at, s.lease_until, s.node, s.version, s.result, s.error,
    s.settled_at
FROM migrating_documents d JOIN ingest_steps_0_1 s ON s.isrc = d.isrc WHERE d.is_kept;
INSERT INTO ingest_steps (document_id, step, state, priority, tries, due_at)
SELECT d.id, s.step, CASE WHEN s.step IN ('lyrics', 'features') THEN 'waiting' ELSE 'blocked' END, 10, 0, s.due_at
FROM migrating_documents d JOIN ingest_steps_0_1 s ON s.isrc = d.isrc WHERE NOT d.is_kept;

-- Readers are filled in by the program, which then makes the index anew.
INSERT INTO documents (id, recording_id, owner, revision, name, is_sample, readers, track, updated_at)
SELECT id, recording_id, owner, ROW_NUMBER() OVER (ORDER BY id), name, is_sample, '[]'::jsonb, track, updated_at
FROM (
    SELECT m.id, m.id AS recording_id, '' AS owner, t.recording AS name,
        COALESCE((t.track #>> '{provenance,all}') = 'sample library', FALSE) AS is_sample, CASE WHEN t.track #>> '{provenance,all}' = 'sample library' THEN t.track || '{"isSample": true}' ELSE t.track END AS track, t.updated_at
    FROM tracks t JOIN migrating_ids m ON m.isrc = t.isrc
    WHERE t.track IS NOT NULL AND t.isrc NOT IN (SELECT isrc FROM migrating_private)
    UNION ALL
    SELECT d.id, d.recording_id, d.owner, t.recording, FALSE, t.track, t.updated_at
    FROM tracks t JOIN migrating_documents d ON d.isrc = t.isrc
    WHERE t.track IS NOT NULL AND d.owner <> '' AND d.is_kept
    UNION ALL
    SELECT i.id, i.recording_id, i.owner, i.name, FALSE, i.track, i.updated_at
    FROM ingested_tracks i JOIN migrating_documents d ON d.id = i.id WHERE d.owner <> '' AND NOT d.is_kept
) AS found;
UPDATE track_revision SET value = (SELECT COALESCE(MAX(revision), 0) FROM documents);
INSERT INTO recording_names (kind, value, recording_id)
SELECT 'isrc', m.isrc, m.id FROM migrating_ids m WHERE m.isrc IN (SELECT isrc FROM tracks) OR m.isrc IN
    (SELECT isrc FROM ingested_tracks_0_1);

-- An entry that no catalogue has confirmed is a track too; its row says which.
ALTER TABLE open_entries ADD COLUMN recording_id TEXT;
CREATE INDEX open_entries_by_recording ON open_entries (user_id, recording_id);

-- Folders that are kept in step, and the files a user has.
CREATE TABLE library_sources (
    id         UUID PRIMARY KEY,
    user_id    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    path       TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    synced_at  TIMESTAMPTZ,
    report     JSONB
);
CREATE UNIQUE INDEX library_sources_by_path ON library_sources (user_id, path);
CREATE TABLE library_files (
    user_id      TEXT NOT NULL,
    path         TEXT NOT NULL,
    source_id    UUID,
    recording_id TEXT NOT NULL,
    size         BIGINT NOT NULL,
    modified_ms  BIGINT NOT NULL,
    content_hash TEXT,
    missing_at   TIMESTAMPTZ,
    PRIMARY KEY (user_id, path)
);
CREATE INDEX library_files_by_recording ON library_files (user_id, recording_id);
CREATE INDEX library_files_by_source ON library_files (source_id);
CREATE INDEX library_files_by_content ON library_files (user_id, content_hash);

-- Who removed the sample, and whether it was ever offered: it is loaded once, into an empty installation.
CREATE TABLE sample_removals (
    user_id    TEXT PRIMARY KEY,
    removed_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE sample_offers (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    offered_at TIMESTAMPTZ NOT NULL
);
INSERT INTO sample_offers (one, offered_at)
SELECT 1, now() WHERE EXISTS (SELECT 1 FROM tracks) OR EXISTS (SELECT 1 FROM library_tracks)
    OR EXISTS (SELECT 1 FROM conversations) OR EXISTS (SELECT 1 FROM tasks) OR EXISTS (SELECT 1 FROM accounts);

DROP TABLE ingest_steps_0_1;
DROP TABLE ingested_tracks_0_1;
DROP TABLE tracks;
DROP TABLE migrating_documents;
DROP TABLE migrating_private;
DROP TABLE migrating_ids;

-- What a library says beyond names: where the audio of a track is, when it was first played, and whether it left the
-- library only because its file was gone.
ALTER TABLE library_tracks ADD COLUMN location TEXT;
ALTER TABLE library_tracks ADD COLUMN first_played_at TIMESTAMPTZ;
ALTER TABLE library_tracks ADD COLUMN left_with_file BOOLEAN NOT NULL DEFAULT FALSE;

-- Files that a user has. A CUE sheet cuts one file into parts, counted from 1; a whole file is part 0. `beside` tells what
-- lies beside the file (lyrics, sheet, picture) as the last scan saw it, `artwork` is 'embedded' or the path of a picture, and
-- `problem` says why a file cannot be read.
ALTER TABLE library_files RENAME TO library_files_0008;
ALTER TABLE library_files_0008 DROP CONSTRAINT library_files_pkey;
DROP INDEX library_files_by_recording;
DROP INDEX library_files_by_source;
DROP INDEX library_files_by_content;
CREATE TABLE library_files (
    user_id      TEXT NOT NULL,
    path         TEXT NOT NULL,
    part         INTEGER NOT NULL DEFAULT 0,
    source_id    UUID,
    recording_id TEXT NOT NULL,
    size         BIGINT NOT NULL,
    modified_ms  BIGINT NOT NULL,
    beside       TEXT NOT NULL DEFAULT '',
    content_hash TEXT,
    artwork      TEXT,
    problem      TEXT,
    is_pinned    BOOLEAN NOT NULL DEFAULT FALSE,
    missing_at   TIMESTAMPTZ,
    PRIMARY KEY (user_id, path, part)
);
INSERT INTO library_files (user_id, path, source_id, recording_id, size, modified_ms, content_hash, missing_at)
SELECT user_id, path, source_id, recording_id, size, modified_ms, content_hash, missing_at FROM library_files_0008;
DROP TABLE library_files_0008;
CREATE INDEX library_files_by_recording ON library_files (user_id, recording_id);
CREATE INDEX library_files_by_source ON library_files (source_id);
-- Files of 0008 are read once more: the scan did not look for pictures and sheets then.
UPDATE library_files SET modified_ms = -1;

-- Playlist files of a folder, as the last scan saw them. `n_missing`: entries whose file was not there.
CREATE TABLE library_playlist_files (
    user_id     TEXT NOT NULL,
    path        TEXT NOT NULL,
    source_id   UUID NOT NULL,
    size        BIGINT NOT NULL,
    modified_ms BIGINT NOT NULL,
    n_missing   INTEGER NOT NULL,
    PRIMARY KEY (user_id, path)
);
CREATE INDEX library_playlist_files_by_source ON library_playlist_files (source_id);

-- Names that one user's files give a recording: MusicBrainz ids and further ISRCs. They are that user's alone.
CREATE TABLE own_names (
    user_id      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    value        TEXT NOT NULL,
    recording_id TEXT NOT NULL,
    PRIMARY KEY (user_id, kind, value, recording_id)
);
CREATE INDEX own_names_by_recording ON own_names (user_id, recording_id);

-- Two recordings that are one to this user. What an import finds for `recording_id` goes to `into_id`.
CREATE TABLE track_merges (
    id           UUID PRIMARY KEY,
    user_id      TEXT NOT NULL,
    recording_id TEXT NOT NULL,
    into_id      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    before       JSONB NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    undone_at    TIMESTAMPTZ
);
CREATE INDEX track_merges_by_recording ON track_merges (user_id, recording_id);

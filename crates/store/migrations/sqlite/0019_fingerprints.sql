-- What the audio of a user's files sounds like (Chromaprint), by the hash of the audio. `state`: 'done', 'none' (the file says
-- nothing about its recording) or 'damaged' (it cannot be decoded); `problem` says why there is no fingerprint.
CREATE TABLE fingerprints (
    id           INTEGER PRIMARY KEY,
    user_id      TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    state        TEXT NOT NULL,
    seconds      REAL,
    words        BLOB,
    problem      TEXT,
    made_at      TEXT NOT NULL
);
CREATE UNIQUE INDEX fingerprints_by_content ON fingerprints (user_id, content_hash);
CREATE INDEX fingerprints_damaged ON fingerprints (user_id) WHERE state = 'damaged';

-- Parts of fingerprints that find similar ones.
CREATE TABLE fingerprint_keys (
    key            INTEGER NOT NULL,
    fingerprint_id INTEGER NOT NULL REFERENCES fingerprints (id) ON DELETE CASCADE,
    PRIMARY KEY (key, fingerprint_id)
) WITHOUT ROWID;
CREATE INDEX fingerprint_keys_by_fingerprint ON fingerprint_keys (fingerprint_id);

-- Whether the sound of a file was compared with the user's others since the file was last read.
ALTER TABLE library_files ADD COLUMN is_compared BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX library_files_uncompared ON library_files (user_id, source_id, path)
    WHERE NOT is_compared AND missing_at IS NULL AND problem IS NULL AND part = 0 AND content_hash IS NOT NULL;
CREATE INDEX library_files_by_content ON library_files (user_id, content_hash);

-- 'user', or 'sound': two files were recognised as one recording.
ALTER TABLE track_merges ADD COLUMN cause TEXT NOT NULL DEFAULT 'user';

-- The node that keeps a folder in step.
ALTER TABLE library_sources ADD COLUMN node TEXT;
ALTER TABLE library_sources ADD COLUMN lease_until TEXT;

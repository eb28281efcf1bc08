-- One row a file that was imported: its report without what is still open.
CREATE TABLE imports (
    id         UUID PRIMARY KEY,
    user_id    TEXT NOT NULL,
    report     JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX imports_by_user ON imports (user_id, id);

-- Entries that are still open: unmatched or ambiguous. The id follows from the owner and what the entry says, so that a
-- second import of the same file finds it again. A lease keeps two nodes from looking for the same one.
CREATE TABLE open_entries (
    id          UUID PRIMARY KEY,
    user_id     TEXT NOT NULL,
    import_id   UUID NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    file        TEXT NOT NULL,
    kind        TEXT NOT NULL,
    entry       JSONB NOT NULL,
    found       JSONB NOT NULL,
    playlists   JSONB NOT NULL,
    -- The listener does not want to see it again.
    dismissed   BOOLEAN NOT NULL,
    tries       INTEGER NOT NULL,
    due_at      TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ,
    node        TEXT
);
CREATE INDEX open_entries_by_due ON open_entries (due_at) WHERE NOT dismissed;
CREATE INDEX open_entries_by_import ON open_entries (import_id);
CREATE INDEX open_entries_by_user ON open_entries (user_id, id);

-- What a catalogue elsewhere answered to a question, so that nobody asks it twice within a while.
CREATE TABLE catalogue_answers (
    catalogue   TEXT NOT NULL,
    question    TEXT NOT NULL,
    candidates  JSONB NOT NULL,
    answered_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (catalogue, question)
);

-- A track on its way into the index, as the file or the catalogue described it. It stays when the track leaves every
-- library, together with what its steps found: coming back asks nobody again.
CREATE TABLE ingested_tracks (
    isrc       TEXT PRIMARY KEY,
    recording  TEXT NOT NULL,
    track      JSONB NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX ingested_tracks_by_recording ON ingested_tracks (recording COLLATE "C");
CREATE INDEX tracks_by_recording ON tracks (recording COLLATE "C");
CREATE INDEX library_tracks_by_isrc ON library_tracks (isrc);
CREATE INDEX library_album_tracks_by_code ON library_album_tracks (isrc);

-- The steps of each track and what they found. States: blocked (an earlier step comes first), waiting, running (leased
-- to a node), done, failed (needs a person), off (its source is switched off), parked (in nobody's library any more).
CREATE TABLE ingest_steps (
    isrc        TEXT NOT NULL REFERENCES ingested_tracks (isrc) ON DELETE CASCADE,
    step        TEXT NOT NULL,
    state       TEXT NOT NULL,
    priority    INTEGER NOT NULL,
    tries       INTEGER NOT NULL,
    due_at      TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ,
    node        TEXT,
    -- By which prompt or method the result was made.
    version     TEXT,
    result      JSONB,
    error       TEXT,
    -- When the last try ended, well or not; empty while there was none.
    settled_at  TIMESTAMPTZ,
    PRIMARY KEY (isrc, step)
);
CREATE INDEX ingest_steps_by_due ON ingest_steps (step, state, priority, due_at);
CREATE INDEX ingest_steps_by_lease ON ingest_steps (lease_until) WHERE state = 'running';

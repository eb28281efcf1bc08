-- What is known about recordings, for everyone. The index is a projection of this table and reads it by revision;
-- a track that is gone stays as a row without content until every index has seen it go.
CREATE TABLE tracks (
    isrc       TEXT PRIMARY KEY,
    revision   BIGINT NOT NULL,
    recording  TEXT NOT NULL,
    track      JSONB,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX tracks_by_revision ON tracks (revision);

-- One counter for all revisions. Its row lock makes transactions commit in the order of their revisions, so a reader
-- who has seen revision 7 will never be surprised by a 6.
CREATE TABLE track_revision (value BIGINT NOT NULL);
INSERT INTO track_revision (value) VALUES (0);

-- What the catalogue has shown us: an ISRC in here is a real recording, indexed or not.
CREATE TABLE catalogue_tracks (
    isrc    TEXT PRIMARY KEY,
    track   JSONB NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL
);

-- `recording` names the recording whatever its code: other codes of the same recording are found by it.
CREATE TABLE library_tracks (
    user_id    TEXT NOT NULL,
    isrc       TEXT NOT NULL,
    tidal_id   TEXT,
    recording  TEXT NOT NULL,
    duration   DOUBLE PRECISION,
    title      TEXT NOT NULL,
    artist     TEXT NOT NULL,
    album      TEXT NOT NULL,
    searchable TEXT NOT NULL,
    added_at   TIMESTAMPTZ NOT NULL,
    removed_at TIMESTAMPTZ,
    PRIMARY KEY (user_id, isrc)
);
CREATE INDEX library_tracks_by_recording ON library_tracks (user_id, recording);
CREATE INDEX library_tracks_by_tidal_id ON library_tracks (user_id, tidal_id);

CREATE TABLE library_albums (
    user_id    TEXT NOT NULL,
    album_id   TEXT NOT NULL,
    album      JSONB NOT NULL,
    title      TEXT NOT NULL,
    artist     TEXT NOT NULL,
    searchable TEXT NOT NULL,
    added_at   TIMESTAMPTZ NOT NULL,
    removed_at TIMESTAMPTZ,
    PRIMARY KEY (user_id, album_id)
);

-- The tracks of saved albums are in the library too.
CREATE TABLE library_album_tracks (
    user_id   TEXT NOT NULL,
    album_id  TEXT NOT NULL,
    isrc      TEXT NOT NULL,
    recording TEXT NOT NULL,
    duration  DOUBLE PRECISION,
    PRIMARY KEY (user_id, album_id, isrc),
    FOREIGN KEY (user_id, album_id) REFERENCES library_albums (user_id, album_id) ON DELETE CASCADE
);
CREATE INDEX library_album_tracks_by_isrc ON library_album_tracks (user_id, isrc);
CREATE INDEX library_album_tracks_by_recording ON library_album_tracks (user_id, recording);

CREATE TABLE playlists (
    id         UUID PRIMARY KEY,
    user_id    TEXT NOT NULL,
    title      TEXT NOT NULL,
    tracks     JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    deleted_at TIMESTAMPTZ
);
CREATE INDEX playlists_by_user ON playlists (user_id, id);

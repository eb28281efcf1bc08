-- What is known about recordings, for everyone. The index is a projection of this table and reads it by revision;
-- a track that is gone stays as a row without content until every index has seen it go.
CREATE TABLE tracks (
    isrc       TEXT PRIMARY KEY,
    revision   INTEGER NOT NULL,
    recording  TEXT NOT NULL,
    track      TEXT,
    updated_at TEXT NOT NULL
);
CREATE UNIQUE INDEX tracks_by_revision ON tracks (revision);

-- One counter for all revisions. Its row lock makes transactions commit in the order of their revisions, so a reader
-- who has seen revision 7 will never be surprised by a 6.
CREATE TABLE track_revision (value INTEGER NOT NULL);
INSERT INTO track_revision (value) VALUES (0);

-- What the catalogue has shown us: an ISRC in here is a real recording, indexed or not.
CREATE TABLE catalogue_tracks (
    isrc    TEXT PRIMARY KEY,
    track   TEXT NOT NULL,
    seen_at TEXT NOT NULL
);

-- `recording` names the recording whatever its code: other codes of the same recording are found by it.
CREATE TABLE library_tracks (
    user_id    TEXT NOT NULL,
    isrc       TEXT NOT NULL,
    tidal_id   TEXT,
    recording  TEXT NOT NULL,
    duration   REAL,
    title      TEXT NOT NULL,
    artist     TEXT NOT NULL,
    album      TEXT NOT NULL,
    searchable TEXT NOT NULL,
    added_at   TEXT NOT NULL,
    removed_at TEXT,
    PRIMARY KEY (user_id, isrc)
);
CREATE INDEX library_tracks_by_recording ON library_tracks (user_id, recording);
CREATE INDEX library_tracks_by_tidal_id ON library_tracks (user_id, tidal_id);

CREATE TABLE library_albums (
    user_id    TEXT NOT NULL,
    album_id   TEXT NOT NULL,
    album      TEXT NOT NULL,
    title      TEXT NOT NULL,
    artist     TEXT NOT NULL,
    searchable TEXT NOT NULL,
    added_at   TEXT NOT NULL,
    removed_at TEXT,
    PRIMARY KEY (user_id, album_id)
);

-- The tracks of saved albums are in the library too.
CREATE TABLE library_album_tracks (
    user_id   TEXT NOT NULL,
    album_id  TEXT NOT NULL,
    isrc      TEXT NOT NULL,
    recording TEXT NOT NULL,
    duration  REAL,
    PRIMARY KEY (user_id, album_id, isrc),
    FOREIGN KEY (user_id, album_id) REFERENCES library_albums (user_id, album_id) ON DELETE CASCADE
);
CREATE INDEX library_album_tracks_by_isrc ON library_album_tracks (user_id, isrc);
CREATE INDEX library_album_tracks_by_recording ON library_album_tracks (user_id, recording);

CREATE TABLE playlists (
    id         BLOB PRIMARY KEY,
    user_id    TEXT NOT NULL,
    title      TEXT NOT NULL,
    tracks     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    deleted_at TEXT
);
CREATE INDEX playlists_by_user ON playlists (user_id, id);

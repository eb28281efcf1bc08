-- How many tracks a user has in all and of each artist, album, genre and year, so that no list counts the user's rows. Triggers
-- keep it: every statement that changes a library counts, whichever it is. Keys are cut like those of the indexes of 0015.
CREATE TABLE library_groups (
    user_id  TEXT NOT NULL,
    kind     TEXT NOT NULL,
    key      TEXT NOT NULL,
    name     TEXT NOT NULL,
    artist   TEXT NOT NULL,
    year     INTEGER,
    added_at TEXT,
    n_tracks INTEGER NOT NULL,
    PRIMARY KEY (user_id, kind, key)
);
CREATE INDEX library_groups_by_age ON library_groups (user_id, added_at DESC, key) WHERE kind = 'album';

-- The groups of each track.
CREATE VIEW library_keys AS
SELECT user_id, recording_id, 'all' AS kind, '' AS key, '' AS name, '' AS artist, NULL AS year, NULL AS added_at
    FROM library_tracks WHERE removed_at IS NULL
UNION ALL SELECT user_id, recording_id, 'artist', LOWER(SUBSTR(artist, 1, 400)), artist, '', NULL, NULL
    FROM library_tracks WHERE removed_at IS NULL AND artist <> ''
UNION ALL SELECT user_id, recording_id, 'album',
    LOWER(SUBSTR(album, 1, 200)) || char(31) || LOWER(SUBSTR(COALESCE(album_artist, artist), 1, 200)),
    album, COALESCE(album_artist, artist), year, added_at FROM library_tracks WHERE removed_at IS NULL AND album <> ''
UNION ALL SELECT user_id, recording_id, 'genre', LOWER(SUBSTR(genre, 1, 400)), genre, '', NULL, NULL
    FROM library_tracks WHERE removed_at IS NULL AND genre IS NOT NULL
UNION ALL SELECT user_id, recording_id, 'year', CAST(year AS TEXT), CAST(year AS TEXT), '', year, NULL
    FROM library_tracks WHERE removed_at IS NULL AND year IS NOT NULL;

INSERT INTO library_groups (user_id, kind, key, name, artist, year, added_at, n_tracks)
SELECT user_id, kind, key, MIN(name), MIN(artist), MIN(year), MAX(added_at), COUNT(*) FROM library_keys
GROUP BY user_id, kind, key;

CREATE TRIGGER library_groups_add AFTER INSERT ON library_tracks WHEN NEW.removed_at IS NULL
BEGIN
    INSERT INTO library_groups (user_id, kind, key, name, artist, year, added_at, n_tracks)
    SELECT user_id, kind, key, name, artist, year, added_at, 1 FROM library_keys
    WHERE user_id = NEW.user_id AND recording_id = NEW.recording_id
    ON CONFLICT (user_id, kind, key) DO UPDATE SET n_tracks = n_tracks + 1, name = MIN(name, excluded.name),
        year = COALESCE(MIN(year, excluded.year), year, excluded.year),
        added_at = COALESCE(MAX(added_at, excluded.added_at), added_at, excluded.added_at);
END;
-- The row is there: the conflict is how it is found by its whole key.
CREATE TRIGGER library_groups_take AFTER DELETE ON library_tracks WHEN OLD.removed_at IS NULL
BEGIN
    INSERT INTO library_groups (user_id, kind, key, name, artist, n_tracks)
    SELECT OLD.user_id, column1, column2, '', '', 0 FROM (VALUES ('all', ''), ('artist', LOWER(SUBSTR(OLD.artist, 1, 400))),
        ('album', CASE WHEN OLD.album <> '' THEN
            LOWER(SUBSTR(OLD.album, 1, 200)) || char(31) || LOWER(SUBSTR(COALESCE(OLD.album_artist, OLD.artist), 1, 200)) END),
        ('genre', LOWER(SUBSTR(OLD.genre, 1, 400))), ('year', CAST(OLD.year AS TEXT)))
    WHERE OLD.removed_at IS NULL AND column2 IS NOT NULL AND (column1 <> 'artist' OR OLD.artist <> '')
    ON CONFLICT (user_id, kind, key) DO UPDATE SET n_tracks = n_tracks - 1;
END;
-- A track that changes leaves its groups and enters those it has now.
CREATE TRIGGER library_groups_change
AFTER UPDATE OF user_id, artist, album, album_artist, genre, year, added_at, removed_at ON library_tracks
WHEN (OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL) OR OLD.artist <> NEW.artist OR OLD.album <> NEW.album
    OR OLD.album_artist IS NOT NEW.album_artist OR OLD.genre IS NOT NEW.genre OR OLD.year IS NOT NEW.year
    OR OLD.added_at <> NEW.added_at OR OLD.user_id <> NEW.user_id
BEGIN
    INSERT INTO library_groups (user_id, kind, key, name, artist, n_tracks)
    SELECT OLD.user_id, column1, column2, '', '', 0 FROM (VALUES ('all', ''), ('artist', LOWER(SUBSTR(OLD.artist, 1, 400))),
        ('album', CASE WHEN OLD.album <> '' THEN
            LOWER(SUBSTR(OLD.album, 1, 200)) || char(31) || LOWER(SUBSTR(COALESCE(OLD.album_artist, OLD.artist), 1, 200)) END),
        ('genre', LOWER(SUBSTR(OLD.genre, 1, 400))), ('year', CAST(OLD.year AS TEXT)))
    WHERE OLD.removed_at IS NULL AND column2 IS NOT NULL AND (column1 <> 'artist' OR OLD.artist <> '')
    ON CONFLICT (user_id, kind, key) DO UPDATE SET n_tracks = n_tracks - 1;
    INSERT INTO library_groups (user_id, kind, key, name, artist, year, added_at, n_tracks)
    SELECT user_id, kind, key, name, artist, year, added_at, 1 FROM library_keys
    WHERE user_id = NEW.user_id AND recording_id = NEW.recording_id
    ON CONFLICT (user_id, kind, key) DO UPDATE SET n_tracks = n_tracks + 1, name = MIN(name, excluded.name),
        year = COALESCE(MIN(year, excluded.year), year, excluded.year),
        added_at = COALESCE(MAX(added_at, excluded.added_at), added_at, excluded.added_at);
END;
CREATE TRIGGER library_groups_empty AFTER UPDATE OF n_tracks ON library_groups WHEN NEW.n_tracks <= 0
BEGIN
    DELETE FROM library_groups WHERE user_id = NEW.user_id AND kind = NEW.kind AND key = NEW.key;
END;

-- Filters of a listing. Words are looked for in an index that holds only them.
CREATE INDEX library_tracks_by_album_artist ON library_tracks (user_id, LOWER(SUBSTR(album_artist, 1, 100)))
    WHERE removed_at IS NULL AND album_artist IS NOT NULL;
CREATE INDEX library_tracks_by_genre ON library_tracks (user_id, LOWER(SUBSTR(genre, 1, 100)))
    WHERE removed_at IS NULL AND genre IS NOT NULL;
CREATE INDEX library_tracks_by_words ON library_tracks (user_id, searchable, recording_id, removed_at)
    WHERE removed_at IS NULL;

-- What needs a person is rare.
CREATE INDEX ingest_steps_failed ON ingest_steps (settled_at) WHERE state = 'failed';

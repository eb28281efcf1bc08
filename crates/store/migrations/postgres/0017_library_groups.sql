-- How many tracks a user has in all and of each artist, album, genre and year, so that no list counts the user's rows. Triggers
-- keep it: every statement that changes a library counts, whichever it is. Keys are cut like those of the indexes of 0015.
CREATE TABLE library_groups (
    user_id  TEXT NOT NULL,
    kind     TEXT NOT NULL,
    key      TEXT NOT NULL,
    name     TEXT NOT NULL,
    artist   TEXT NOT NULL,
    year     INTEGER,
    added_at TIMESTAMPTZ,
    n_tracks BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind, key)
) WITH (fillfactor = 70);
CREATE INDEX library_groups_by_age ON library_groups (user_id, added_at DESC, key) WHERE kind = 'album';

-- The groups of a track.
CREATE FUNCTION library_keys(t library_tracks)
RETURNS TABLE (kind TEXT, key TEXT, name TEXT, artist TEXT, year INTEGER, added_at TIMESTAMPTZ) LANGUAGE sql STABLE AS $$
    SELECT 'all', '', '', '', NULL::INTEGER, NULL::TIMESTAMPTZ
    UNION ALL SELECT 'artist', LOWER(SUBSTR(t.artist, 1, 400)), t.artist, '', NULL, NULL WHERE t.artist <> ''
    UNION ALL SELECT 'album',
        LOWER(SUBSTR(t.album, 1, 200)) || chr(31) || LOWER(SUBSTR(COALESCE(t.album_artist, t.artist), 1, 200)),
        t.album, COALESCE(t.album_artist, t.artist), t.year, t.added_at WHERE t.album <> ''
    UNION ALL SELECT 'genre', LOWER(SUBSTR(t.genre, 1, 400)), t.genre, '', NULL, NULL WHERE t.genre IS NOT NULL
    UNION ALL SELECT 'year', t.year::TEXT, t.year::TEXT, '', t.year, NULL WHERE t.year IS NOT NULL
$$;

INSERT INTO library_groups (user_id, kind, key, name, artist, year, added_at, n_tracks)
SELECT t.user_id, k.kind, k.key, MIN(k.name), MIN(k.artist), MIN(k.year), MAX(k.added_at), COUNT(*)
FROM library_tracks t, LATERAL library_keys(t) k WHERE t.removed_at IS NULL GROUP BY t.user_id, k.kind, k.key;

-- A track that changes leaves its groups and enters those it has now.
CREATE FUNCTION count_library_track() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.removed_at IS NULL THEN
        UPDATE library_groups g SET n_tracks = g.n_tracks - 1 FROM library_keys(OLD) k
        WHERE g.user_id = OLD.user_id AND g.kind = k.kind AND g.key = k.key;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.removed_at IS NULL THEN
        INSERT INTO library_groups AS g (user_id, kind, key, name, artist, year, added_at, n_tracks)
        SELECT NEW.user_id, k.kind, k.key, k.name, k.artist, k.year, k.added_at, 1 FROM library_keys(NEW) k
        ON CONFLICT (user_id, kind, key) DO UPDATE SET n_tracks = g.n_tracks + 1, name = LEAST(g.name, excluded.name),
            year = LEAST(g.year, excluded.year), added_at = GREATEST(g.added_at, excluded.added_at);
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.removed_at IS NULL THEN
        DELETE FROM library_groups g USING library_keys(OLD) k
        WHERE g.user_id = OLD.user_id AND g.kind = k.kind AND g.key = k.key AND g.n_tracks = 0;
    END IF;
    RETURN NULL;
END
$$;

-- Deferred to the commit: by then every transaction that changes a library holds the row of `track_revision`, so that two of
-- them never wait for each other's groups.
CREATE CONSTRAINT TRIGGER library_groups_add AFTER INSERT ON library_tracks DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.removed_at IS NULL) EXECUTE FUNCTION count_library_track();
CREATE CONSTRAINT TRIGGER library_groups_take AFTER DELETE ON library_tracks DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.removed_at IS NULL) EXECUTE FUNCTION count_library_track();
CREATE CONSTRAINT TRIGGER library_groups_change
    AFTER UPDATE OF user_id, artist, album, album_artist, genre, year, added_at, removed_at ON library_tracks
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL) OR OLD.artist <> NEW.artist OR OLD.album <> NEW.album
        OR OLD.album_artist IS DISTINCT FROM NEW.album_artist OR OLD.genre IS DISTINCT FROM NEW.genre
        OR OLD.year IS DISTINCT FROM NEW.year OR OLD.added_at <> NEW.added_at OR OLD.user_id <> NEW.user_id)
    EXECUTE FUNCTION count_library_track();

-- Filters of a listing.
CREATE INDEX library_tracks_by_album_artist ON library_tracks (user_id, LOWER(SUBSTR(album_artist, 1, 100)))
    WHERE removed_at IS NULL AND album_artist IS NOT NULL;
CREATE INDEX library_tracks_by_genre ON library_tracks (user_id, LOWER(SUBSTR(genre, 1, 100)))
    WHERE removed_at IS NULL AND genre IS NOT NULL;

-- What needs a person is rare.
CREATE INDEX ingest_steps_failed ON ingest_steps (settled_at) WHERE state = 'failed';

-- An index of the words of a user's tracks: `q` of a listing reads the entries of its words in place of all titles, artists and
-- albums of the user. `library_tracks.searchable` has the words of a track from now on, folded and sorted, each after a space;
-- `stored_words.rs` converts the rows of older versions.

-- The owner is a part of each word, so that only the owner's entries are read. Both are cut to what an entry can hold.
CREATE FUNCTION library_lexemes(owner TEXT, words TEXT) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_tsvector(ARRAY(SELECT LEFT(owner, 200) || '/' || LEFT(word, 100)
        FROM unnest(string_to_array(words, ' ')) AS word WHERE word <> ''))
$$;

-- `% bjo% jog%` becomes `'owner/bjo':* & 'owner/jog':*`. The words have no quotes; the owner may have some.
CREATE FUNCTION library_query(owner TEXT, pattern TEXT) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg('''' || replace(replace(LEFT(owner, 200), '\', '\\'), '''', '''''') || '/' || word || ''':*', ' & ')::tsquery
    FROM unnest(string_to_array(replace(pattern, '%', ''), ' ')) AS word WHERE word <> ''
$$;

-- Without a list of pending entries, which every query would read.
CREATE INDEX library_tracks_by_words ON library_tracks USING gin (library_lexemes(user_id, searchable))
    WITH (fastupdate = off) WHERE removed_at IS NULL AND searchable LIKE ' %';
-- Rows of older versions; none once they are converted.
CREATE INDEX library_tracks_old_words ON library_tracks (user_id, recording_id) WHERE searchable NOT LIKE ' %';

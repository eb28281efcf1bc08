-- One index for each order of a library's listing, so that a page reads its own rows only. Names are cut: an entry of a
-- PostgreSQL index holds at most 2,704 bytes.
CREATE INDEX library_tracks_in_order_added ON library_tracks (user_id, added_at DESC, recording_id DESC)
    WHERE removed_at IS NULL;
CREATE INDEX library_tracks_in_order_title ON library_tracks (user_id, LOWER(SUBSTR(title, 1, 100)), recording_id)
    WHERE removed_at IS NULL;
CREATE INDEX library_tracks_in_order_artist ON library_tracks (user_id, LOWER(SUBSTR(artist, 1, 100)),
    LOWER(SUBSTR(album, 1, 100)), disc_number, track_number, recording_id) WHERE removed_at IS NULL;
CREATE INDEX library_tracks_in_order_album ON library_tracks (user_id, LOWER(SUBSTR(album, 1, 100)), disc_number,
    track_number, recording_id) WHERE removed_at IS NULL;
CREATE INDEX library_tracks_in_order_year ON library_tracks (user_id, COALESCE(year, 0) DESC,
    LOWER(SUBSTR(album, 1, 100)), track_number, recording_id) WHERE removed_at IS NULL;
CREATE INDEX library_tracks_in_order_plays ON library_tracks (user_id, n_plays DESC, LOWER(SUBSTR(title, 1, 100)),
    recording_id) WHERE removed_at IS NULL;

-- Nothing looks up rows by these; the names in them have no largest size.
DROP INDEX library_tracks_by_artist;

-- Albums that a user saved are looked up by the names of their tracks.
CREATE INDEX library_album_tracks_by_name ON library_album_tracks (user_id, name);
CREATE INDEX library_album_tracks_by_isrc ON library_album_tracks (user_id, isrc);

-- Texts that are too long for one short transaction, in parts: the tracks of a long playlist, and the undo of a change of it. The parts
-- are written first. A text that nothing refers to ('open' for too long, or replaced) is erased.
CREATE TABLE long_texts (
    id         BLOB PRIMARY KEY,
    user_id    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('open', 'used', 'dropped')),
    created_at TEXT NOT NULL
);
CREATE INDEX long_texts_by_user ON long_texts (user_id, state);
CREATE TABLE long_text_parts (
    text_id BLOB NOT NULL REFERENCES long_texts (id) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (text_id, number)
);

-- The text of `tracks`, if it is long. `n_tracks` saves a list of playlists from reading all their tracks.
ALTER TABLE playlists ADD COLUMN tracks_id BLOB;
ALTER TABLE playlists ADD COLUMN n_tracks INTEGER NOT NULL DEFAULT 0;
UPDATE playlists SET n_tracks = json_array_length(tracks);
CREATE INDEX playlists_by_text ON playlists (tracks_id) WHERE tracks_id IS NOT NULL;

-- The text of `change`, if it is long.
ALTER TABLE undos ADD COLUMN change_id BLOB;
CREATE INDEX undos_by_text ON undos (change_id) WHERE change_id IS NOT NULL;

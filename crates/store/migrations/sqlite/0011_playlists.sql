-- Playlists that their owners edit. `revision` goes up with every edit; `edited_at` is NULL while a list is as it was
-- made, so that a second import of the same file replaces it only then.
ALTER TABLE playlists ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE playlists ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE playlists ADD COLUMN edited_at TEXT;
CREATE INDEX playlists_by_age ON playlists (user_id, created_at, id);

-- Each entry gets an id of its own: a recording may be on a list twice.
UPDATE playlists SET tracks = (
    SELECT json_group_array(json_set(value, '$.itemId', lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4'
        || substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))))
    FROM json_each(playlists.tracks)
) WHERE json_array_length(tracks) > 0;

-- What can be taken back: one row for a tool call or a batch, written with its effect. The id of a tool call's row is
-- the id of the call.
CREATE TABLE undos (
    id         BLOB PRIMARY KEY,
    user_id    TEXT NOT NULL,
    change     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    undone_at  TEXT
);
CREATE INDEX undos_by_user ON undos (user_id, created_at);

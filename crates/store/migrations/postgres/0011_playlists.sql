-- Playlists that their owners edit. `revision` goes up with every edit; `edited_at` is NULL while a list is as it was
-- made, so that a second import of the same file replaces it only then.
ALTER TABLE playlists ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE playlists ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE playlists ADD COLUMN edited_at TIMESTAMPTZ;
CREATE INDEX playlists_by_age ON playlists (user_id, created_at, id);

-- Each entry gets an id of its own: a recording may be on a list twice.
UPDATE playlists SET tracks = (
    SELECT jsonb_agg(item || jsonb_build_object('itemId', gen_random_uuid()::text) ORDER BY place)
    FROM jsonb_array_elements(tracks) WITH ORDINALITY AS items (item, place)
) WHERE jsonb_array_length(tracks) > 0;

-- What can be taken back: one row for a tool call or a batch, written with its effect. The id of a tool call's row is
-- the id of the call.
CREATE TABLE undos (
    id         UUID PRIMARY KEY,
    user_id    TEXT NOT NULL,
    change     JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    undone_at  TIMESTAMPTZ
);
CREATE INDEX undos_by_user ON undos (user_id, created_at);

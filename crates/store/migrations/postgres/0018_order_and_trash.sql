-- The order of tasks is their owner's. Tasks that are there keep the order in which they were added.
ALTER TABLE tasks ADD COLUMN position BIGINT NOT NULL DEFAULT 0;
UPDATE tasks SET position = counted.n
FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY id) AS n FROM tasks) AS counted
WHERE counted.id = tasks.id;
DROP INDEX tasks_by_user;
CREATE INDEX tasks_by_user ON tasks (user_id, position, id);

-- The model that a turn was begun with; NULL: the active one. A node that takes the turn over asks the same model.
ALTER TABLE turns ADD COLUMN model TEXT;

-- What was deleted for good but must stay known, so that an import or a scan does not bring it back.
ALTER TABLE playlists ADD COLUMN erased_at TIMESTAMPTZ;
ALTER TABLE library_tracks ADD COLUMN erased_at TIMESTAMPTZ;

-- What is in the trash, newest first.
CREATE INDEX conversations_deleted ON conversations (user_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX tasks_deleted ON tasks (user_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX playlists_deleted ON playlists (user_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX library_tracks_removed ON library_tracks (user_id, removed_at) WHERE removed_at IS NOT NULL;

-- The playlist or task that a change belongs to: who erases it finds its undos without reading those of everything else.
ALTER TABLE undos ADD COLUMN object_id TEXT;
UPDATE undos SET object_id = COALESCE(
    json_extract(change, '$.playlist.id'), json_extract(change, '$.playlist_made.id'),
    json_extract(change, '$.task_added.id'), json_extract(change, '$.task_changed.id'),
    json_extract(change, '$.task_deleted.id'));
CREATE INDEX undos_by_object ON undos (user_id, object_id) WHERE object_id IS NOT NULL;

-- Calls without a turn belong to no conversation that is deleted one day. They are deleted by age and number.
CREATE INDEX tool_calls_direct ON tool_calls (user_id, created_at) WHERE message_id IS NULL;

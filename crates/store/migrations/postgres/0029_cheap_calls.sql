-- A call in a turn is found by its answer, and a call without a turn by `tool_calls_direct`. Nothing else looks for the calls of
-- a user.
DROP INDEX tool_calls_by_user;
-- A call and an answer are inserted before their outcome is known. With room in its page, the update adds no entry to any index.
ALTER TABLE tool_calls SET (fillfactor = 60);
ALTER TABLE messages SET (fillfactor = 70);

-- The open or completed tasks of a user, in their order, without reading the others.
CREATE INDEX tasks_in_state ON tasks (user_id, completed, position, id) WHERE deleted_at IS NULL;

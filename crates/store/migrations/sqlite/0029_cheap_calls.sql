-- A call in a turn is found by its answer, and a call without a turn by `tool_calls_direct`. Nothing else looks for the calls of
-- a user.
DROP INDEX tool_calls_by_user;

-- The open or completed tasks of a user, in their order, without reading the others.
CREATE INDEX tasks_in_state ON tasks (user_id, completed, position, id) WHERE deleted_at IS NULL;

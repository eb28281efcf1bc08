-- A call in a turn is found by its answer, and a call without a turn by `tool_calls_direct`. Nothing else looks for the calls of
-- a user.
DROP INDEX tool_calls_by_user;

-- Functions with the names and results of SQLite's own, so that one text of a statement serves both databases. Each is one SELECT
-- without side effects, which the planner puts in place of the call: no plan contains a call of them.

-- The items of a list.
CREATE FUNCTION json_each(list JSONB) RETURNS TABLE (value TEXT) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT item.text FROM jsonb_array_elements_text(list) AS item(text)';

-- The id of these hexadecimal digits. SQLite stores an id as the bytes that `unhex` returns.
CREATE FUNCTION unhex(digits TEXT) RETURNS UUID LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT CAST(digits AS UUID)';

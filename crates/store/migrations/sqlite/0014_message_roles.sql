-- A message is a user's or the assistant's; a row that is neither cannot be shown to anyone.
-- SQLite adds no constraint to a table that exists.
CREATE TRIGGER messages_role BEFORE INSERT ON messages WHEN NEW.role NOT IN ('user', 'assistant')
BEGIN
    SELECT RAISE(ABORT, 'role must be user or assistant');
END;

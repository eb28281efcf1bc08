-- Which model of the settings a conversation uses; NULL: the active one.
ALTER TABLE conversations ADD COLUMN model TEXT;

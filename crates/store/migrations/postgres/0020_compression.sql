-- Long values are compressed with lz4: PostgreSQL's own method takes several times as long, for every answer that holds
-- a search result. A server that was built without lz4 keeps its own.
DO $$
BEGIN
    ALTER TABLE messages ALTER COLUMN content SET COMPRESSION lz4;
    ALTER TABLE messages ALTER COLUMN searchable SET COMPRESSION lz4;
    ALTER TABLE tool_calls ALTER COLUMN result SET COMPRESSION lz4;
    ALTER TABLE turn_log ALTER COLUMN events SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END $$;

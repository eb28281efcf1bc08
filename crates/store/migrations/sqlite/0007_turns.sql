-- Turns that survive their node: fencing tokens, takeovers and a log that is saved by compare-and-advance.
-- `holder` and `turn_log` were `node` and `turn_events`: statements of version 0.1 fail on this schema, so a node of
-- that version that still runs cannot write past the fencing.
ALTER TABLE turns RENAME COLUMN node TO holder;
ALTER TABLE turn_events RENAME TO turn_log;
-- Who holds the lease has the current token; it goes up with every takeover.
ALTER TABLE turns ADD COLUMN lease_token INTEGER NOT NULL DEFAULT 1;
ALTER TABLE turns ADD COLUMN n_takeovers INTEGER NOT NULL DEFAULT 0;
-- How many events the log holds.
ALTER TABLE turns ADD COLUMN n_events INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN input_tokens INTEGER;
ALTER TABLE turns ADD COLUMN output_tokens INTEGER;
ALTER TABLE turns ADD COLUMN cache_read_tokens INTEGER;
ALTER TABLE turns ADD COLUMN cache_write_tokens INTEGER;
UPDATE turns SET n_events = (
    SELECT COALESCE(MAX(position + json_array_length(events)), 0) FROM turn_log WHERE turn_id = turns.id
);

-- `result` is exactly the tool's output or its error; what the journal says beside it has columns of its own.
-- Statuses: running, settled (the effect is committed), done, failed, refused (never ran).
ALTER TABLE tool_calls ADD COLUMN title TEXT;
ALTER TABLE tool_calls ADD COLUMN summary TEXT;
ALTER TABLE tool_calls ADD COLUMN result_count INTEGER;
ALTER TABLE tool_calls ADD COLUMN duration_ms INTEGER;
ALTER TABLE tool_calls ADD COLUMN retryable BOOLEAN;
ALTER TABLE tool_calls ADD COLUMN was_retried BOOLEAN;
-- The lease under which the call runs; only its holder can commit the effect. 0: a call outside a turn.
ALTER TABLE tool_calls ADD COLUMN lease_token INTEGER NOT NULL DEFAULT 0;
UPDATE tool_calls SET
    summary = result ->> '$.done.summary',
    result_count = result ->> '$.done.count',
    duration_ms = result ->> '$.done.duration_ms',
    was_retried = COALESCE(result ->> '$.done.was_retried', FALSE),
    result = result -> '$.done.output'
WHERE status = 'done' AND json_type(result, '$.done') IS NOT NULL;
UPDATE tool_calls SET
    duration_ms = result ->> '$.failed.durationMs',
    retryable = result ->> '$.failed.retryable',
    was_retried = result ->> '$.failed.wasRetried',
    result = result -> '$.failed'
WHERE status = 'failed' AND json_type(result, '$.failed') IS NOT NULL;
UPDATE tool_calls SET result = result -> '$.effect'
WHERE status = 'settled' AND json_type(result, '$.effect') IS NOT NULL;

-- Branches: every message knows the one before it, a conversation the last message of the branch that is shown.
ALTER TABLE messages ADD COLUMN parent_id BLOB;
ALTER TABLE conversations ADD COLUMN active_leaf BLOB;
UPDATE messages SET parent_id = (
    SELECT id FROM messages AS earlier
    WHERE earlier.conversation_id = messages.conversation_id AND earlier.position < messages.position
    ORDER BY earlier.position DESC LIMIT 1
);
UPDATE conversations SET active_leaf = (
    SELECT id FROM messages WHERE conversation_id = conversations.id ORDER BY position DESC LIMIT 1
);
CREATE INDEX messages_by_parent ON messages (parent_id);

-- What a person allows a tool of another server to do. `decision` is NULL until the person has decided.
CREATE TABLE consents (
    id              BLOB PRIMARY KEY,
    conversation_id BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id      BLOB NOT NULL,
    call_id         BLOB NOT NULL,
    user_id         TEXT NOT NULL,
    tool_name       TEXT NOT NULL,
    input           TEXT NOT NULL,
    decision        TEXT,
    scope           TEXT,
    created_at      TEXT NOT NULL,
    decided_at      TEXT
);
CREATE INDEX consents_by_conversation ON consents (conversation_id, tool_name);
CREATE UNIQUE INDEX consents_by_call ON consents (call_id);

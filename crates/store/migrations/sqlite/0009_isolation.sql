-- Attempts to sign in, by hashes of the name, of the address and of both. Rows are deleted when their window is over.
CREATE TABLE sign_in_attempts (
    subject    BLOB PRIMARY KEY,
    n_attempts INTEGER NOT NULL,
    since      TEXT NOT NULL
);
CREATE INDEX sign_in_attempts_by_age ON sign_in_attempts (since);

-- When a user started a turn or called a tool directly, for limits per minute. Rows older than that are deleted when the
-- user comes again. Kept apart from turns, so that asking again gives none back.
CREATE TABLE rate_events (
    user_id TEXT NOT NULL,
    kind    TEXT NOT NULL,
    at      TEXT NOT NULL
);
CREATE INDEX rate_events_by_user ON rate_events (user_id, kind, at);

-- The part of a day's tokens that descriptions of tracks and rewording of searches used.
ALTER TABLE token_days ADD COLUMN background INTEGER NOT NULL DEFAULT 0;

-- What a person allows a tool of another server to do. `decision` is NULL until the person has decided; then `allow`,
-- `refuse`, or `used` for a consent to one call that was made.
CREATE TABLE IF NOT EXISTS consents (
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
CREATE INDEX IF NOT EXISTS consents_by_conversation ON consents (conversation_id, tool_name);
CREATE UNIQUE INDEX IF NOT EXISTS consents_by_call ON consents (call_id);

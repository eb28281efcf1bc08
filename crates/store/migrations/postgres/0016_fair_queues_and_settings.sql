-- Background work is divided between the users who wait for it: each step knows the user it is done for. Empty: no one user.
ALTER TABLE ingest_steps ADD COLUMN for_user TEXT NOT NULL DEFAULT '';
UPDATE ingest_steps SET for_user = i.owner FROM ingested_tracks i WHERE i.id = ingest_steps.document_id AND i.owner <> '';
DROP INDEX ingest_steps_by_due;
CREATE INDEX ingest_steps_by_user ON ingest_steps (step, state, for_user, priority, due_at);
CREATE INDEX open_entries_by_user_and_due ON open_entries (user_id, due_at) WHERE NOT dismissed;

-- Connections that an operator made on the settings page. The value is encrypted (SEGUE_SECRET_KEY).
CREATE TABLE connections (
    service    TEXT PRIMARY KEY,
    sealed     BYTEA NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

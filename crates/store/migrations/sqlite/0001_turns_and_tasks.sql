CREATE TABLE conversations (
    id         BLOB PRIMARY KEY,
    user_id    TEXT NOT NULL,
    agent      TEXT NOT NULL,
    title      TEXT NOT NULL,
    preview    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    deleted_at TEXT
);
CREATE INDEX conversations_by_user ON conversations (user_id, updated_at);

CREATE TABLE messages (
    id              BLOB PRIMARY KEY,
    conversation_id BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    position        INTEGER NOT NULL,
    role            TEXT NOT NULL,
    content         TEXT NOT NULL,
    status          TEXT NOT NULL,
    usage           TEXT,
    error           TEXT,
    -- The words of the message in lower case, for searching.
    searchable      TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    UNIQUE (conversation_id, position)
);

-- A turn belongs to the node that holds its lease; when the lease runs out, any node may close it.
CREATE TABLE turns (
    id                BLOB PRIMARY KEY,
    conversation_id   BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id        BLOB NOT NULL,
    user_id           TEXT NOT NULL,
    client_message_id TEXT,
    status            TEXT NOT NULL,
    node              TEXT NOT NULL,
    lease_until       TEXT NOT NULL,
    stop_requested    BOOLEAN NOT NULL,
    created_at        TEXT NOT NULL,
    ended_at          TEXT
);
CREATE UNIQUE INDEX turns_by_client_message ON turns (user_id, client_message_id) WHERE client_message_id IS NOT NULL;
CREATE UNIQUE INDEX turns_running ON turns (conversation_id) WHERE status = 'running';
CREATE INDEX turns_by_lease ON turns (lease_until) WHERE status = 'running';
CREATE INDEX turns_by_message ON turns (message_id);
CREATE INDEX turns_by_end ON turns (ended_at);

-- The event log, a few events a row: a row is what one group commit saved.
CREATE TABLE turn_events (
    turn_id  BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    events   TEXT NOT NULL,
    PRIMARY KEY (turn_id, position)
);

-- The journal: a row before a tool runs, its outcome after. An effect commits together with its row.
CREATE TABLE tool_calls (
    id          BLOB PRIMARY KEY,
    message_id  BLOB REFERENCES messages (id) ON DELETE CASCADE,
    user_id     TEXT NOT NULL,
    tool_name   TEXT NOT NULL,
    parameters  TEXT NOT NULL,
    status      TEXT NOT NULL,
    result      TEXT,
    created_at  TEXT NOT NULL,
    finished_at TEXT
);
CREATE INDEX tool_calls_by_message ON tool_calls (message_id);
CREATE INDEX tool_calls_by_user ON tool_calls (user_id, created_at);

CREATE TABLE tasks (
    id          BLOB PRIMARY KEY,
    user_id     TEXT NOT NULL,
    title       TEXT NOT NULL,
    description TEXT NOT NULL,
    completed   BOOLEAN NOT NULL,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL,
    deleted_at  TEXT
);
CREATE INDEX tasks_by_user ON tasks (user_id, id);

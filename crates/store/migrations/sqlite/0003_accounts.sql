-- Built-in accounts. Names are compared by `name_key`: normalised and in lower case.
CREATE TABLE accounts (
    id            BLOB PRIMARY KEY,
    name          TEXT NOT NULL,
    name_key      TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    created_at    TEXT NOT NULL
);

-- What lets an account in: a page's session or a script's token. Only hashes of the secrets are here.
CREATE TABLE keys (
    hash       BLOB PRIMARY KEY,
    account_id BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT
);
CREATE INDEX keys_by_account ON keys (account_id);
CREATE INDEX keys_by_expiry ON keys (expires_at);

CREATE TABLE invitations (
    hash       BLOB PRIMARY KEY,
    expires_at TEXT NOT NULL
);

-- Model tokens a user spent on one day (UTC). Kept apart from messages, so that deleting a conversation gives none back.
CREATE TABLE token_days (
    user_id TEXT NOT NULL,
    day     INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (user_id, day)
);

CREATE INDEX turns_by_user ON turns (user_id, created_at);

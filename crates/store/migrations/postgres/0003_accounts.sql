-- Built-in accounts. Names are compared by `name_key`: normalised and in lower case.
CREATE TABLE accounts (
    id            UUID PRIMARY KEY,
    name          TEXT NOT NULL,
    name_key      TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL
);

-- What lets an account in: a page's session or a script's token. Only hashes of the secrets are here.
CREATE TABLE keys (
    hash       BYTEA PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ
);
CREATE INDEX keys_by_account ON keys (account_id);
CREATE INDEX keys_by_expiry ON keys (expires_at);

CREATE TABLE invitations (
    hash       BYTEA PRIMARY KEY,
    expires_at TIMESTAMPTZ NOT NULL
);

-- Model tokens a user spent on one day (UTC). Kept apart from messages, so that deleting a conversation gives none back.
CREATE TABLE token_days (
    user_id TEXT NOT NULL,
    day     BIGINT NOT NULL,
    tokens  BIGINT NOT NULL,
    PRIMARY KEY (user_id, day)
);

CREATE INDEX turns_by_user ON turns (user_id, created_at);

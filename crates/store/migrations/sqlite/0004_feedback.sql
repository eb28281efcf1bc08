-- What someone thought of a part of an answer: one opinion an item, the newest.
CREATE TABLE feedback (
    conversation_id BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    item_id         TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    kind            TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    PRIMARY KEY (conversation_id, item_id)
);

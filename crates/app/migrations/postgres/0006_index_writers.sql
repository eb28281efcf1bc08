-- Who fills an index that several nodes share. One row an index, while somebody does.
CREATE TABLE index_writers (
    name        TEXT PRIMARY KEY,
    node        TEXT NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);

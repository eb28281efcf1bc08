-- Who fills an index that several nodes share. One row an index, while somebody does.
CREATE TABLE index_writers (
    name        TEXT PRIMARY KEY,
    node        TEXT NOT NULL,
    lease_until TEXT NOT NULL
);

-- What tells this database from any other: what is kept outside for it carries the name. One row.
CREATE TABLE house (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    name TEXT NOT NULL
);

-- Nothing: PostgreSQL gets functions with the names of SQLite's own.
SELECT 1;

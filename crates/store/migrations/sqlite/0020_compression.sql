-- PostgreSQL changes how it compresses long values; SQLite does not compress any.
SELECT 1;

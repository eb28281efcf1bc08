//! Tests through the doors. The whole binary runs on SQLite, and again on PostgreSQL when `SEGUE_TEST_POSTGRES` is set.

mod support;

mod errors;
mod tasks;
mod turns;

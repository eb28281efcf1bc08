//! Tests through the doors. The whole binary runs on SQLite, and again on PostgreSQL when `SEGUE_TEST_POSTGRES` is set.

mod support;

mod auth;
mod discover;
mod errors;
mod killed;
mod limits;
mod mutated;
mod ownership;
mod tasks;
mod turns;
mod untrusted;

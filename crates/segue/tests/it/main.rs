//! Tests through the doors. The whole binary runs on SQLite, and again on PostgreSQL when `SEGUE_TEST_POSTGRES` is set.

mod support;

mod ag_ui;
mod ai_sdk;
mod auth;
mod chatkit;
mod discover;
mod errors;
mod killed;
mod limits;
mod mcp;
mod mutated;
mod openapi;
mod outside;
mod ownership;
mod tasks;
mod turns;
mod untrusted;

//! Tests over HTTP. The whole binary runs on SQLite, and again on PostgreSQL when `SEGUE_TEST_POSTGRES` is set.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "some tests print the tables they are about")]

#[allow(dead_code, unused_imports, reason = "the rehearsals and proofs use the rest")]
mod support;

mod ag_ui;
mod ai_sdk;
mod auth;
mod backup;
mod bounds;
mod chatkit;
mod collection;
mod conversations;
mod discover;
mod errors;
mod folders;
#[path = "../prove/history/mod.rs"]
#[allow(dead_code, reason = "the proof uses the rest")]
mod history;
mod import;
mod ingest;
mod killed;
mod leaving;
mod limits;
mod mcp;
mod metrics;
mod migration;
mod models;
mod mutated;
mod nodes;
mod openapi;
mod outside;
mod ownership;
mod proxy;
mod takeover;
mod tasks;
mod traces;
mod turns;
mod untrusted;
mod wishes;

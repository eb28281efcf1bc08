//! Tests over HTTP. The whole binary runs on SQLite, and again on PostgreSQL when `SEGUE_TEST_POSTGRES` is set. With
//! `SEGUE_TEST_INDEX=qdrant` the servers use the index at `QDRANT_URL`; `tools/test` names the tests that run so.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]
#![allow(clippy::print_stdout, reason = "some tests print measurements")]

#[allow(dead_code, unused_imports, reason = "`faults` and `prove` use the rest")]
mod support;

mod ag_ui;
mod ai_sdk;
mod artwork;
mod auth;
mod backup;
mod bounds;
mod branches;
mod budgets;
mod chat_list;
mod chatkit;
mod collection;
mod connections;
mod conversations;
mod discover;
mod errors;
mod findings;
mod fingerprints;
mod folders;
#[path = "../prove/history/mod.rs"]
#[allow(dead_code, reason = "`prove` uses the rest")]
mod history;
mod home_library;
mod import;
mod ingest;
mod killed;
mod limits;
mod mcp;
mod mcp_client;
mod merge_undo;
mod merges;
mod metrics;
mod migration;
mod models;
mod mutated;
mod nodes;
mod openapi;
mod ownership;
mod pages;
mod playlists;
mod proxy;
mod readiness;
mod same_sound;
mod search_limits;
mod shutdown;
mod stored;
mod streams;
mod takeover;
mod tasks;
mod terminal;
mod tool_errors;
mod trace_content;
mod traces;
mod trash;
mod turns;
mod two_users;
mod untrusted;

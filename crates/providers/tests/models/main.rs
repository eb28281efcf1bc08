//! Each provider over real HTTP on the loopback: its requests, its recorded streams, its failures.

mod conformance;
mod discovery;
mod failures;
mod families;
mod long_conversations;
mod provider;
mod requests;
mod rules;
mod spellings;

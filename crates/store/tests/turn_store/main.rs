//! The contract of `TurnStore`, on every implementation: in memory, on SQLite, and on PostgreSQL when there is a cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod consents;
mod expiry;
mod journal;
mod leases;
mod log;
mod pool;
mod start;
mod subject;

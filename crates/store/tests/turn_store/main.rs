//! The contract of `TurnStore`, on every implementation: in memory, on SQLite, and on PostgreSQL when there is a cluster.

mod journal;
mod leases;
mod log;
mod start;
mod subject;

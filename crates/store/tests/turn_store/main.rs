//! The contract of `TurnStore`, on every implementation: in memory, on SQLite, and on PostgreSQL when there is a cluster.

mod consents;
mod expiry;
mod journal;
mod leases;
mod log;
mod pool;
mod start;
mod subject;

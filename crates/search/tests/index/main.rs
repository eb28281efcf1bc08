//! The index through its front door: one contract for every backend, and what only the embedded one promises.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and one of them reports to its parent")]

mod contract;
mod embedded;
mod engines;
mod qdrant;
mod recorded;
mod support;
mod words;

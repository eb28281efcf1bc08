//! The public interface of the index: one contract for every backend, and the tests of each backend.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and one test process reports to its parent on stdout"
)]

mod contract;
mod embedded;
mod engines;
mod qdrant;
mod recorded;
mod support;
mod words;

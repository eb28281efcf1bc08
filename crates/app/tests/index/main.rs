//! The index through its front door: one contract for every backend, and what only the embedded one promises.

mod contract;
mod embedded;
mod qdrant;
mod qdrant_double;
mod support;

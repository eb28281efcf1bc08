//! Crash points, in builds with debug assertions only: the process aborts at the n-th statement or commit.
//!
//! `make prove` enumerates them. A release build has none of this.

use std::sync::atomic::{AtomicI64, Ordering};

/// How many points are left; negative: none is armed.
static LEFT: AtomicI64 = AtomicI64::new(-1);

/// Aborts at the `n`-th point from now on.
pub fn arm(n: i64) {
    LEFT.store(n, Ordering::SeqCst);
}

/// A place where the process may end: before a statement, before a commit, after a commit.
pub(crate) fn reached() {
    if LEFT.load(Ordering::Relaxed) > 0 && LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
        std::process::abort();
    }
}

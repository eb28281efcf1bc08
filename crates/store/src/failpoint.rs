//! Crash and pause points, in builds with debug assertions only: the process aborts, or stops, at the n-th statement or
//! commit.
//!
//! `make prove` enumerates them. A release build has none of this.

use std::{
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    },
};

/// What the process does at the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    Abort,
    /// SIGSTOP: it stands still until someone else lets it go on.
    Pause,
}

/// How many points are left; negative: none is armed.
static LEFT: AtomicI64 = AtomicI64::new(-1);
static DOES: OnceLock<Does> = OnceLock::new();

/// Acts at the `n`-th point from now on. A process does one of the two.
pub fn arm(n: i64, does: Does) {
    DOES.get_or_init(|| does);
    LEFT.store(n, Ordering::SeqCst);
}

/// A place where the process may end: before a transaction, before a statement, before a commit, after a commit.
pub(crate) fn reached() {
    if LEFT.load(Ordering::Relaxed) > 0 && LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
        if DOES.get() != Some(&Does::Pause) {
            std::process::abort();
        }
        // A program, because signals from within would need unsafe code.
        let sent = Command::new("kill").args(["-STOP", &std::process::id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill is there");
    }
}

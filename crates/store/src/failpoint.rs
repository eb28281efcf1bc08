//! Crash and pause points, only in builds with debug assertions: the process aborts or pauses at the n-th statement or
//! commit.
//!
//! `make prove` tries all of them. A release build has no such points.

use std::{
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    },
};

/// The action at the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    Abort,
    /// SIGSTOP: the process is paused until another process sends SIGCONT.
    Pause,
}

/// How many points remain; negative: no point is armed.
static LEFT: AtomicI64 = AtomicI64::new(-1);
static DOES: OnceLock<Does> = OnceLock::new();

/// Acts at the `n`-th point from now on. A process has one action.
pub fn arm(n: i64, does: Does) {
    DOES.get_or_init(|| does);
    LEFT.store(n, Ordering::SeqCst);
}

/// A point at which the process may end: before a transaction, before a statement, before a commit, after a commit.
pub(crate) fn reached() {
    if LEFT.load(Ordering::Relaxed) > 0 && LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
        if DOES.get() != Some(&Does::Pause) {
            std::process::abort();
        }
        // Runs a program, because sending a signal directly would need unsafe code.
        let sent = Command::new("kill").args(["-STOP", &std::process::id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "the program `kill` is installed");
    }
}

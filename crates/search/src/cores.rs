//! The threads that compute searches. A thread inherits the priority of the thread that starts it, so they are started when
//! an index is opened: the first additions come from a thread of low priority, and searches must not.

use std::sync::LazyLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

static THREADS: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let built = ThreadPoolBuilder::new().thread_name(|_| "search".into()).build();
    built.inspect_err(|error| tracing::warn!(%error, "a search uses one core")).ok()
});

/// Runs `work` on the threads of searches.
pub(crate) fn on_all<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match &*THREADS {
        Some(threads) => threads.install(work),
        None => work(),
    }
}

/// Whether the calling thread may divide its work between all cores. Background work and searches that give way use one.
pub(crate) fn may_use_all() -> bool {
    rayon::current_thread_index().is_some()
}

//! Processor-heavy work runs on threads of low priority: imports, enrichment, and the hashes of passwords, which anyone can
//! request. When all cores are busy, the system gives them to the threads that answer requests first.

use std::{sync::LazyLock, thread};

use tokio::{
    runtime::{Builder, Handle, Runtime, RuntimeFlavor},
    task::{JoinHandle, block_in_place},
};

/// A separate runtime, because a thread without privileges cannot raise its priority again and the blocking threads of the
/// main runtime also serve requests. It runs no async task.
static THREADS: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let built = Builder::new_current_thread().thread_name("background").on_thread_start(lower_priority).build();
    built.inspect_err(|error| tracing::warn!(%error, "background work runs with normal priority")).ok()
});

/// Like `tokio::task::spawn_blocking`, on a thread of low priority. The caller must be in a Tokio runtime.
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match &*THREADS {
        Some(runtime) => runtime.spawn_blocking(work),
        None => tokio::task::spawn_blocking(work),
    }
}

/// Runs on a new thread of low priority and waits for it. The threads that it starts inherit the priority.
///
/// # Panics
/// Panics when `work` panics.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let lowered = || {
        lower_priority();
        work()
    };
    match thread::scope(|scope| scope.spawn(lowered).join()) {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Runs a computation of a request: a long one on a thread of low priority, while other tasks of this thread continue.
///
/// # Panics
/// Panics when `work` panics.
pub fn aside<T: Send>(is_long: bool, work: impl FnOnce() -> T + Send) -> T {
    let has_other_threads =
        Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if is_long && has_other_threads { block_in_place(|| run(work)) } else { work() }
}

/// About a tenth of the processor time of a thread with normal priority. With less, a thread that holds a lock could delay a
/// request that waits for the lock.
#[cfg(target_os = "linux")]
const NICE: libc::c_int = 10;
#[cfg(target_os = "linux")]
const LEAST: libc::c_int = 19;

/// Lowers the priority of the calling thread for the rest of its life.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "only the C library can set the priority of a thread")]
pub fn lower_priority() {
    // SAFETY: the calls take numbers only. 0 is the calling thread on Linux.
    let done = unsafe {
        // The operator may have started the process with a low priority.
        let before = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, (before + NICE).min(LEAST))
    };
    if done != 0 {
        tracing::debug!(error = %std::io::Error::last_os_error(), "the priority of a thread cannot be lowered");
    }
}

/// Other systems set the priority of the whole process.
#[cfg(not(target_os = "linux"))]
pub fn lower_priority() {}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// The nice value of the calling thread, from `/proc`.
    fn nice() -> i64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = stat.rsplit_once(") ").unwrap().1;
        // The 19th field of the line; the name is the 2nd.
        after_name.split(' ').nth(16).unwrap().parse().unwrap()
    }

    #[tokio::test]
    async fn only_background_threads_have_a_low_priority() {
        let before = nice();
        let low = (before + i64::from(NICE)).min(i64::from(LEAST));
        assert_eq!(spawn_blocking(nice).await.unwrap(), low);
        assert_eq!(tokio::task::spawn_blocking(nice).await.unwrap(), before);
        assert_eq!(run(|| thread::spawn(nice).join().unwrap()), low, "it is inherited");
        assert_eq!(nice(), before);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_run_while_a_long_computation_of_a_request_runs() {
        let (said, heard) = std::sync::mpsc::channel();
        let request = tokio::spawn(async move {
            tokio::spawn(async move { said.send(()).unwrap() });
            let wait = move || (heard.recv_timeout(std::time::Duration::from_secs(10)), nice());
            aside(true, wait)
        });
        let (heard, nice_of_work) = request.await.unwrap();
        assert_eq!(heard, Ok(()), "the computation kept the only thread from the other task");
        assert!(nice_of_work > nice(), "{nice_of_work}");
        assert_eq!(aside(false, nice), nice(), "a short one stays where it is");
    }
}

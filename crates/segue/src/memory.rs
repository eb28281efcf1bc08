//! The memory of the process.

/// glibc gives each thread an arena, up to eight for each core, and an arena keeps the memory of the largest import or burst
/// that ran on it. One arena for each core keeps a third less after two imports of 20,000 tracks.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "the C library offers no safe call")]
pub(crate) fn limit_arenas() {
    let n_cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let n_arenas = i32::try_from(n_cores.max(2)).unwrap_or(i32::MAX);
    // SAFETY: changes a number inside the allocator, under its own lock.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, n_arenas) };
}

/// Other C libraries have no arenas for each thread.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn limit_arenas() {}

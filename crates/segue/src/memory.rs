//! The memory of the process.

/// Large blocks are taken from the system one by one and given back when they are freed. By default glibc raises this limit to
/// the size of the largest block that was freed (a password hash has 19 MB), and keeps such blocks in its arenas from then on:
/// ten sign-ups left 217 MiB in place of 74.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: i32 = 256 << 10;
/// Free memory at the end of an arena that is kept.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: i32 = 1 << 20;

/// Makes the allocator give memory back to the system after an import or a burst of requests.
///
/// glibc gives each thread an arena, up to eight for each core, and an arena keeps the memory of the largest import or burst
/// that ran on it. One arena for each core keeps a third less after two imports of 20,000 tracks.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "the C library offers no safe call")]
pub(crate) fn give_back() {
    let n_cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let n_arenas = i32::try_from(n_cores.max(2)).unwrap_or(i32::MAX);
    // SAFETY: the calls change numbers inside the allocator, under its own lock.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, n_arenas);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    };
}

/// Other C libraries have no arenas for each thread.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// The memory of this process that is not mapped from a file, in bytes.
    fn own_bytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        1024 * line.trim().trim_end_matches(" kB").parse::<usize>().unwrap()
    }

    #[test]
    fn freed_blocks_of_many_megabytes_are_given_back() {
        const BLOCK: usize = 19 << 20;
        give_back();
        let before = own_bytes();
        for _ in 0..8 {
            // Two at once, as passwords are hashed; a small block after each keeps it from being the end of its arena.
            let threads = [(); 2].map(|()| std::thread::spawn(|| (vec![1u8; BLOCK], vec![1u8; 64]).1));
            let kept = threads.map(|thread| thread.join().unwrap());
            assert_eq!(kept.concat().len(), 128);
        }
        let grown = own_bytes().saturating_sub(before);
        assert!(grown < BLOCK / 2, "{grown} bytes are kept");
    }
}

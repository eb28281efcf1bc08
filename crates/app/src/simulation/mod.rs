//! A simulation of several nodes: the real engine, log, leases, journal and recovery with an in-memory store.
//!
//! It has one thread and a simulated clock. A seed determines everything: when nodes crash, pause, shut down and
//! return, which statements fail, which replies and notices are lost, how slow the models are, and what clients do. The
//! same seed gives the same trace byte for byte, so a seed that breaks a promise can be repeated.
//!
//! `make test` runs some seeds. `SEGUE_SIMULATED_TURNS=100000 cargo test --workspace --lib -- simulation` runs more;
//! `SEGUE_SIMULATED_SEED=n` runs one and prints its trace; `SEGUE_MUTANT=name` plants a bug, which the seeds must find.

mod client;
mod model;
mod node;
mod store;
mod world;

use self::world::{Run, TURNS_PER_SEED, World};

/// Runs one seed to its end.
fn play(seed: u64) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(World::play(seed))
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn every_simulated_turn_keeps_the_promises() {
    crate::config::plant_mutant().expect("the name of an existing bug");
    if let Some(seed) = setting("SEGUE_SIMULATED_SEED") {
        let run = play(seed);
        panic!("{}\n{:?}", run.trace, run.broken);
    }
    let n_seeds = setting("SEGUE_SIMULATED_TURNS").unwrap_or(2000).div_ceil(TURNS_PER_SEED);
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let mut all = Run::default();
    std::thread::scope(|scope| {
        let parts =
            (1..=n_threads).map(|first| scope.spawn(move || play_all((first..=n_seeds).step_by(n_threads as usize))));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().for_each(|part| all.add(&part.join().expect("every seed keeps the promises")));
    });
    eprintln!("{n_seeds} seeds: {}", all.figures());
    // A simulation without crashes, pauses and takeovers would prove nothing.
    let per_hundred = |n: u64| n * 100 / (n_seeds * TURNS_PER_SEED);
    assert!(per_hundred(all.n_takeovers) >= 10, "{}", all.figures());
    assert!(all.n_crashes > 0 && all.n_pauses > 0 && all.n_lost_replies > 0 && all.n_stopped > 0, "{}", all.figures());
    assert!(per_hundred(all.n_interrupted) <= 5, "{}", all.figures());
}

fn play_all(seeds: impl Iterator<Item = u64>) -> Run {
    let mut all = Run::default();
    for seed in seeds {
        let run = play(seed);
        assert_eq!(run.broken, Vec::<String>::new(), "SEGUE_SIMULATED_SEED={seed}");
        all.add(&run);
    }
    all
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in [3, 11, 29] {
        let (one, two) = (play(seed).trace, play(seed).trace);
        assert!(one.lines().count() > 500, "{one}");
        assert_eq!(one, two, "seed {seed}");
    }
    assert_ne!(play(3).trace, play(4).trace);
}

//! Measures the cost of a scope: the same searches without a scope, and as a hundred users with 1,000 to 50,000 tracks
//! each.
//!
//! `cargo run --release -p search --example scope_bench [-- TRACKS]`

#![allow(clippy::print_stdout, reason = "the table is the output of this program")]

#[path = "index_bench/synthetic.rs"]
mod synthetic;

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use music::scope::{PUBLIC, reader};
use search::{Change, EmbeddedIndex, Scope, SearchPlan, TrackIndex, embed::StaticTable};
use synthetic::Library;

const USERS: usize = 100;
const SMALLEST: usize = 1_000;
const LARGEST: usize = 50_000;
const QUERIES: usize = 1_000;
const BATCH: usize = 2_000;
const NEARLY_ALL: usize = 10_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let size = std::env::args().nth(1).map_or(Ok(100_000), |size| size.parse::<usize>())?;
    let dir = tempfile::tempdir()?;
    let index = EmbeddedIndex::open(dir.path(), Arc::new(StaticTable::built_in()?))?;
    let library = Library::new(size);
    for from in (0..size).step_by(BATCH) {
        let change =
            |n: usize| Change { readers: readers(n, size), ..Change::public(from as i64 + 1, library.track(n)) };
        index.apply(&(from..size.min(from + BATCH)).map(change).collect::<Vec<_>>()).await?;
    }
    let queries: Vec<String> = (0..QUERIES).map(|n| library.query(n)).collect();
    let user = |n: usize| Scope::of(&format!("user-{}", n % USERS), true, false);
    // Every user has searched once since the last commit.
    for (n, query) in queries.iter().enumerate().take(USERS) {
        index.search(&SearchPlan::new(query, 20).within(user(n))).await?;
    }
    let all = measure(&index, &queries, |_| Scope::Everything).await?;
    let scoped = measure(&index, &queries, user).await?;
    println!("{size} tracks, {USERS} users of {SMALLEST} to {LARGEST}");
    println!("without a scope: p50 {:.2} ms, p99 {:.2} ms", all.0, all.1);
    println!("with a scope:    p50 {:.2} ms, p99 {:.2} ms ({:.2} times)", scoped.0, scoped.1, scoped.1 / all.1);
    println!("recall@10 within the scope: {:.3}", recall(&index, &queries[..USERS]).await?);
    Ok(())
}

/// The readers of a track: each user has between a hundredth and a half of all tracks.
fn readers(track: usize, size: usize) -> Vec<String> {
    let has = |user: usize| {
        let n = SMALLEST + (LARGEST - SMALLEST) * user / (USERS - 1);
        let mixed = (track as u64 ^ (user as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (mixed as usize) % 100_000 < n * 100_000 / size.max(LARGEST)
    };
    let users = (0..USERS).filter(|user| has(*user)).map(|user| reader(&format!("user-{user}")));
    users.chain([PUBLIC.to_owned()]).collect()
}

async fn measure(
    index: &EmbeddedIndex,
    queries: &[String],
    scope: impl Fn(usize) -> Scope,
) -> anyhow::Result<(f64, f64)> {
    let mut times = Vec::new();
    for (n, query) in queries.iter().enumerate() {
        let plan = SearchPlan::new(query, 20).within(scope(n));
        let started = Instant::now();
        index.search(&plan).await?;
        times.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times[times.len() * 99 / 100]))
}

/// How many of the ten best tracks within a scope are found, of those that a search finds that takes [`NEARLY_ALL`] candidates
/// from each side and judges the best three quarters of that number.
async fn recall(index: &EmbeddedIndex, queries: &[String]) -> anyhow::Result<f64> {
    let (mut n_found, mut n_expected) = (0, 0);
    for (n, query) in queries.iter().enumerate() {
        let plan = |limit| SearchPlan::new(query, limit).within(Scope::of(&format!("user-{n}"), false, false));
        let best: BTreeSet<_> =
            index.search(&plan(NEARLY_ALL / 2)).await?.iter().take(10).map(|hit| hit.track.id).collect();
        let found = index.search(&plan(10)).await?;
        n_expected += best.len();
        n_found += found.iter().filter(|hit| best.contains(&hit.track.id)).count();
    }
    Ok(n_found as f64 / n_expected.max(1) as f64)
}

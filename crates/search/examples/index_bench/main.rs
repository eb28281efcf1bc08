//! `make bench-index`: measures speed, recall and memory of search with 10,000 to 1,000,000 tracks.
//!
//! Usage: `index_bench [SIZE...]`. The tracks are generated from real words by topic, and use the built-in embedder. With
//! `BENCH_DUMP=FOLDER` the vectors, texts and queries are written there, and `tools/bench-peers` measures others with them.

#![allow(clippy::print_stdout, reason = "the table is the output of this program")]

mod dump;
mod synthetic;

use std::{fs, sync::Arc, time::Instant};

use music::{DocumentId, Isrc, Track, TrackId};
use search::{Change, EmbeddedIndex, Ranking, SearchPlan, TrackIndex, embed::StaticTable};
use synthetic::Library;

const N_QUERIES: usize = 400;
/// Exact neighbours are found by brute force during the generation of the tracks, so only for some queries.
const N_EXACT: usize = 100;
const BATCH: usize = 8192;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes };
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "tracks",
        "p50 ms",
        "p99 ms",
        "cpu ms",
        "recall@10",
        "get100 p99",
        "build s",
        "open s",
        "index MB",
        "anon MB",
        "disk MB"
    );
    for size in sizes {
        measure(size).await?;
    }
    Ok(())
}

async fn measure(size: usize) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let table = StaticTable::built_in()?;
    let library = Library::new(size);
    let queries: Vec<String> = (0..N_QUERIES).map(|n| library.query(n)).collect();
    let query_vectors: Vec<Vec<f32>> = queries.iter().take(N_EXACT).map(|query| table.vector(query)).collect();
    let mut exact = vec![Vec::<(f32, Isrc)>::new(); N_EXACT];

    let mut dump = dump::Dump::asked(&table, &queries)?;
    let started = Instant::now();
    let index = EmbeddedIndex::open(dir.path(), Arc::new(table.clone()))?;
    for from in (0..size).step_by(BATCH) {
        let tracks: Vec<_> = (from..size.min(from + BATCH)).map(|n| library.track(n)).collect();
        for track in &tracks {
            let vectors = vectors(&table, track, &mut dump)?;
            for (best, query) in exact.iter_mut().zip(&query_vectors) {
                let similarity = vectors.iter().map(|vector| dot(query, vector)).fold(f32::MIN, f32::max);
                offer(best, similarity, track.isrc.as_ref().expect("every track has an ISRC"));
            }
        }
        let change = |track| Change::public(from as i64 + 1, track);
        index.apply(&tracks.into_iter().map(change).collect::<Vec<_>>()).await?;
        eprint!("\r{} of {size}", from + BATCH);
    }
    let build_s = started.elapsed().as_secs_f64();
    drop(index);
    let started = Instant::now();
    let index = EmbeddedIndex::open(dir.path(), Arc::new(table))?;
    let open_s = started.elapsed().as_secs_f64();

    let recall = recall(&index, &queries, &exact).await?;
    let mut searches = Vec::new();
    let cpu_before = cpu_ms();
    for query in &queries {
        let started = Instant::now();
        index.search(&SearchPlan::new(query, 20)).await?;
        searches.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    let cpu_per_search = (cpu_ms() - cpu_before) / queries.len() as f64;
    let mut gets = Vec::new();
    for round in 0..100 {
        let id = |n: usize| DocumentId::public(TrackId::of_isrc(&library.isrc(n)));
        let codes: Vec<DocumentId> = (0..100).map(|n| id((n * 7919 + round * 104_729) % size)).collect();
        let started = Instant::now();
        assert_eq!(index.get(&codes).await?.len(), 100);
        gets.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    println!(
        "\r{size:>9} {:>9.2} {:>9.2} {cpu_per_search:>9.2} {recall:>9.3} {:>10.2} {build_s:>9.1} {open_s:>9.2} {:>9.1} {:>9.1} {:>9.1}",
        percentile(&mut searches, 50),
        percentile(&mut searches, 99),
        percentile(&mut gets, 99),
        index.memory_bytes() as f64 / 1e6,
        anonymous_mb(),
        disk_mb(dir.path())?,
    );
    Ok(())
}

/// A track has a vector for each of its chunks; the closest one counts.
fn vectors(table: &StaticTable, track: &Track, dump: &mut dump::Dump) -> anyhow::Result<Vec<Vec<f32>>> {
    let mut vectors = Vec::new();
    for chunk in search::document::chunks(track) {
        let vector = table.vector(&chunk);
        dump.add(&chunk, &vector)?;
        vectors.push(vector);
    }
    Ok(vectors)
}

async fn recall(index: &EmbeddedIndex, queries: &[String], exact: &[Vec<(f32, Isrc)>]) -> anyhow::Result<f64> {
    let mut n_found = 0;
    for (query, exact) in queries.iter().zip(exact) {
        // The nearest vectors are of fewer tracks: a search asks for many more than it shows.
        let mut found = index.rank(query, 100, Ranking::Meaning).await?;
        found.truncate(10);
        n_found += exact.iter().filter(|(_, isrc)| found.contains(isrc)).count();
    }
    Ok(n_found as f64 / (10 * exact.len()) as f64)
}

fn offer(best: &mut Vec<(f32, Isrc)>, similarity: f32, isrc: &Isrc) {
    if best.len() == 10 && best[9].0 >= similarity {
        return;
    }
    let place = best.partition_point(|(other, _)| *other >= similarity);
    best.insert(place, (similarity, isrc.clone()));
    best.truncate(10);
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum()
}

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

/// The CPU time of this process. Unlike elapsed time, it does not depend on other processes.
fn cpu_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks * 10.0
}

/// Memory of this process that is not backed by a file.
fn anonymous_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1000.0
}

fn disk_mb(dir: &std::path::Path) -> anyhow::Result<f64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        bytes += if entry.path().is_dir() { (disk_mb(&entry.path())? * 1e6) as u64 } else { entry.metadata()?.len() };
    }
    Ok(bytes as f64 / 1e6)
}

//! How many tracks a second an embedder and the index take: the sample library, read several times under other titles.
//!
//! `bench-embed MODELS_FOLDER [TRACKS]`

#[path = "../hot-paths/library.rs"]
mod library;

use std::{path::PathBuf, slice, time::Instant};

use anyhow::Context;
use music::{DocumentId, Track, TrackId};
use search::{
    Change, EmbeddedIndex, TrackIndex, document,
    embed::{Embedder, MiniLm, TextKind, minilm::Arithmetic},
};

/// As many as `search::catch_up` reads at once.
const BATCH: usize = 256;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the table is the result")]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let models = PathBuf::from(args.next().context("usage: bench-embed MODELS_FOLDER [TRACKS]")?);
    let n_tracks = args.next().map_or(Ok(1500), |n| n.parse())?;
    let embedder = search::embed::built_in(&models)?;
    let folder = tempfile::tempdir()?;
    let index = EmbeddedIndex::open(folder.path(), embedder.clone())?;
    let sample = library::sample()?;
    let changes: Vec<Change> = (0..n_tracks).map(|n| change(n, &sample[n % sample.len()])).collect();
    let n_chunks: usize =
        changes.iter().filter_map(|change| Some(document::chunks(change.track.as_ref()?).len())).sum();
    let (started, cpu) = (Instant::now(), cpu_s());
    for batch in changes.chunks(BATCH) {
        index.apply(batch).await?;
    }
    let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_s() - cpu);
    println!("{}: {n_tracks} tracks in {n_chunks} chunks", embedder.id());
    println!(
        "{wall:.1} s, {:.1} tracks/s; {cpu:.1} s of CPU, {:.1} ms a track, {:.2} cores busy",
        n_tracks as f64 / wall,
        1000.0 * cpu / n_tracks as f64,
        cpu / wall
    );
    let some: Vec<String> = sample.iter().take(40).flat_map(document::chunks).collect();
    if let (Some(minilm), Some(floats)) = (MiniLm::find(&models)?, MiniLm::find_with(&models, Arithmetic::Floats)?) {
        let together = minilm.embed(&some, TextKind::Document).await?;
        print_similarity("computed alone and among others", &together, &alone(&minilm, &some).await?);
        let precise = floats.embed(&some, TextKind::Document).await?;
        print_similarity("computed with the arithmetic of this processor and with floats", &together, &precise);
        println!("{:?}: {:.2} ms a query", Arithmetic::of_this_processor(), query_ms(&minilm).await?);
        println!("{:?}: {:.2} ms a query", Arithmetic::Floats, query_ms(&floats).await?);
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn print_similarity(how: &str, some: &[Vec<f32>], others: &[Vec<f32>]) {
    let similarities = some.iter().zip(others).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>());
    let (least, sum) = similarities.fold((f32::INFINITY, 0.0), |(least, sum), x| (least.min(x), sum + x));
    println!("similarity of vectors {how}: mean {:.6}, least {least:.6}", sum / some.len() as f32);
}

/// The median of ten rounds.
async fn query_ms(embedder: &impl Embedder) -> anyhow::Result<f64> {
    let mut rounds = Vec::new();
    for _ in 0..10 {
        let started = Instant::now();
        for query in library::QUERIES {
            embedder.embed(&[query.to_owned()], TextKind::Query).await?;
        }
        rounds.push(1000.0 * started.elapsed().as_secs_f64() / library::QUERIES.len() as f64);
    }
    rounds.sort_by(f64::total_cmp);
    Ok(rounds[rounds.len() / 2])
}

/// A text has the same vector alone and among others, but for rounding.
async fn alone(embedder: &impl Embedder, texts: &[String]) -> anyhow::Result<Vec<Vec<f32>>> {
    let mut vectors = Vec::new();
    for text in texts {
        vectors.extend(embedder.embed(slice::from_ref(text), TextKind::Document).await?);
    }
    Ok(vectors)
}

/// The same texts under another title would be found in the cache of the embedder, so each line gets the number too.
fn change(n: usize, sample: &Track) -> Change {
    let mut track = sample.clone();
    track.id = TrackId::of_isrc(&format!("ZB0000{n:06}").parse().expect("twelve letters and digits"));
    track.title = format!("{} {n}", track.title);
    track.lyrics = track.lyrics.map(|lyrics| format!("{n}\n{lyrics}"));
    Change { revision: n as i64 + 1, id: DocumentId::public(track.id), ..Change::public(1, track) }
}

fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

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
    embed::{Embedder, Kind, MiniLm},
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
    if let Some(minilm) = MiniLm::find(&models)? {
        let some: Vec<String> = sample.iter().take(40).flat_map(document::chunks).collect();
        println!("least similarity of a vector computed alone and among others: {:.6}", alone(&minilm, &some).await?);
        let started = Instant::now();
        for query in library::QUERIES {
            minilm.embed(&[query.to_owned()], Kind::Query).await?;
        }
        let n_queries = library::QUERIES.len() as f64;
        println!("{:.1} ms a query", 1000.0 * started.elapsed().as_secs_f64() / n_queries);
    }
    Ok(())
}

/// A text has the same vector alone and among others, but for rounding.
async fn alone(embedder: &impl Embedder, texts: &[String]) -> anyhow::Result<f32> {
    let together = embedder.embed(texts, Kind::Document).await?;
    let mut least = f32::INFINITY;
    for (text, vector) in texts.iter().zip(&together) {
        let alone = embedder.embed(slice::from_ref(text), Kind::Document).await?;
        least = least.min(alone[0].iter().zip(vector).map(|(a, b)| a * b).sum());
    }
    Ok(least)
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

//! Measures the import and enrichment of a library, and verifies the result after ten kills during the work.
//!
//! `bench-ingest [TRACKS] [MODELS FOLDER]`: the sources are doubles in this process, on the same machine.

mod files;
mod run;

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use anyhow::Context;
use doubles::{
    Running, crowd::crowd, deezer::DeezerDouble, lrclib::LrclibDouble, musicbrainz::MusicBrainzDouble,
    reccobeats::ReccoBeatsDouble, serve, state::ServiceState, world::World,
};
use run::Ran;
use serde_json::Value;
use sqlx::Connection;

const KILLS: u32 = 10;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let n_tracks = args.next().map_or(Ok(10_000), |n| n.parse())?;
    let models = args.next();
    let music = crowd(n_tracks);
    let sources = Sources::start(&music).await?;
    let folder = tempfile::tempdir()?;
    let names = files::write(&music, folder.path())?;
    let (calm, killed) = (folder.path().join("calm"), folder.path().join("killed"));
    if let Some(models) = models {
        copy(Path::new(&models), &calm.join("models"))?;
    }

    let mut command = vec!["import", "--json", "--patience", "3600"];
    command.extend(names.iter().map(String::as_str));
    let imported = run::to_the_end(&calm, &sources.settings, &command).await?;
    tell_import(&imported);
    copy(&calm, &killed)?;

    let ours = run::cpu_time(std::process::id()).unwrap_or_default();
    let ingested = run::to_the_end(&calm, &sources.settings, &["ingest", "--json"]).await?;
    let ours = run::cpu_time(std::process::id()).unwrap_or_default() - ours;
    tell_ingestion(&ingested, ours);
    tell_kills(&music, &sources, &killed, ingested.wall, &ingested.answer).await
}

struct Sources {
    lrclib: ServiceState,
    reccobeats: ServiceState,
    settings: Vec<(&'static str, String)>,
    _running: Vec<Running>,
}

impl Sources {
    async fn start(music: &World) -> anyhow::Result<Self> {
        let (lrclib, reccobeats) = (LrclibDouble::new(music.clone()), ReccoBeatsDouble::new(music.clone()));
        let routers = [
            ("LRCLIB_URL", lrclib.router()),
            ("RECCOBEATS_URL", reccobeats.router()),
            ("MUSICBRAINZ_URL", MusicBrainzDouble::generous(music.clone()).router()),
            ("DEEZER_URL", DeezerDouble::generous(music.clone()).router()),
        ];
        let (mut settings, mut running) = (vec![], vec![]);
        for (name, router) in routers {
            let server = serve(router).await?;
            settings.push((name, format!("http://{}", server.addr)));
            running.push(server);
        }
        Ok(Self { lrclib: lrclib.0, reccobeats: reccobeats.0, settings, _running: running })
    }
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn tell_import(ran: &Ran) {
    println!("Import: {:.1} s, {:.1} s CPU time, peak memory {:.0} MiB", secs(ran.wall), secs(ran.cpu), ran.peak_mib);
    println!(
        "{:<36} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}",
        "file", "read", "tracks", "matched", "ambiguous", "unmatched", "unusable"
    );
    for file in ran.answer["files"].as_array().into_iter().flatten() {
        let name = file["file"].as_str().unwrap_or_default();
        let n = |field: &str| file[field].as_u64().unwrap_or_default();
        println!(
            "{name:<36} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8}",
            n("read"),
            n("tracks"),
            n("matched"),
            n("ambiguous"),
            n("unmatched"),
            n("unusable")
        );
    }
    println!("added to the library: {}\n", ran.answer["added"]);
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn tell_ingestion(ran: &Ran, doubles: Duration) {
    let tracks = ran.answer["tracks"].as_f64().unwrap_or_default();
    println!(
        "Ingestion of {tracks} tracks: {:.1} s, {:.0} tracks/s, peak memory {:.0} MiB",
        secs(ran.wall),
        tracks / secs(ran.wall),
        ran.peak_mib
    );
    println!(
        "CPU time: {:.1} s in Segue, {:.1} s in the doubles, in {:.1} s: {:.2} cores busy",
        secs(ran.cpu),
        secs(doubles),
        secs(ran.wall),
        secs(ran.cpu + doubles) / secs(ran.wall)
    );
    println!("embedder: {}, failed steps: {}\n", ran.answer["embedder"], ran.answer["failed"]);
}

/// Kills the process repeatedly, lets it finish, and verifies that no work was lost or done twice.
#[expect(clippy::print_stdout, reason = "the table is the result")]
async fn tell_kills(
    music: &World,
    sources: &Sources,
    data_dir: &Path,
    calm: Duration,
    expected: &Value,
) -> anyhow::Result<()> {
    let desks = [&sources.lrclib, &sources.reccobeats];
    let (mut lives, mut n_killed) = (vec![], 0);
    for n in 1..=KILLS {
        // A different delay for each kill.
        let after = calm.mul_f64((0.05 + f64::from(n * 37 % 10) / 100.0).min(0.12));
        n_killed += u32::from(run::and_killed(data_dir, &sources.settings, &["ingest"], after).await?);
        lives.push((kept_steps(data_dir).await?, desks.map(|state| state.requests().len())));
    }
    let end = run::to_the_end(data_dir, &sources.settings, &["ingest", "--json"]).await?;
    let mut n_again = 0;
    for (kept, n_before) in &lives {
        for (state, n_before) in desks.iter().zip(n_before) {
            n_again += n_asked_again(&state.requests()[*n_before..], kept, music);
        }
    }
    let steps = kept_steps(data_dir).await?;
    let n_expected = expected["tracks"].as_u64().unwrap_or_default();
    let kept: Vec<_> = lives.iter().map(|(kept, _)| kept.len()).collect();
    println!("Killed {n_killed} times of {KILLS}; steps kept at each kill: {kept:?} of {}", 4 * n_expected);
    println!(
        "indexed at the end: {} of {n_expected}; steps kept: {}; calls repeated for a kept step: {n_again}",
        end.answer["tracks"],
        steps.len()
    );
    anyhow::ensure!(end.answer["tracks"] == expected["tracks"] && steps.len() as u64 == 4 * n_expected && n_again == 0);
    Ok(())
}

async fn kept_steps(data_dir: &Path) -> anyhow::Result<BTreeSet<(String, String)>> {
    let url = format!("sqlite:{}", data_dir.join("segue.db").display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await?;
    let sql = "SELECT step, isrc FROM ingest_steps WHERE state = 'done'";
    let rows: Vec<(String, String)> = sqlx::query_as(sql).fetch_all(&mut connection).await?;
    Ok(rows.into_iter().collect())
}

/// Every title of this catalogue is unique, so a call identifies its track.
fn n_asked_again(calls: &[String], kept: &BTreeSet<(String, String)>, music: &World) -> usize {
    let titles: std::collections::HashMap<&str, &str> =
        music.pieces.values().map(|piece| (piece.title.as_str(), piece.isrc.as_str())).collect();
    let is_kept = |step: &str, isrc: &str| kept.contains(&(step.to_owned(), isrc.to_owned()));
    let about = |call: &&String| {
        let Some(url) = reqwest::Url::parse("http://double").ok().and_then(|url| url.join(call).ok()) else {
            return false;
        };
        url.query_pairs().any(|(key, value)| match key.as_ref() {
            "track_name" => titles.get(value.as_ref()).is_some_and(|isrc| is_kept("lyrics", isrc)),
            "ids" if url.path() == "/v1/audio-features" => value.split(',').any(|isrc| is_kept("features", isrc)),
            _ => false,
        })
    };
    calls.iter().filter(about).count()
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("{} cannot be read", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn secs(time: Duration) -> f64 {
    time.as_secs_f64()
}

//! What every list, search and status endpoint costs a user with much: 100,000 tracks and 10,000 conversations by default.
//!
//! `bench-growth [TRACKS] [CONVERSATIONS] [FOLDER]`: measured through HTTP on SQLite, and on PostgreSQL where
//! `SEGUE_TEST_POSTGRES` names a server. What is in FOLDER is used again, so that only the first run fills it. It fails when
//! an endpoint is over the aim. `BENCH_DATABASE` and `BENCH_ONLY` name the only database and a part of the only paths.
//!
//! `bench-growth turns [FOLDER]`: what a turn costs on SQLite, by the size of the installation and of the conversation.

mod ask;
mod model;
#[path = "../../process.rs"]
#[expect(dead_code, reason = "the relay and the memory are for the other measurement")]
mod process;
#[path = "../bench-ingest/run.rs"]
#[expect(dead_code, reason = "killing is for the other measurement")]
mod run;
mod seed;
mod turns;

use std::path::{Path, PathBuf};

use tokio::process::Command;

/// The most that a request may take, in ms.
const AIM_MS: f64 = 10.0;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the table is the result")]
async fn main() -> anyhow::Result<()> {
    // The first to choose a provider chooses for all; there is no other here.
    _ = rustls::crypto::ring::default_provider().install_default();
    let mut args = std::env::args().skip(1).peekable();
    let temporary = tempfile::tempdir()?;
    if args.next_if(|word| word == "turns").is_some() {
        let folder = args.next().map_or(temporary.path().to_path_buf(), PathBuf::from);
        return turns::every_size(&folder, &settings(None)).await;
    }
    let size = seed::Size {
        n_tracks: args.next().map_or(Ok(100_000), |n| n.parse())?,
        n_conversations: args.next().map_or(Ok(10_000), |n| n.parse())?,
    };
    let folder = args.next().map_or(temporary.path().to_path_buf(), PathBuf::from);
    let postgres = std::env::var("SEGUE_TEST_POSTGRES").ok();
    let databases = [("SQLite", None), ("PostgreSQL", postgres)];
    let mut n_over = 0;
    let only = std::env::var("BENCH_DATABASE").unwrap_or_default();
    let is_asked = |name: &str, url: &Option<String>| name.contains(&only) && (name == "SQLite" || url.is_some());
    for (name, url) in databases.into_iter().filter(|(name, url)| is_asked(name, url)) {
        let data = folder.join(name);
        let settings = settings(url);
        let server = seed::fill(&data, &settings, size).await?;
        println!("\n{name}: {} tracks, {} conversations; ms a request", size.n_tracks, size.n_conversations);
        let figures = ask::every_endpoint(&server).await?;
        figures.iter().for_each(|line| println!("{line}"));
        n_over += figures.iter().filter(|line| line.p99_ms > AIM_MS).count();
        server.stop().await?;
    }
    anyhow::ensure!(n_over == 0, "{n_over} endpoints are over {AIM_MS} ms at p99");
    Ok(())
}

/// No service is asked and nothing is limited.
fn settings(database: Option<String>) -> Vec<(&'static str, String)> {
    let off = ["LRCLIB_URL", "RECCOBEATS_URL", "MUSICBRAINZ_URL", "DEEZER_URL", "SEGUE_SAMPLE"];
    let none = ["SEGUE_REQUESTS_PER_SECOND", "SEGUE_RATE_PER_MINUTE", "SEGUE_CONCURRENT_TURNS"];
    let mut settings: Vec<_> = off.into_iter().map(|name| (name, "off".to_owned())).collect();
    settings.extend(none.into_iter().map(|name| (name, "0".to_owned())));
    settings.push(("SEGUE_MODEL", "offline".to_owned()));
    settings.extend(database.map(|url| ("DATABASE_URL", url)));
    settings
}

/// A server on this data that ends with the value.
async fn serve(data: &Path, settings: &[(&'static str, String)]) -> anyhow::Result<process::Server> {
    let mut command = Command::new(process::sibling("segue")?);
    command.arg("serve").env("SEGUE_DATA_DIR", data).env("SEGUE_LISTEN", "127.0.0.1:0");
    command.envs(settings.iter().map(|(name, value)| (*name, value)));
    process::start(command, None).await
}

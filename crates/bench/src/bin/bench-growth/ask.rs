//! Every list, search and status endpoint, asked one after another.

use std::{fmt, time::Instant};

use anyhow::Context;
use serde_json::Value;

use crate::{process::Server, seed::WORDS};

const REQUESTS: usize = 200;
const WARM_UP: usize = 5;

pub(crate) struct Figures {
    what: String,
    p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Processor time of the server; it is steadier than the time on a shared machine.
    cpu_ms: f64,
    kib: f64,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, p50_ms, p99_ms, cpu_ms, kib } = self;
        let over = if *p99_ms > crate::AIM_MS { "  OVER" } else { "" };
        write!(f, "{what:<52} p50 {p50_ms:>6.1}  p99 {p99_ms:>6.1}  CPU {cpu_ms:>6.2}  {kib:>7.1} KiB{over}")
    }
}

/// Paths; `{word}` stands for another word each time.
const PATHS: &[&str] = &[
    "/api/search?q={word} {word}",
    "/api/search?q=quiet songs about the {word} from the 1990s",
    "/api/library/tracks?sort=added",
    "/api/library/tracks?sort=title",
    "/api/library/tracks?sort=artist",
    "/api/library/tracks?sort=album",
    "/api/library/tracks?sort=year",
    "/api/library/tracks?sort=plays",
    "/api/library/tracks?sort=title&cursor=1000",
    "/api/library/tracks?q={word}",
    "/api/library/tracks?q={word} {word}",
    "/api/library/tracks?q=a",
    "/api/library/tracks?q=12345",
    "/api/library/tracks?q={word} 5{word}",
    "/api/library/tracks?artist=The {word} 7",
    "/api/library/tracks?genre=Jazz",
    "/api/library/tracks?genre=Jazz&sort=title",
    "/api/library/tracks?year=1984&sort=artist",
    "/api/library/tracks?decade=1990&sort=plays",
    "/api/library/artists",
    "/api/library/artists?q={word}",
    "/api/library/albums",
    "/api/library/albums?cursor=5000",
    "/api/library/albums?limit=50",
    "/api/library/albums?limit=50&q={word}",
    "/api/library/genres",
    "/api/library/imports",
    "/api/library/sources",
    "/api/library/unmatched",
    "/api/index",
    "/api/about",
    "/api/me",
    "/api/conversations",
    "/api/conversations?q={word}",
    "/api/conversations?q=nothing has these words",
    "/api/tasks",
    "/api/tasks?filter=pending",
    "/api/playlists",
    "/api/trash",
    "/api/tracks/merges",
    "/api/usage",
    "/api/models",
    "/api/tools",
    "/healthz",
    "/readyz",
    "/metrics",
];

pub(crate) async fn every_endpoint(server: &Server) -> anyhow::Result<Vec<Figures>> {
    let client = reqwest::Client::new();
    let mut paths: Vec<String> = PATHS.iter().map(|path| (*path).to_owned()).collect();
    paths.extend(of_one_thing(&client, &server.url).await?);
    let only = std::env::var("BENCH_ONLY").unwrap_or_default();
    let mut figures = Vec::new();
    for path in paths.iter().filter(|path| path.contains(&only)) {
        figures.push(measure(&client, server, path).await?);
    }
    Ok(figures)
}

/// Pages about one track, album, artist, playlist or conversation.
async fn of_one_thing(client: &reqwest::Client, url: &str) -> anyhow::Result<Vec<String>> {
    let first = async |path: &str, list: &str, field: &str| -> anyhow::Result<String> {
        let page: Value = client.get(format!("{url}{path}")).send().await?.error_for_status()?.json().await?;
        Ok(page[list][0][field].as_str().with_context(|| format!("{path} lists nothing"))?.to_owned())
    };
    let track = first("/api/library/tracks?sort=title", "tracks", "trackId").await?;
    let artist = first("/api/library/tracks?sort=title", "tracks", "artist").await?;
    let title = first("/api/library/tracks?sort=title", "tracks", "album").await?;
    let album = first("/api/library/albums", "albums", "id").await?;
    let playlist = first("/api/playlists", "playlists", "id").await?;
    let conversation = first("/api/conversations", "conversations", "id").await?;
    Ok(vec![
        format!("/api/library/tracks?artist={artist}"),
        format!("/api/library/tracks?album={title}&sort=album"),
        format!("/api/library/tracks/{track}"),
        format!("/api/tracks/{track}/similar"),
        format!("/api/library/albums/{album}"),
        format!("/api/playlists/{playlist}"),
        format!("/api/conversations/{conversation}"),
    ])
}

async fn measure(client: &reqwest::Client, server: &Server, path: &str) -> anyhow::Result<Figures> {
    let (mut times, mut n_bytes, mut cpu_before) = (Vec::with_capacity(REQUESTS), 0, 0.0);
    for n in 0..REQUESTS + WARM_UP {
        if n == WARM_UP {
            (cpu_before, n_bytes) = (server.cpu_ms()?, 0);
            times.clear();
        }
        let path = path.replacen("{word}", WORDS[n % 32], 1).replace("{word}", WORDS[n / 3 % 32]);
        let began = Instant::now();
        let answer = client.get(format!("{}{path}", server.url)).send().await?;
        let status = answer.status();
        let body = answer.bytes().await?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        anyhow::ensure!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&body));
        n_bytes += body.len();
    }
    times.sort_by(f64::total_cmp);
    Ok(Figures {
        what: path.to_owned(),
        p50_ms: times[times.len() / 2],
        p99_ms: times[times.len() * 99 / 100],
        cpu_ms: (server.cpu_ms()? - cpu_before) / REQUESTS as f64,
        kib: n_bytes as f64 / REQUESTS as f64 / 1024.0,
    })
}

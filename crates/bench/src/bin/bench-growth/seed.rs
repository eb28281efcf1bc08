//! A user who has much, filled in through the interfaces that users have.

use std::{fmt::Write, fs, path::Path, time::Duration};

use anyhow::Context;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use crate::{process::Server, run, serve};

#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) n_tracks: usize,
    pub(crate) n_conversations: usize,
}

const AT_ONCE: usize = 16;
const TRACKS_PER_ALBUM: usize = 10;
const ALBUMS_PER_ARTIST: usize = 4;
const GENRES: [&str; 12] = [
    "Ambient",
    "Blues",
    "Classical",
    "Country",
    "Electronic",
    "Folk",
    "Hip Hop",
    "Jazz",
    "Metal",
    "Pop",
    "Rock",
    "Soul",
];
pub(crate) const WORDS: [&str; 32] = [
    "amber", "anchor", "ashes", "aurora", "border", "candle", "carbon", "cinder", "copper", "desert", "ember",
    "feather", "garden", "glass", "harbour", "hollow", "island", "ivory", "lantern", "marble", "meadow", "mirror",
    "north", "ocean", "orchard", "paper", "quiet", "river", "shadow", "silver", "thunder", "winter",
];

/// A server whose user has that many tracks and conversations. What is there already stays.
pub(crate) async fn fill(data: &Path, settings: &[(&'static str, String)], size: Size) -> anyhow::Result<Server> {
    let is_new = !data.exists();
    if is_new {
        fs::create_dir_all(data)?;
        let file = data.join("library.csv");
        fs::write(&file, table(size.n_tracks))?;
        let file = file.display().to_string();
        run::to_the_end(data, settings, &["import", "--json", &file]).await?;
    }
    let server = serve(data, settings).await?;
    let client = reqwest::Client::new();
    wait_for_index(&client, &server.url, size.n_tracks).await?;
    if is_new {
        converse(&client, &server.url, size.n_conversations).await?;
        playlists_and_tasks(&client, &server.url, size.n_conversations / 10).await?;
    }
    Ok(server)
}

/// Every track has an artist, an album, a genre and a year; a tenth has a code.
fn table(n_tracks: usize) -> String {
    let mut text = "title,artist,album,genre,year,duration,isrc\n".to_owned();
    for n in 0..n_tracks {
        let (album, artist) = (n / TRACKS_PER_ALBUM, n / TRACKS_PER_ALBUM / ALBUMS_PER_ARTIST);
        let word = |n: usize| WORDS[n.wrapping_mul(0x9e37_79b9) / 7 % WORDS.len()];
        let isrc = if n % 10 == 0 { format!("ZB{:03}{:07}", n / 10_000_000, n % 10_000_000) } else { String::new() };
        let _ = writeln!(
            text,
            "{} {} {n},The {} {artist},{} {} {album},{},{},{},{isrc}",
            word(n),
            word(n / 3 + 11),
            word(artist + 5),
            word(album + 1),
            word(album / 2 + 7),
            GENRES[artist % GENRES.len()],
            1950 + album % 75,
            120 + n % 240
        );
    }
    text
}

async fn wait_for_index(client: &reqwest::Client, url: &str, n_tracks: usize) -> anyhow::Result<()> {
    loop {
        let status: Value = client.get(format!("{url}/api/index")).send().await?.error_for_status()?.json().await?;
        let left = |step: &Value| step["waiting"].as_u64().unwrap_or(0) + step["running"].as_u64().unwrap_or(0);
        let steps = status["steps"].as_object().context("the steps")?;
        let is_done = status["pending"] == 0 && steps.values().map(left).sum::<u64>() == 0;
        if is_done && status["tracks"].as_u64() >= Some(n_tracks as u64) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Conversations of one turn each, about everything and nothing.
async fn converse(client: &reqwest::Client, url: &str, n: usize) -> anyhow::Result<()> {
    let turn = async |n: usize| {
        let message = format!("Add a task: {} {} number {n}", WORDS[n % 32], WORDS[n / 32 % 32]);
        let asked = client.post(format!("{url}/api/chat/stream")).json(&json!({"message": message, "agent": "tasks"}));
        asked.send().await?.error_for_status()?.bytes().await?;
        anyhow::Ok(())
    };
    stream::iter((0..n).map(turn)).buffer_unordered(AT_ONCE).try_collect().await
}

async fn playlists_and_tasks(client: &reqwest::Client, url: &str, n: usize) -> anyhow::Result<()> {
    let page: Value = client.get(format!("{url}/api/library/tracks?limit=50")).send().await?.json().await?;
    let ids: Vec<&Value> = page["tracks"].as_array().context("tracks")?.iter().map(|track| &track["trackId"]).collect();
    let playlist = async |n: usize| {
        let new = json!({"title": format!("{} {n}", WORDS[n % 32]), "trackIds": ids});
        client.post(format!("{url}/api/playlists")).json(&new).send().await?.error_for_status()?;
        anyhow::Ok(())
    };
    stream::iter((0..n).map(playlist)).buffer_unordered(AT_ONCE).try_collect().await
}

//! Is every readable file found by its title, its artist, its album and a line of its lyrics?

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Stdio,
    time::Instant,
};

use anyhow::Context;
use doubles::home_library::{FileKind, HomeFile};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

const AT_ONCE: usize = 4;

type Track = (String, String);

/// What a file can be found by.
type Field = fn(&HomeFile) -> Option<&str>;

/// Asks for everything, and says which share is found in the first fifty.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub(crate) async fn all(data: &Path, settings: &[(&'static str, String)], files: &[HomeFile]) -> anyhow::Result<()> {
    // The first to choose a provider chooses for all; there is no other here.
    _ = rustls::crypto::ring::default_provider().install_default();
    let (client, (_server, url)) = (reqwest::Client::new(), serve(data, settings).await?);
    let readable: Vec<&HomeFile> = files.iter().filter(|file| file.kind != FileKind::Broken).collect();
    let fields: [(&str, Field); 4] = [
        ("title", |file| Some(&file.title)),
        ("artist", |file| Some(&file.artist)),
        ("album", |file| Some(&file.album)),
        ("line of lyrics", |file| file.line.as_deref()),
    ];
    let mut n_missed = 0;
    for (name, field) in fields {
        let mut wanted: BTreeMap<&str, BTreeSet<Track>> = BTreeMap::new();
        for file in &readable {
            if let Some(words) = field(file) {
                wanted.entry(words).or_default().insert((file.title.clone(), file.artist.clone()));
            }
        }
        let (began, n_asked) = (Instant::now(), wanted.len());
        let n_wanted: usize = wanted.values().map(BTreeSet::len).sum();
        let missed: Vec<_> =
            stream::iter(wanted.into_iter().map(|(words, wanted)| missing(&client, &url, words, wanted)))
                .buffer_unordered(AT_ONCE)
                .try_collect()
                .await?;
        let missed: Vec<(&str, Track)> = missed.into_iter().flatten().collect();
        println!(
            "by {name:<15} {:>7.3} % of {n_wanted} tracks, {n_asked} searches, {:.1} ms each",
            100.0 * (1.0 - missed.len() as f64 / n_wanted as f64),
            1000.0 * began.elapsed().as_secs_f64() / n_asked as f64
        );
        missed.iter().take(5).for_each(|(words, track)| println!("    '{words}' does not find {track:?}"));
        n_missed += missed.len();
    }
    anyhow::ensure!(n_missed == 0, "{n_missed} tracks are not found");
    Ok(())
}

/// The tracks that should be found by these words and are not.
async fn missing<'a>(
    client: &reqwest::Client,
    url: &str,
    words: &'a str,
    wanted: BTreeSet<Track>,
) -> anyhow::Result<Vec<(&'a str, Track)>> {
    let asked = reqwest::Url::parse_with_params(&format!("{url}/api/search"), [("q", words), ("limit", "50")])?;
    let found: Value = client.get(asked).send().await?.error_for_status()?.json().await?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tracks = found["tracks"].as_array().context("a list of tracks")?.iter();
    let found: BTreeSet<Track> = tracks.map(|track| (text(&track["title"]), text(&track["artist"]))).collect();
    Ok(wanted.into_iter().filter(|track| !found.contains(track)).map(|track| (words, track)).collect())
}

/// A server that goes with the value; and its address.
async fn serve(data: &Path, settings: &[(&'static str, String)]) -> anyhow::Result<(Child, String)> {
    let mut command = Command::new(std::env::current_exe()?.with_file_name("segue"));
    command.arg("serve").env("SEGUE_DATA_DIR", data).env("SEGUE_LISTEN", "127.0.0.1:0");
    command.envs(settings.iter().map(|(name, value)| (*name, value))).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some((_, rest)) = line.split_once("ready on ") {
            let url = rest.split_whitespace().next().context("an address")?.to_owned();
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok((child, url));
        }
    }
    anyhow::bail!("the server did not start")
}

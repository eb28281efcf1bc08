//! What a home library costs: twenty thousand files scanned, scanned again, moved about, and every one searched for.
//!
//! `bench-library [FILES]`: no network, no catalogue, no model; Segue is the binary beside this one.

mod ask;
#[path = "../bench-ingest/run.rs"]
#[expect(dead_code, reason = "killing is for the other measurement")]
mod run;

use std::{fs, path::Path};

use anyhow::Context;
use doubles::home_library::{self, FileKind, HomeFile};
use run::Ran;

/// Every so many files are moved before the third scan.
const MOVED_EVERY: usize = 20;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the table is the result")]
async fn main() -> anyhow::Result<()> {
    let n_files = std::env::args().nth(1).map_or(Ok(20_000), |n| n.parse())?;
    let folder = tempfile::tempdir()?;
    let (music, data) = (folder.path().join("music"), folder.path().join("data"));
    let mut files = home_library::write(&music, n_files)?;
    let count = |kind: FileKind| files.iter().filter(|file| file.kind == kind).count();
    println!(
        "{n_files} files: {} with an ISRC, {} without tags, {} copies, {} broken",
        count(FileKind::Coded),
        count(FileKind::Untagged),
        count(FileKind::Copy),
        count(FileKind::Broken)
    );
    let settings = offline();
    let path = music.display().to_string();
    let first = run::to_the_end(&data, &settings, &["library", "add", &path, "--json"]).await?;
    tell("first scan, tracks and index", &first);
    let again = run::to_the_end(&data, &settings, &["library", "sync", "--json"]).await?;
    tell("nothing changed", &again);
    let n_moved = shuffle(&music, &mut files)?;
    let moved = run::to_the_end(&data, &settings, &["library", "sync", "--json"]).await?;
    tell(&format!("{n_moved} files moved"), &moved);
    ask::all(&data, &settings, &files).await
}

/// No service is asked: no catalogue, no lyrics, no features, no model. The files contain no sounds to compare.
fn offline() -> Vec<(&'static str, String)> {
    let off = ["LRCLIB_URL", "RECCOBEATS_URL", "MUSICBRAINZ_URL", "DEEZER_URL", "SEGUE_SAMPLE", "SEGUE_FINGERPRINTS"];
    let mut settings: Vec<_> = off.into_iter().map(|name| (name, "off".to_owned())).collect();
    settings.push(("SEGUE_MODEL", "offline".to_owned()));
    settings.push(("SEGUE_REQUESTS_PER_SECOND", "0".to_owned()));
    // A search counts as a call of a tool, and ten calls a minute are allowed for each turn.
    settings.push(("SEGUE_RATE_PER_MINUTE", "0".to_owned()));
    settings
}

/// Files with tags go to another folder under another name.
fn shuffle(music: &Path, files: &mut [HomeFile]) -> anyhow::Result<usize> {
    let elsewhere = music.join("Sorted");
    fs::create_dir_all(&elsewhere)?;
    let tagged = files.iter_mut().filter(|file| matches!(file.kind, FileKind::Tagged | FileKind::Coded));
    let mut n_moved = 0;
    for (n, file) in tagged.enumerate().filter(|(n, _)| n.is_multiple_of(MOVED_EVERY)) {
        let extension = file.path.extension().context("an audio file has an extension")?.to_owned();
        let path = elsewhere.join(format!("moved {n}")).with_extension(extension);
        fs::rename(&file.path, &path)?;
        let lyrics = file.path.with_extension("lrc");
        if lyrics.exists() {
            fs::rename(lyrics, path.with_extension("lrc"))?;
        }
        file.path = path;
        n_moved += 1;
    }
    Ok(n_moved)
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn tell(what: &str, ran: &Ran) {
    let report = &ran.answer["folders"][0]["report"];
    let n = |field: &str| report[field].as_u64().unwrap_or_default();
    println!(
        "{what:<30} {:>6.1} s, {:>6.1} s of processor, {:>5.0} MiB at most: {} added, {} changed, {} moved, {} gone",
        ran.wall.as_secs_f64(),
        ran.cpu.as_secs_f64(),
        ran.peak_mib,
        n("added"),
        n("changed"),
        n("moved"),
        n("gone")
    );
}

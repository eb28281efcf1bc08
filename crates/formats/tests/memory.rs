//! A long history is read in bounded memory. The test has its own process, because memory is measured per process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::{fs, io::Cursor};

use formats::FormatKind;

/// Generates plays on demand, so that only the memory of the parser is measured.
struct EndlessHistory {
    n_left: u32,
    ready: Cursor<Vec<u8>>,
}

impl std::io::Read for EndlessHistory {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.ready.read(out)?;
        if n > 0 || self.n_left == 0 {
            return Ok(n);
        }
        self.n_left -= 1;
        let n = self.n_left;
        let end = if n == 0 { "]" } else { "," };
        let play = format!(
            r#"{{"ts":"2023-03-01T09:12:44Z","platform":"{}","ms_played":221000,"master_metadata_track_name":"Song {}","master_metadata_album_artist_name":"Ivy Marlow","spotify_track_uri":"spotify:track:{}"}}{end}"#,
            "x".repeat(400),
            n % 500,
            n % 500,
        );
        self.ready = Cursor::new(play.into_bytes());
        self.read(out)
    }
}

/// The peak memory of this process, in kB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_long_history_is_read_in_bounded_memory() {
    let before = peak_memory();
    let n_plays = std::env::var("HISTORY_PLAYS").map_or(30_000, |n| n.parse().unwrap());
    let history = EndlessHistory { n_left: n_plays, ready: Cursor::new(b"[".to_vec()) };
    let gathered =
        formats::gather(formats::read(FormatKind::with_id("spotifyExtendedHistory").unwrap(), history)).unwrap();
    assert_eq!(gathered.tracks.len(), 500);
    assert_eq!(gathered.tracks.iter().map(|track| track.n_plays).sum::<u32>(), n_plays);
    let grown = peak_memory() - before;
    eprintln!("{n_plays} plays read in {grown} kB");
    assert!(grown < 12_000, "reading {n_plays} plays took {grown} kB");
}

//! The default text that foobar2000 copies from a playlist: `Artist - [Album CD1 #01] Title // Track artist`.

use crate::{
    format::{Format, Holds},
    lines::written_lines,
    spelling::{clean, split_at_dash},
    track::{Entry, ImportedTrack, LineError},
};

pub(super) const FORMAT: Format = Format {
    id: "foobar2000",
    name: "foobar2000 copy",
    holds: Holds::Tracks,
    recognise: |beginning| {
        let lines = beginning.written_lines();
        let n = lines.iter().filter(|line| parts(line).is_some()).count();
        n > 0 && n * 2 > lines.len()
    },
    entries: |source| Box::new(written_lines(source, |line, text, _| entry(line, text))),
};

struct Parts<'a> {
    artist: &'a str,
    album: &'a str,
    title: &'a str,
}

/// The brackets after the dash contain an album and a track number; other brackets are part of names.
fn parts(text: &str) -> Option<Parts<'_>> {
    let (artist, rest) = text.split_once(" - [")?;
    let (album, title) = rest.split_once("] ")?;
    let is_numbered =
        album.rsplit_once('#').is_some_and(|(_, n)| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
    is_numbered.then_some(Parts { artist, album, title })
}

fn entry(line: u64, text: &str) -> Entry {
    let mut track = ImportedTrack::at(line);
    match parts(text) {
        Some(parts) => {
            let (album, number) = parts.album.rsplit_once('#').unwrap_or((parts.album, ""));
            let (album, disc) = without_disc(album.trim());
            track.album = clean(album);
            track.track_number = number.parse().ok();
            track.details.disc_number = disc;
            let (title, artist) = parts.title.split_once(" // ").unwrap_or((parts.title, parts.artist));
            track.set_title(title);
            track.artists = clean(artist).into_iter().collect();
        }
        // A track without an album has no brackets.
        None if split_at_dash(text).is_some() => {
            track.set_both(text);
            track.either_way = false;
        }
        None => return Err(LineError::unusable(line, "not of the form Artist - [Album #01] Title")),
    }
    track.finish()
}

fn without_disc(album: &str) -> (&str, Option<u32>) {
    match album.rsplit_once(" CD") {
        Some((name, disc)) if disc.parse::<u32>().is_ok() => (name, disc.parse().ok()),
        _ => (album, None),
    }
}

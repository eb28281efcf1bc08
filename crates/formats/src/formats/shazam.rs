//! `shazamlibrary.csv`: a line `Shazam Library`, then `Index,TagTime,Title,Artist,URL,TrackKey`.

use crate::{
    format::{Format, Holds},
    table::{self, Dialect, Row},
    track::ImportedTrack,
};

pub(super) const FORMAT: Format = Format {
    id: "shazam",
    name: "Shazam library",
    holds: Holds::Tracks,
    recognise: |beginning| {
        let mut lines = beginning.start().lines();
        let is_titled = lines.next().is_some_and(|line| line.trim().trim_matches('"') == "Shazam Library");
        is_titled && lines.next().is_some_and(|header| header.contains("TagTime"))
    },
    entries: |source| table::entries(source, Dialect { n_lines_before: 1, adjust, ..Dialect::default() }),
};

/// The URL is a page about the track, not its audio.
fn adjust(_row: &Row, track: &mut ImportedTrack) {
    track.ids.location = None;
}

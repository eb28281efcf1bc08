//! `shazamlibrary.csv`: a line `Shazam Library`, then `Index,TagTime,Title,Artist,URL,TrackKey`.

use crate::{
    beginning::Beginning,
    format::{Entries, Format, Source},
    table::{self, Dialect, Row},
    track::ImportedTrack,
};

pub(super) struct Shazam;

impl Format for Shazam {
    fn id(&self) -> &'static str {
        "shazam"
    }

    fn name(&self) -> &'static str {
        "Shazam library"
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        let mut lines = beginning.start().lines();
        let is_titled = lines.next().is_some_and(|line| line.trim().trim_matches('"') == "Shazam Library");
        is_titled && lines.next().is_some_and(|header| header.contains("TagTime"))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect { n_lines_before: 1, adjust, ..Dialect::default() })
    }
}

/// The URL is a page about the track, not its audio.
fn adjust(_row: &Row, track: &mut ImportedTrack) {
    track.ids.location = None;
}

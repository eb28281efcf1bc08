//! A list of codes, one or more on each line.

use crate::{
    format::{Format, Holds},
    lines::{list_counts, written_lines},
    track::{Entry, ImportedTrack, LineError},
};

pub(super) const FORMAT: Format = Format {
    id: "isrcList",
    name: "list of ISRCs",
    holds: Holds::Tracks,
    recognise: |beginning| {
        // Up to half of the lines may be headings, remarks and mistyped codes.
        let n = list_counts(beginning);
        n.codes > n.names && n.codes * 2 >= n.lines
    },
    entries: |source| Box::new(written_lines(source, |line, text, _| entry(line, text))),
};

fn entry(line: u64, text: &str) -> Entry {
    // A column heading, as spreadsheets write it.
    if line == 1 && text.trim_matches('"').to_lowercase().starts_with("isrc") && text.len() < 12 {
        return Err(LineError::left_out(line, "a heading"));
    }
    let mut track = ImportedTrack::at(line);
    track.set_isrcs(text.trim_matches('"'));
    track.finish()
}

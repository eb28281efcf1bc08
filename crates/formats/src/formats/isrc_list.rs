//! A list of codes, one or more on each line.

use crate::{
    beginning::Beginning,
    format::{Entries, Format, Source},
    lines::{list_counts, written_lines},
    track::{Entry, ImportedTrack, LineError},
};

pub(super) struct IsrcList;

impl Format for IsrcList {
    fn id(&self) -> &'static str {
        "isrcList"
    }

    fn name(&self) -> &'static str {
        "list of ISRCs"
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        // Up to half of the lines may be headings, remarks and mistyped codes.
        let n = list_counts(beginning);
        n.codes > n.names && n.codes * 2 >= n.lines
    }

    fn entries(&self, source: Source) -> Entries {
        Box::new(written_lines(source, |line, text, _| entry(line, text)))
    }
}

fn entry(line: u64, text: &str) -> Entry {
    // A column heading, as spreadsheets write it.
    if line == 1 && text.trim_matches('"').to_lowercase().starts_with("isrc") && text.len() < 12 {
        return Err(LineError::left_out(line, "a heading"));
    }
    let mut track = ImportedTrack::at(line);
    track.set_isrcs(text.trim_matches('"'));
    track.finish()
}

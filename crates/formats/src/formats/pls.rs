//! PLS playlists of Winamp and radio stations: <https://en.wikipedia.org/wiki/PLS_(file_format)>.

use std::collections::BTreeMap;

use crate::{
    beginning::starts_with_ignoring_case,
    format::{Format, Holds, Source},
    lines::numbered,
    path_names::PathNames,
    spelling::seconds,
    track::{Entry, ImportedTrack},
};

pub(super) const FORMAT: Format = Format {
    id: "pls",
    name: "PLS playlist",
    holds: Holds::Playlist,
    recognise: |beginning| starts_with_ignoring_case(beginning.start(), "[playlist]"),
    entries: |source| Box::new(read(source).into_iter()),
};

/// The fields of one entry may be anywhere in the file, so all are kept until the end of the file.
fn read(source: Source) -> Vec<Entry> {
    let mut tracks: BTreeMap<u32, ImportedTrack> = BTreeMap::new();
    let mut entries = vec![];
    for line in numbered(source) {
        let (line, text) = match line {
            Ok(line) => line,
            Err(error) => {
                entries.push(Err(error));
                return entries;
            }
        };
        let Some((key, value)) = text.split_once('=') else { continue };
        let (name, number) = key.trim().split_at(key.trim().trim_end_matches(|c: char| c.is_ascii_digit()).len());
        let Ok(number) = number.parse() else { continue };
        let track = tracks.entry(number).or_insert_with(|| ImportedTrack::at(line));
        match name.to_ascii_lowercase().as_str() {
            "file" => track.set_link(value),
            "title" => track.set_both(value),
            "length" => track.duration = seconds(value),
            _ => {}
        }
    }
    entries.extend(tracks.into_values().map(finish));
    entries
}

fn finish(mut track: ImportedTrack) -> Entry {
    track.either_way = false;
    if let Some(path) = track.ids.location.clone() {
        PathNames::of(&path).fill(&mut track);
    }
    track.finish()
}

//! `beet export` as JSON (one array) or as JSON lines: <https://beets.readthedocs.io/en/stable/plugins/export.html>.
//! Lists of other programs with the members `title` and `artist` are read too.

use crate::{
    format::{Format, Holds},
    json::{self, Element, Names, number, text},
    spelling::{clean, moment},
    track::Entry,
};

pub(super) const FORMAT: Format = Format {
    id: "beets",
    name: "beets export",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.has_members(&["title", "artist"]),
    entries: |source| json::lines_or_array(source, entry),
};

const NAMES: Names = Names { title: "/title", artist: "/artist", album: "/album", link: "/path" };

fn entry(element: &Element) -> Entry {
    let value = &element.value;
    let whole = |pointer: &str| number(value, pointer).filter(|n| *n >= 1.0).map(|n| n as u32);
    let mut track = element.track(&NAMES);
    // `length` is in seconds, or `3:41` as beets prints it.
    let length = number(value, "/length").filter(|seconds| *seconds > 0.0 && *seconds < 86_400.0);
    track.duration = length.or_else(|| text(value, "/length").and_then(crate::spelling::seconds));
    track.track_number = whole("/track");
    track.release_date = whole("/year").map(|year| year.to_string());
    track.tags = text(value, "/genre").map(genres).unwrap_or_default();
    track.lyrics = text(value, "/lyrics").and_then(crate::spelling::clean_lines);
    track.added_at = text(value, "/added").and_then(moment);
    if let Some(code) = text(value, "/isrc") {
        track.set_isrcs(code);
    }
    track.ids.music_brainz = text(value, "/mb_trackid").and_then(clean);
    track.details.album_artist = text(value, "/albumartist").and_then(clean);
    track.details.composer = text(value, "/composer").and_then(clean);
    track.details.disc_number = whole("/disc");
    track.details.bpm = number(value, "/bpm").filter(|bpm| *bpm > 0.0);
    track.details.initial_key = text(value, "/initial_key").and_then(clean);
    track.details.language = text(value, "/language").and_then(clean);
    track.finish()
}

fn genres(text: &str) -> Vec<String> {
    text.split([',', ';']).filter_map(clean).take(20).collect()
}

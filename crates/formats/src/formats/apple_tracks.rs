//! `Apple Music Library Tracks.json` of a privacy export.

use crate::{
    format::{Format, Holds},
    json::{self, Element, NOT_A_TRACK, Names, Step, number, text},
    spelling::{clean, milliseconds, moment},
    track::Entry,
};

pub(super) const FORMAT: Format = Format {
    id: "appleTracks",
    name: "Apple Music privacy export",
    holds: Holds::Tracks,
    recognise: |beginning| {
        let has = |id| beginning.has_members(&["Title", id]);
        has("Track Identifier") || has("Apple Music Track Identifier")
    },
    entries: |source| json::entries(source, &[Step::Each], "", entry),
};

const NAMES: Names = Names { title: "/Title", artist: "/Artist", album: "/Album", link: "" };

fn entry(element: &Element) -> Entry {
    let value = &element.value;
    let content = text(value, "/Content Type").unwrap_or("Song");
    if !content.eq_ignore_ascii_case("song") && !content.eq_ignore_ascii_case("music") {
        return element.left_out(NOT_A_TRACK);
    }
    let mut track = element.track(&NAMES);
    if track.artists.is_empty() {
        track.artists = text(value, "/Album Artist").and_then(clean).into_iter().collect();
    }
    track.tags = text(value, "/Genre").and_then(clean).into_iter().collect();
    track.duration = number(value, "/Track Duration").and_then(|ms| milliseconds(&ms.to_string()));
    track.added_at = text(value, "/Date Added To Library").and_then(moment);
    track.track_number = number(value, "/Track Number On Album").map(|number| number as u32);
    let id = ["/Apple Music Track Identifier", "/Track Identifier"].iter().find_map(|key| number(value, key));
    track.ids.apple = id.map(|id| id.to_string());
    track.n_plays = number(value, "/Track Play Count").map_or(0, |n| n as u32);
    track.finish()
}

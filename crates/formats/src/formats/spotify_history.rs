//! `StreamingHistory_music_0.json` of a data export of Spotify: the last year.

use crate::{
    format::{Format, Holds},
    json::{self, Element, Names, Step, number, text},
    spelling::moment,
    table::{PLAYED_TOO_SHORT, SHORTEST_PLAY_MS},
    track::Entry,
};

pub(super) const FORMAT: Format = Format {
    id: "spotifyHistory",
    name: "Spotify streaming history",
    holds: Holds::History,
    recognise: |beginning| beginning.has_members(&["msPlayed", "trackName"]),
    entries: |source| json::entries(source, &[Step::Each], "", entry),
};

const NAMES: Names = Names { title: "/trackName", artist: "/artistName", album: "", link: "" };

fn entry(element: &Element) -> Entry {
    if number(&element.value, "/msPlayed").is_some_and(|ms| ms < SHORTEST_PLAY_MS) {
        return element.left_out(PLAYED_TOO_SHORT);
    }
    let mut track = element.track(&NAMES);
    track.set_played(text(&element.value, "/endTime").and_then(moment));
    track.finish()
}

//! `Streaming_History_Audio_*.json` of an extended data export of Spotify: all years.

use crate::{
    format::{Format, Holds},
    json::{self, Element, NOT_A_TRACK, Names, Step, is_true, number, text},
    spelling::moment,
    table::{PLAYED_TOO_SHORT, SHORTEST_PLAY_MS},
    track::Entry,
};

pub(super) const FORMAT: Format = Format {
    id: "spotifyExtendedHistory",
    name: "Spotify extended streaming history",
    holds: Holds::History,
    recognise: |beginning| beginning.has_members(&["master_metadata_track_name"]),
    entries: |source| json::entries(source, &[Step::Each], "", entry),
};

const NAMES: Names = Names {
    title: "/master_metadata_track_name",
    artist: "/master_metadata_album_artist_name",
    album: "/master_metadata_album_album_name",
    link: "/spotify_track_uri",
};

fn entry(element: &Element) -> Entry {
    let value = &element.value;
    if text(value, NAMES.title).is_none() {
        return element.left_out(NOT_A_TRACK);
    }
    if is_true(value, "/incognito_mode") {
        return element.left_out("played in a private session");
    }
    if number(value, "/ms_played").is_some_and(|ms| ms < SHORTEST_PLAY_MS) {
        return element.left_out(PLAYED_TOO_SHORT);
    }
    let mut track = element.track(&NAMES);
    track.set_played(text(value, "/ts").and_then(moment));
    track.finish()
}

//! `Playlist1.json` of a data export of Spotify.

use serde_json::Value;

use crate::{
    format::{Format, Holds},
    json::{self, Element, NOT_A_TRACK, Names, Step, text},
    spelling::moment,
    track::Entry,
};

pub(super) const FORMAT: Format = Format {
    id: "spotifyPlaylists",
    name: "Spotify playlists",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.has_members(&["playlists"]),
    entries: |source| {
        json::entries(
            source,
            &[Step::Keys(&["playlists"]), Step::Each, Step::Keys(&["items"]), Step::Each],
            "name",
            entry,
        )
    },
};

const NAMES: Names = Names {
    title: "/track/trackName",
    artist: "/track/artistName",
    album: "/track/albumName",
    link: "/track/trackUri",
};

fn entry(element: &Element) -> Entry {
    // Playlists also contain episodes and local files, in separate members.
    if element.value.pointer("/track").is_none_or(Value::is_null) {
        return element.left_out(NOT_A_TRACK);
    }
    let mut track = element.track(&NAMES);
    track.added_at = text(&element.value, "/addedDate").and_then(moment);
    track.finish()
}

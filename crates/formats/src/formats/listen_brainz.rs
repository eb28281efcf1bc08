//! Listens of ListenBrainz: one JSON value per line, or one array of them in older exports.

use crate::{
    format::{Format, Holds},
    json::{self, Element, Names, number, text},
    spelling::{clean, unix_moment},
    track::Entry,
};

pub(super) const FORMAT: Format = Format {
    id: "listenBrainz",
    name: "ListenBrainz listens",
    holds: Holds::History,
    recognise: |beginning| beginning.has_members(&["track_metadata"]),
    entries: |source| json::lines_or_array(source, entry),
};

const NAMES: Names = Names {
    title: "/track_metadata/track_name",
    artist: "/track_metadata/artist_name",
    album: "/track_metadata/release_name",
    link: "",
};

fn entry(element: &Element) -> Entry {
    let value = &element.value;
    let info = |name: &str| format!("/track_metadata/additional_info/{name}");
    let mut track = element.track(&NAMES);
    track.set_played(number(value, "/listened_at").and_then(|unix| unix_moment(unix as i64)));
    if let Some(code) = text(value, &info("isrc")) {
        track.set_isrcs(code);
    }
    let length = number(value, &info("duration_ms")).map(|ms| ms / 1000.0).or(number(value, &info("duration")));
    track.duration = length.filter(|seconds| *seconds > 0.0 && *seconds < 86_400.0);
    let mbid = text(value, "/track_metadata/mbid_mapping/recording_mbid").or(text(value, &info("recording_mbid")));
    track.ids.music_brainz = mbid.and_then(clean);
    if let Some(link) = text(value, &info("spotify_id")).or(text(value, &info("origin_url"))) {
        track.set_link(link);
    }
    track.finish()
}

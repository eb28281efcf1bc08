//! `watch-history.json` of Google Takeout. Only music videos are read.

use crate::{
    file_names::without_video_words,
    format::{Format, Holds},
    json::{self, Element, Step, text},
    spelling::{clean, moment},
    track::{Entry, ImportedTrack},
};

pub(super) const FORMAT: Format = Format {
    id: "youtubeHistory",
    name: "YouTube watch history",
    holds: Holds::History,
    recognise: |beginning| beginning.has_members(&["titleUrl", "header", "time"]),
    entries: |source| json::entries(source, &[Step::Each], "", entry),
};

/// The words for "watched" before or after the title, in the language of the account.
const WATCHED_BEFORE: &[&str] =
    &["Watched ", "Has visto ", "Vous avez regardé ", "Hai guardato ", "Assistiu a ", "Du har tittat på "];
const WATCHED_AFTER: &[&str] = &[" angesehen", " bekeken", " を視聴しました"];

/// Suffix of the channels that YouTube creates for an artist; they contain only music.
const TOPIC: &str = " - Topic";

fn entry(element: &Element) -> Entry {
    let value = &element.value;
    let channel = text(value, "/subtitles/0/name").unwrap_or_default();
    let is_music = text(value, "/header") == Some("YouTube Music") || channel.ends_with(TOPIC);
    if !is_music {
        return element.left_out("a video that is not marked as music");
    }
    let mut track = ImportedTrack::at(element.line);
    let title = watched(text(value, "/title").unwrap_or_default());
    // A removed video has its URL as title.
    if title.starts_with("https://") || channel.is_empty() {
        return element.left_out("a video that no longer exists");
    }
    match channel.strip_suffix(TOPIC) {
        Some(artist) => {
            track.set_title(title);
            track.artists = clean(artist).into_iter().collect();
        }
        None => names_of_video(&mut track, title, channel),
    }
    track.set_link(text(value, "/titleUrl").unwrap_or_default());
    track.set_played(text(value, "/time").and_then(moment));
    track.finish()
}

/// The channel of a label or artist: the title contains both names, or else the channel is the artist.
fn names_of_video(track: &mut ImportedTrack, title: &str, channel: &str) {
    track.set_both(&without_video_words(title));
    if track.artists.is_empty() {
        track.artists = clean(channel.trim_end_matches("VEVO")).into_iter().collect();
    }
}

fn watched(title: &str) -> &str {
    let before = WATCHED_BEFORE.iter().find_map(|words| title.strip_prefix(words));
    before.or_else(|| WATCHED_AFTER.iter().find_map(|words| title.strip_suffix(words))).unwrap_or(title)
}

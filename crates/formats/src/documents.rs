//! JSON documents of Spotify, Apple, ListenBrainz and the JSPF format: where their entries are, and what each says.

use std::io::{BufRead, Read};

use serde_json::Value;

use super::{
    Kind,
    json::{Element, Elements, Step, is_true, number, text},
    spelling::{clean, milliseconds, moment, unix_moment},
    table::{PLAYED_TOO_SHORT, SHORTEST_PLAY_MS},
    track::{Entry, ImportedTrack, LineError},
};

const NOT_A_TRACK: &str = "not a track";
const INCOGNITO: &str = "played in a private session";

/// The entries of a document that is one JSON value.
pub(super) fn entries(kind: Kind, source: impl Read) -> impl Iterator<Item = Entry> {
    const EACH: &[Step] = &[Step::Each];
    let (path, name_key): (&[Step], _) = match kind {
        Kind::SpotifyLibrary => (&[Step::Key("tracks"), Step::Each], ""),
        Kind::SpotifyPlaylists => (&[Step::Key("playlists"), Step::Each, Step::Key("items"), Step::Each], "name"),
        Kind::Jspf => (&[Step::Key("playlist"), Step::Key("track"), Step::Each], "title"),
        _ => (EACH, ""),
    };
    Elements::new(source, path, name_key).map(move |element| entry(kind, &element?))
}

/// One JSON value per line, as ListenBrainz writes it; or, as it once did, one array of them.
pub(super) fn lines_of_json(mut source: impl BufRead + 'static) -> Box<dyn Iterator<Item = Entry>> {
    let is_array = source.fill_buf().is_ok_and(|first| first.trim_ascii_start().starts_with(b"["));
    if is_array {
        return Box::new(entries(Kind::ListenBrainz, source));
    }
    Box::new(super::lines::numbered(source).filter_map(|line| match line {
        Ok((_, text)) if text.trim().is_empty() => None,
        Ok((line, text)) => Some(match serde_json::from_str(&text) {
            Ok(value) => entry(Kind::ListenBrainz, &Element { line, list_name: None, value }),
            Err(error) => Err(LineError::unusable(line, format!("this is not JSON from column {} on", error.column()))),
        }),
        Err(error) => Some(Err(error)),
    }))
}

fn entry(kind: Kind, element: &Element) -> Entry {
    let (line, value) = (element.line, &element.value);
    if let Some(why) = left_out(kind, value) {
        return Err(LineError::left_out(line, why));
    }
    let mut track = ImportedTrack::at(line);
    track.playlist = element.list_name.as_deref().and_then(clean);
    match kind {
        Kind::SpotifyLibrary => names(&mut track, value, "/track", "/artist", "/album", "/uri"),
        Kind::SpotifyPlaylists => {
            names(&mut track, value, "/track/trackName", "/track/artistName", "/track/albumName", "/track/trackUri");
            track.added_at = text(value, "/addedDate").and_then(moment);
        }
        Kind::SpotifyHistory => {
            names(&mut track, value, "/trackName", "/artistName", "", "");
            played(&mut track, text(value, "/endTime").and_then(moment));
        }
        Kind::SpotifyExtendedHistory => {
            let album = "/master_metadata_album_album_name";
            let artist = "/master_metadata_album_artist_name";
            names(&mut track, value, "/master_metadata_track_name", artist, album, "/spotify_track_uri");
            played(&mut track, text(value, "/ts").and_then(moment));
        }
        Kind::AppleTracks => apple(&mut track, value),
        Kind::ListenBrainz => listen(&mut track, value),
        Kind::Jspf => jspf(&mut track, value),
        _ => unreachable!("entries() is called for JSON kinds only"),
    }
    track.finish()
}

fn left_out(kind: Kind, value: &Value) -> Option<&'static str> {
    let too_short = |ms: Option<f64>| ms.is_some_and(|ms| ms < SHORTEST_PLAY_MS).then_some(PLAYED_TOO_SHORT);
    match kind {
        Kind::SpotifyHistory => too_short(number(value, "/msPlayed")),
        Kind::SpotifyExtendedHistory if text(value, "/master_metadata_track_name").is_none() => Some(NOT_A_TRACK),
        Kind::SpotifyExtendedHistory if is_true(value, "/incognito_mode") => Some(INCOGNITO),
        Kind::SpotifyExtendedHistory => too_short(number(value, "/ms_played")),
        // Episodes and local files stand in playlists too, in members of their own.
        Kind::SpotifyPlaylists => value.pointer("/track").is_none_or(Value::is_null).then_some(NOT_A_TRACK),
        Kind::AppleTracks => {
            let content = text(value, "/Content Type").unwrap_or("Song");
            (!content.eq_ignore_ascii_case("song") && !content.eq_ignore_ascii_case("music")).then_some(NOT_A_TRACK)
        }
        _ => None,
    }
}

fn names(track: &mut ImportedTrack, value: &Value, title: &str, artist: &str, album: &str, link: &str) {
    let field = |pointer: &str| if pointer.is_empty() { None } else { text(value, pointer) };
    track.set_title(field(title).unwrap_or_default());
    track.artists = field(artist).and_then(clean).into_iter().collect();
    track.album = field(album).and_then(clean);
    if let Some(link) = field(link) {
        track.set_link(link);
    }
}

fn played(track: &mut ImportedTrack, at: Option<chrono::DateTime<chrono::Utc>>) {
    track.n_plays = 1;
    track.played_at = at;
}

fn apple(track: &mut ImportedTrack, value: &Value) {
    names(track, value, "/Title", "/Artist", "/Album", "");
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
}

fn listen(track: &mut ImportedTrack, value: &Value) {
    let said = "/track_metadata";
    let at = |name: &str| format!("{said}/{name}");
    names(track, value, &at("track_name"), &at("artist_name"), &at("release_name"), "");
    played(track, number(value, "/listened_at").and_then(|unix| unix_moment(unix as i64)));
    let info = |name: &str| at(&format!("additional_info/{name}"));
    if let Some(code) = text(value, &info("isrc")) {
        track.set_isrcs(code);
    }
    let length = number(value, &info("duration_ms")).map(|ms| ms / 1000.0).or(number(value, &info("duration")));
    track.duration = length.filter(|seconds| *seconds > 0.0 && *seconds < 86_400.0);
    let mbid = text(value, &at("mbid_mapping/recording_mbid")).or(text(value, &info("recording_mbid")));
    track.ids.music_brainz = mbid.and_then(clean);
    if let Some(link) = text(value, &info("spotify_id")).or(text(value, &info("origin_url"))) {
        track.set_link(link);
    }
}

fn jspf(track: &mut ImportedTrack, value: &Value) {
    names(track, value, "/title", "/creator", "/album", "");
    track.duration = number(value, "/duration").and_then(|ms| milliseconds(&ms.to_string()));
    track.track_number = number(value, "/trackNum").map(|number| number as u32);
    // Both were a text once and a list later.
    for member in ["/location", "/identifier"] {
        let one = text(value, member).into_iter();
        let many = value.pointer(member).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        one.chain(many).for_each(|link| track.set_link(link));
    }
    let extension = "/extension/https:~1~1musicbrainz.org~1doc~1jspf#track/added_at";
    track.added_at = text(value, extension).and_then(moment);
}

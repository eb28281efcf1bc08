//! The tracks and albums in a conversation, and the resolution of references to them.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    language::{
        Language,
        pick::{Pick, by_title, index, places},
        text::{fold, folded},
    },
    scene::{Exchange, Scene},
};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Track {
    /// Empty if the catalogue does not provide it.
    pub(crate) isrc: String,
    /// Identifies a track without a code.
    pub(crate) track_id: String,
    pub(crate) title: String,
    pub(crate) artist: String,
    pub(crate) album: String,
    pub(crate) short_description: Option<String>,
    pub(crate) interpretation: Option<String>,
    pub(crate) lyrics: Option<String>,
    pub(crate) audio_features: Option<Features>,
    pub(crate) score: Option<f64>,
    pub(crate) release_date: Option<String>,
    /// Seconds.
    pub(crate) duration: Option<f64>,
    pub(crate) in_library: bool,
}

impl Track {
    /// The id for tools.
    pub(crate) fn code(&self) -> String {
        if self.isrc.is_empty() { self.track_id.clone() } else { self.isrc.clone() }
    }

    pub(crate) fn year(&self) -> Option<i32> {
        self.release_date.as_deref()?.get(..4)?.parse().ok()
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Features {
    pub(crate) energy: Option<f64>,
    pub(crate) valence: Option<f64>,
    pub(crate) danceability: Option<f64>,
    pub(crate) acousticness: Option<f64>,
    pub(crate) tempo: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Album {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) artist: String,
    pub(crate) release_date: Option<String>,
    pub(crate) in_library: bool,
}

/// The tracks of one tool output. Tracks that cannot be parsed are left out.
pub(crate) fn tracks(output: &Value) -> Vec<Track> {
    let tracks: Vec<Track> = items(output, "tracks");
    // A search without matches returns the closest tracks, with low scores.
    let nearest: Vec<Track> = items(output, "nearest");
    tracks.into_iter().chain(nearest).filter(|track| !track.title.is_empty()).collect()
}

pub(crate) fn albums(output: &Value) -> Vec<Album> {
    let albums: Vec<Album> = items(output, "albums");
    albums.into_iter().filter(|album| !album.id.is_empty()).collect()
}

fn items<T: for<'de> Deserialize<'de>>(output: &Value, field: &str) -> Vec<T> {
    let items = output.get(field).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| T::deserialize(item).ok()).collect()
}

/// All tracks that the tools of an exchange returned, in order, each recording once.
pub(crate) fn tracks_of(exchange: &Exchange) -> Vec<Track> {
    let outputs = exchange.calls.iter().filter_map(|called| called.result.as_ref()?.as_ref().ok());
    let mut found: Vec<Track> = Vec::new();
    for track in outputs.flat_map(tracks) {
        if track.isrc.is_empty() || !found.iter().any(|known| known.isrc == track.isrc) {
            found.push(track);
        }
    }
    found
}

pub(crate) fn albums_of(exchange: &Exchange) -> Vec<Album> {
    let outputs = exchange.calls.iter().filter_map(|called| called.result.as_ref()?.as_ref().ok());
    outputs.flat_map(albums).collect()
}

/// The tracks of the last list, in the order of their numbers.
pub(crate) fn shown(scene: &Scene) -> Vec<Track> {
    let with_tracks = scene.earlier.iter().rev().map(|exchange| (exchange, tracks_of(exchange)));
    let last = with_tracks.into_iter().find(|(_, found)| !found.is_empty());
    last.map(|(exchange, _)| listed(exchange)).unwrap_or_default()
}

/// The tracks of one exchange, in the order of the numbers in its answer.
pub(crate) fn listed(exchange: &Exchange) -> Vec<Track> {
    let (found, lines) = (tracks_of(exchange), exchange.numbered());
    let line_of = |title: &str| found.iter().find(|track| fold(&track.title) == fold(title)).cloned();
    let listed: Vec<_> = lines.iter().filter_map(|line| line_of(line)).collect();
    // Another model may have listed them without numbers.
    if listed.is_empty() { found } else { listed }
}

/// The albums listed last.
pub(crate) fn shown_albums(scene: &Scene) -> Vec<Album> {
    scene.earlier.iter().rev().map(albums_of).find(|albums| !albums.is_empty()).unwrap_or_default()
}

/// The tracks to which some words refer: by position in the last list, by "it", or by a known title.
pub(crate) fn meant(language: &Language, scene: &Scene, words: &str) -> Vec<Track> {
    let shown = shown(scene);
    let phrase = folded(words).join(" ");
    if language.words.is("plural", &phrase) {
        return shown;
    }
    if language.words.is("pronoun", &phrase) {
        let talked_about = scene.last().map(tracks_of).unwrap_or_default();
        return if talked_about.len() == 1 { talked_about } else { shown };
    }
    if let Some(places) = places(language, words) {
        return places.into_iter().filter_map(|place| shown.get(index(place, shown.len())?).cloned()).collect();
    }
    named(language, words, &scene.backwards().flat_map(tracks_of).collect::<Vec<_>>())
}

/// The track with this title, or the first tracks by this artist.
pub(crate) fn named(language: &Language, words: &str, tracks: &[Track]) -> Vec<Track> {
    const PER_ARTIST: usize = 3;
    let (title, artist) = split_by(words);
    let fits_artist = |track: &&Track| artist.is_none_or(|artist| fold(&track.artist).contains(&fold(artist)));
    let candidates: Vec<_> = tracks.iter().filter(fits_artist).collect();
    let by_name = by_title(language, title, candidates.iter().map(|track| track.title.as_str()));
    let found = match by_name {
        Pick::These(found) => found,
        Pick::Mistyped(at) => vec![at],
        // The same song from several searches is one song.
        Pick::Which(found) if found.iter().all(|at| candidates[*at].isrc == candidates[found[0]].isrc) => {
            vec![found[0]]
        }
        Pick::Which(_) | Pick::Perhaps(_) | Pick::Nothing => Vec::new(),
    };
    if !found.is_empty() {
        return found.into_iter().map(|at| candidates[at].clone()).collect();
    }
    let wanted = fold(words);
    let by_artist = tracks.iter().filter(|track| !wanted.is_empty() && fold(&track.artist) == wanted);
    by_artist.take(PER_ARTIST).cloned().collect()
}

/// The index in `tracks` of the only track to which some words refer unambiguously. A write requires this.
pub(crate) fn sure(language: &Language, words: &str, tracks: &[Track]) -> Option<usize> {
    let (title, artist) = split_by(words);
    let fits_artist = |track: &Track| artist.is_none_or(|artist| fold(&track.artist).contains(&fold(artist)));
    let fitting: Vec<usize> = (0..tracks.len()).filter(|at| fits_artist(&tracks[*at])).collect();
    let picked = match by_title(language, title, fitting.iter().map(|at| tracks[*at].title.as_str())) {
        Pick::These(found) | Pick::Which(found) => found,
        Pick::Mistyped(_) | Pick::Perhaps(_) | Pick::Nothing => return None,
    };
    // The same song from several searches is one song.
    let first = *fitting.get(*picked.first()?)?;
    let is_same = |at: &usize| tracks[fitting[*at]].code() == tracks[first].code();
    picked.iter().all(is_same).then_some(first)
}

/// "Slow Lantern by The Hollows".
fn split_by(words: &str) -> (&str, Option<&str>) {
    let by = [" by ", " von ", " de "].into_iter().find_map(|by| words.split_once(by));
    by.map_or((words, None), |(title, artist)| (title, Some(artist)))
}

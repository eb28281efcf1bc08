//! A track as we know it: names, words, meaning and sound, keyed by its ISRC.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Isrc, identity::RecordingName};

/// What is indexed and stored about a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Track {
    pub isrc: Isrc,
    pub title: String,
    pub artist: String,
    pub album: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track_number: Option<u32>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artwork_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tidal_id: Option<String>,
    /// Absent for instrumentals and where no source had them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lyrics: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpretation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub genres: Vec<String>,
    /// ISO 639-1 code of the language that is sung.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Whether a catalogue or a file marks it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explicit: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_features: Option<AudioFeatures>,
    /// Where each field came from: `{"lyrics": "lrclib 2026-11-15"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provenance: BTreeMap<String, String>,
}

impl Track {
    /// A track of which no more is known than its names.
    pub fn named(isrc: Isrc, title: String, artist: String, album: String) -> Self {
        Self {
            isrc,
            title,
            artist,
            album,
            track_number: None,
            duration: None,
            release_date: None,
            artwork_url: None,
            tidal_id: None,
            lyrics: None,
            interpretation: None,
            short_description: None,
            tags: vec![],
            genres: vec![],
            language: None,
            explicit: None,
            audio_features: None,
            provenance: BTreeMap::new(),
        }
    }
}

/// The eleven audio features, each of which may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AudioFeatures {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acousticness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub danceability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrumentalness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loudness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speechiness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tempo: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valence: Option<f64>,
}

impl Track {
    pub fn recording_name(&self) -> RecordingName {
        RecordingName::new(&self.title, None, &self.artist)
    }

    /// The year of its release.
    pub fn year(&self) -> Option<i32> {
        self.release_date.as_deref()?.get(..4)?.parse().ok().filter(|year| *year > 0)
    }

    /// Whether nobody sings; `None` when nothing tells.
    pub fn is_instrumental(&self) -> Option<bool> {
        const FROM: f64 = 0.5;
        if self.lyrics.as_deref().is_some_and(|lyrics| !lyrics.trim().is_empty()) {
            return Some(false);
        }
        let tagged = self.tags.iter().chain(&self.genres).any(|tag| tag.eq_ignore_ascii_case("instrumental"));
        let measured = self.audio_features.as_ref().and_then(|features| features.instrumentalness);
        measured.map(|share| share >= FROM).or(tagged.then_some(true))
    }

    /// The language that is sung; [`NO_LANGUAGE`] for an instrumental, whatever the catalogue says.
    pub fn sung_language(&self) -> Option<&str> {
        if self.is_instrumental() == Some(true) { Some(NO_LANGUAGE) } else { self.language.as_deref() }
    }
}

/// ISO 639 for "no linguistic content".
pub const NO_LANGUAGE: &str = "zxx";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_track_says_when_it_is_from_and_what_is_sung() {
        let isrc = "ZZSEG2600001".parse().expect("a code");
        let mut track = Track::named(isrc, "Slack Water".into(), "Tidewrack".into(), String::new());
        assert_eq!((track.year(), track.is_instrumental(), track.sung_language()), (None, None, None));
        track.release_date = Some("1994".into());
        track.language = Some("en".into());
        assert_eq!((track.year(), track.sung_language()), (Some(1994), Some("en")));
        track.audio_features = Some(AudioFeatures { instrumentalness: Some(0.96), ..AudioFeatures::default() });
        assert_eq!((track.is_instrumental(), track.sung_language()), (Some(true), Some(NO_LANGUAGE)));
        track.lyrics = Some("Oh".into());
        track.release_date = Some("circa 1994".into());
        assert_eq!((track.is_instrumental(), track.year()), (Some(false), None));
    }
}

//! A track: names, lyrics, meaning and sound, with an id of our own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{AudioFeatures, Isrc, TrackId, identity::RecordingName};

/// What is indexed and stored about a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "StoredTrack")]
pub struct Track {
    #[serde(rename = "trackId")]
    pub id: TrackId,
    /// `None` if neither a file nor a catalogue has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isrc: Option<Isrc>,
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
    /// `None` for instrumentals, and if no source has them.
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
    /// ISO 639-1 code of the language of the lyrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Whether a catalogue or a file marks it as explicit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explicit: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_features: Option<AudioFeatures>,
    /// The source of each field: `{"lyrics": "lrclib 2026-11-15"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provenance: BTreeMap<String, String>,
    /// Part of the sample library.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sample: bool,
}

impl Track {
    /// The code, or an empty text, for results.
    pub fn isrc_text(&self) -> &str {
        self.isrc.as_ref().map_or("", Isrc::as_str)
    }

    /// A track with a code and names only.
    pub fn named(isrc: Isrc, title: String, artist: String, album: String) -> Self {
        Self { isrc: Some(isrc.clone()), ..Self::with_id(TrackId::of_isrc(&isrc), title, artist, album) }
    }

    /// A track without a code, with names only.
    pub fn with_id(id: TrackId, title: String, artist: String, album: String) -> Self {
        Self {
            id,
            isrc: None,
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
            is_sample: false,
        }
    }
}

/// A track as it is stored. Old rows have no id; their id is computed from the code.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredTrack {
    track_id: Option<TrackId>,
    isrc: Option<Isrc>,
    title: String,
    artist: String,
    album: String,
    track_number: Option<u32>,
    duration: Option<f64>,
    release_date: Option<String>,
    artwork_url: Option<String>,
    tidal_id: Option<String>,
    lyrics: Option<String>,
    interpretation: Option<String>,
    short_description: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    genres: Vec<String>,
    language: Option<String>,
    explicit: Option<bool>,
    audio_features: Option<AudioFeatures>,
    #[serde(default)]
    provenance: BTreeMap<String, String>,
    #[serde(default)]
    is_sample: bool,
}

impl TryFrom<StoredTrack> for Track {
    type Error = &'static str;
    fn try_from(stored: StoredTrack) -> Result<Self, Self::Error> {
        let id = stored.track_id.or_else(|| stored.isrc.as_ref().map(TrackId::of_isrc));
        Ok(Self {
            id: id.ok_or("a track has a trackId or an isrc")?,
            isrc: stored.isrc,
            title: stored.title,
            artist: stored.artist,
            album: stored.album,
            track_number: stored.track_number,
            duration: stored.duration,
            release_date: stored.release_date,
            artwork_url: stored.artwork_url,
            tidal_id: stored.tidal_id,
            lyrics: stored.lyrics,
            interpretation: stored.interpretation,
            short_description: stored.short_description,
            tags: stored.tags,
            genres: stored.genres,
            language: stored.language,
            explicit: stored.explicit,
            audio_features: stored.audio_features,
            provenance: stored.provenance,
            is_sample: stored.is_sample,
        })
    }
}

impl Track {
    pub fn recording_name(&self) -> RecordingName {
        RecordingName::new(&self.title, None, &self.artist)
    }

    /// The release year.
    pub fn year(&self) -> Option<i32> {
        self.release_date.as_deref()?.get(..4)?.parse().ok().filter(|year| *year > 0)
    }

    /// Whether the track has no vocals; `None` if unknown.
    pub fn is_instrumental(&self) -> Option<bool> {
        const FROM: f64 = 0.5;
        if self.lyrics.as_deref().is_some_and(|lyrics| !lyrics.trim().is_empty()) {
            return Some(false);
        }
        let tagged = self.tags.iter().chain(&self.genres).any(|tag| tag.eq_ignore_ascii_case("instrumental"));
        let measured = self.audio_features.as_ref().and_then(|features| features.instrumentalness);
        measured.map(|share| share >= FROM).or(tagged.then_some(true))
    }

    /// The language of the lyrics; `zxx` for an instrumental, even if the catalogue names a language.
    pub fn sung_language(&self) -> Option<&str> {
        if self.is_instrumental() == Some(true) { Some(NO_LANGUAGE) } else { self.language.as_deref() }
    }
}

/// ISO 639 for "no linguistic content".
const NO_LANGUAGE: &str = "zxx";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_track_reports_its_year_and_its_language() {
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

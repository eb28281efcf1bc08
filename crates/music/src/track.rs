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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_features: Option<AudioFeatures>,
    /// Where each field came from: `{"lyrics": "lrclib 2026-11-15"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provenance: BTreeMap<String, String>,
}

impl Track {
    pub fn recording_name(&self) -> RecordingName {
        RecordingName::new(&self.title, None, &self.artist)
    }

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

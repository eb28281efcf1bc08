//! The audio features of a recording: their names and their values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The eleven audio features. Each may be unknown.
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

/// The name of an audio feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    Acousticness,
    Danceability,
    Energy,
    Instrumentalness,
    Key,
    Liveness,
    Loudness,
    Mode,
    Speechiness,
    Tempo,
    Valence,
}

impl Feature {
    pub const ALL: [Self; 11] = [
        Self::Acousticness,
        Self::Danceability,
        Self::Energy,
        Self::Instrumentalness,
        Self::Key,
        Self::Liveness,
        Self::Loudness,
        Self::Mode,
        Self::Speechiness,
        Self::Tempo,
        Self::Valence,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Acousticness => "acousticness",
            Self::Danceability => "danceability",
            Self::Energy => "energy",
            Self::Instrumentalness => "instrumentalness",
            Self::Key => "key",
            Self::Liveness => "liveness",
            Self::Loudness => "loudness",
            Self::Mode => "mode",
            Self::Speechiness => "speechiness",
            Self::Tempo => "tempo",
            Self::Valence => "valence",
        }
    }

    pub fn of(self, features: &AudioFeatures) -> Option<f64> {
        match self {
            Self::Acousticness => features.acousticness,
            Self::Danceability => features.danceability,
            Self::Energy => features.energy,
            Self::Instrumentalness => features.instrumentalness,
            Self::Key => features.key.map(f64::from),
            Self::Liveness => features.liveness,
            Self::Loudness => features.loudness,
            Self::Mode => features.mode.map(f64::from),
            Self::Speechiness => features.speechiness,
            Self::Tempo => features.tempo,
            Self::Valence => features.valence,
        }
    }
}

//! Details of a track from tags and DJ programs, beyond its names.

use serde::{Deserialize, Serialize};

/// Details of a track from tags and DJ programs, beyond its names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub album_artist: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disc_number: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub composer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bpm: Option<f64>,
    /// As written: `F#m`, `11A`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_key: Option<String>,
    /// As written, usually ISO 639-2: `eng`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Part of an album by several artists.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compilation: bool,
    /// Decibels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_gain_track: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_gain_album: Option<f64>,
    /// The file contains a picture.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_artwork: bool,
    /// A picture in the same folder: cover.jpg, folder.png.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder_art: Option<String>,
    /// The start of the track in its file, in seconds: a CUE sheet divides one file into tracks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
}

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

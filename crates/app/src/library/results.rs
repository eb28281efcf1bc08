//! Tracks and albums as results: the same fields in every tool, route and protocol.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use music::{AudioFeatures, Track};
use search::Why;
use sources::tidal::{TidalAlbum, TidalTrack};

/// A track, and what it is to this listener at the time of the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackResult {
    /// Empty where the catalogue does not tell.
    pub isrc: String,
    pub title: String,
    pub artist: String,
    pub album: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artwork_url: Option<String>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tidal_id: Option<String>,
    pub in_library: bool,
    pub is_indexed: bool,
}

/// A track with everything the index knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexedTrackResult {
    #[serde(flatten)]
    pub track: TrackResult,
    /// How well it matches, 0 to 1, comparable between searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lyrics: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpretation: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_features: Option<AudioFeatures>,
    /// Where each field came from; only with the details of one track.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provenance: BTreeMap<String, String>,
    /// Why it matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlbumResult {
    /// The catalogue's id of the album.
    pub id: String,
    pub title: String,
    pub artist: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artwork_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_date: Option<String>,
    pub track_count: u32,
    pub in_library: bool,
}

impl TrackResult {
    pub fn of_track(track: &Track, in_library: bool, is_indexed: bool) -> Self {
        Self {
            isrc: track.isrc.to_string(),
            title: track.title.clone(),
            artist: track.artist.clone(),
            album: track.album.clone(),
            artwork_url: track.artwork_url.clone(),
            duration: track.duration,
            tidal_id: track.tidal_id.clone(),
            in_library,
            is_indexed,
        }
    }

    pub fn of_catalogue(track: &TidalTrack, in_library: bool, is_indexed: bool) -> Self {
        Self {
            isrc: track.isrc.as_ref().map(ToString::to_string).unwrap_or_default(),
            title: track.full_title(),
            artist: track.artist(),
            album: track.album.as_ref().map(|album| album.title.clone()).unwrap_or_default(),
            artwork_url: track.artwork_url.clone(),
            duration: track.duration,
            tidal_id: Some(track.tidal_id.clone()),
            in_library,
            is_indexed,
        }
    }
}

impl IndexedTrackResult {
    pub fn of_track(track: Track, in_library: bool) -> Self {
        Self {
            track: TrackResult::of_track(&track, in_library, true),
            score: None,
            short_description: track.short_description,
            lyrics: track.lyrics,
            interpretation: track.interpretation,
            tags: track.tags,
            release_date: track.release_date,
            audio_features: track.audio_features,
            provenance: BTreeMap::new(),
            why: None,
        }
    }
}

impl AlbumResult {
    pub fn of_catalogue(album: &TidalAlbum, in_library: bool) -> Self {
        Self {
            id: album.id.clone(),
            title: album.title.clone(),
            artist: album.artist(),
            artwork_url: album.artwork_url.clone(),
            release_date: album.release_date.clone(),
            track_count: album.track_count,
            in_library,
        }
    }
}

/// What the catalogue shows, as a track to remember. None without a code: it could not be found again.
pub(crate) fn remembered(track: &TidalTrack) -> Option<Track> {
    Some(Track {
        isrc: track.isrc.clone()?,
        title: track.full_title(),
        artist: track.artist(),
        album: track.album.as_ref().map(|album| album.title.clone()).unwrap_or_default(),
        track_number: track.track_number,
        duration: track.duration,
        release_date: None,
        artwork_url: track.artwork_url.clone(),
        tidal_id: Some(track.tidal_id.clone()),
        lyrics: None,
        interpretation: None,
        short_description: None,
        tags: Vec::new(),
        genres: Vec::new(),
        language: None,
        explicit: None,
        audio_features: None,
        provenance: [("names".to_owned(), "tidal".to_owned())].into(),
    })
}

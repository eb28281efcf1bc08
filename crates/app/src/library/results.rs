//! Tracks and albums as results: the same fields in every tool, route and protocol.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use music::{AudioFeatures, Track, TrackId};
use search::Why;
use sources::tidal::{TidalAlbum, TidalTrack};
use store::AlbumLine;
use uuid::Uuid;

/// A track, with flags for this user at the time of the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackResult {
    /// The id of the recording. Every parameter that takes an ISRC also takes this id.
    pub track_id: TrackId,
    /// Empty if neither a file nor the catalogue has one.
    pub isrc: String,
    pub title: String,
    pub artist: String,
    pub album: String,
    /// A path of this server for the picture in your own file; otherwise a URL of the catalogue, to be shown through
    /// `/api/artwork?url=`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artwork_url: Option<String>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tidal_id: Option<String>,
    pub in_library: bool,
    pub is_indexed: bool,
    /// Part of the sample library.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sample: bool,
}

/// A track with all data of the index.
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
    /// The source of each field; only with the details of one track.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provenance: BTreeMap<String, String>,
    /// Why it matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// What moved it up among the matches, in shares of the best score, such as `words end a phrase (+0.40)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranked_by: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlbumResult {
    /// The catalogue's id of the album, or Segue's own for an album of library tracks.
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
    pub(crate) fn of_track(track: &Track, in_library: bool, is_indexed: bool) -> Self {
        Self {
            track_id: track.id,
            isrc: track.isrc_text().to_owned(),
            title: track.title.clone(),
            artist: track.artist.clone(),
            album: track.album.clone(),
            artwork_url: track.artwork_url.clone(),
            duration: track.duration,
            tidal_id: track.tidal_id.clone(),
            in_library,
            is_indexed,
            is_sample: track.is_sample,
        }
    }

    pub(crate) fn of_catalogue(track: &TidalTrack, in_library: bool, is_indexed: bool) -> Self {
        Self {
            track_id: track.isrc.as_ref().map_or_else(|| TrackId::of_tidal(&track.tidal_id), TrackId::of_isrc),
            isrc: track.isrc.as_ref().map(ToString::to_string).unwrap_or_default(),
            title: track.full_title(),
            artist: track.artist(),
            album: track.album.as_ref().map(|album| album.title.clone()).unwrap_or_default(),
            artwork_url: track.artwork_url.clone(),
            duration: track.duration,
            tidal_id: Some(track.tidal_id.clone()),
            in_library,
            is_indexed,
            is_sample: false,
        }
    }
}

impl IndexedTrackResult {
    pub(crate) fn of_track(track: Track, in_library: bool) -> Self {
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
            ranked_by: Vec::new(),
        }
    }
}

impl AlbumResult {
    /// An album of the user's tracks. Its id is derived from its names.
    pub(crate) fn of_view(view: &AlbumLine) -> Self {
        Self {
            id: view_id(&view.title, &view.artist),
            title: view.title.clone(),
            artist: view.artist.clone(),
            artwork_url: view.pictured.as_deref().map(own_artwork),
            release_date: view.year.map(|year| year.to_string()),
            track_count: u32::try_from(view.track_count).unwrap_or(u32::MAX),
            in_library: true,
        }
    }

    pub(crate) fn of_catalogue(album: &TidalAlbum, in_library: bool) -> Self {
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

/// The id of an album of library tracks.
pub(crate) fn view_id(title: &str, artist: &str) -> String {
    let names = format!("album\n{}\n{}", title.to_lowercase(), artist.to_lowercase());
    Uuid::new_v5(&Uuid::NAMESPACE_OID, names.as_bytes()).to_string()
}

/// The path of the picture in a user's own file.
pub(crate) fn own_artwork(track_id: &str) -> String {
    format!("/api/tracks/{track_id}/artwork")
}

/// A track of the catalogue to be stored. `None` without a code, because it could not be found again.
pub(crate) fn remembered(track: &TidalTrack) -> Option<Track> {
    let album = track.album.as_ref().map(|album| album.title.clone()).unwrap_or_default();
    Some(Track {
        track_number: track.track_number,
        duration: track.duration,
        artwork_url: track.artwork_url.clone(),
        tidal_id: Some(track.tidal_id.clone()),
        provenance: [("names".to_owned(), "tidal".to_owned())].into(),
        ..Track::named(track.isrc.clone()?, track.full_title(), track.artist(), album)
    })
}

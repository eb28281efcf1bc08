//! The library service: tracks and albums a user owns. Every change wakes the workers that enrich and index.

mod lookup;
pub mod results;
mod status;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use engine::{Timings, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::instrument;

use self::results::{AlbumResult, IndexedTrackResult, TrackResult, remembered};
pub use self::status::{IndexStatus, IngestStatus};
use crate::{Error, enrich::Pipeline};
use music::{Isrc, Track};
use search::TrackIndex;
use sources::tidal::Tidal;
use store::{Candidate, LibraryAlbum, Store};
pub use store::{LibrarySort, LibraryTrack, Listing};

#[derive(Clone)]
pub struct Library {
    pub(crate) store: Store,
    pub(crate) index: Arc<dyn TrackIndex>,
    pub(crate) tidal: Tidal,
    pub(crate) pipeline: Arc<Pipeline>,
}

// No doc comment: it would replace the description of `TrackResult` in the API document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LibraryEntry {
    #[serde(flatten)]
    pub track: TrackResult,
    pub added_at: DateTime<Utc>,
}

/// A saved album as it is stored: what the catalogue said, with the tracks on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedAlbum {
    #[serde(flatten)]
    pub album: AlbumResult,
    pub tracks: Vec<Track>,
}

/// A saved album with its tracks as results.
pub struct AlbumDetails {
    pub album: AlbumResult,
    pub tracks: Vec<TrackResult>,
}

/// Tracks.
impl Library {
    /// A page of the library, and how many tracks there are in all.
    #[instrument(name = "library.tracks", skip_all, fields(user.id = %owner))]
    pub async fn tracks(&self, owner: &UserId, listing: Listing<'_>) -> Result<(Vec<LibraryEntry>, i64), Error> {
        let (rows, total) = self.store.library_tracks(owner, listing).await?;
        Ok((self.entries(rows).await?, total))
    }

    async fn entries(&self, tracks: Vec<LibraryTrack>) -> Result<Vec<LibraryEntry>, Error> {
        let isrcs: Vec<Isrc> = tracks.iter().filter_map(|track| track.isrc.parse().ok()).collect();
        let indexed = self.indexed(&Timings::default(), &isrcs).await?;
        let entries = tracks.into_iter().map(|track| LibraryEntry {
            added_at: track.added_at,
            track: TrackResult {
                in_library: true,
                is_indexed: indexed.iter().any(|isrc| isrc.as_str() == track.isrc),
                isrc: track.isrc,
                title: track.title,
                artist: track.artist,
                album: track.album,
                artwork_url: None,
                duration: track.duration,
                tidal_id: track.tidal_id,
            },
        });
        Ok(entries.collect())
    }

    pub(crate) async fn entry(&self, track: LibraryTrack) -> Result<LibraryEntry, Error> {
        self.entries(vec![track]).await?.pop().ok_or(Error::NotFound)
    }

    /// Everything known about one track, owned or not.
    #[instrument(name = "library.track_details", skip_all, fields(user.id = %owner, track.isrc = %isrc))]
    pub async fn track_details(&self, owner: &UserId, isrc: &Isrc) -> Result<IndexedTrackResult, Error> {
        let codes = std::slice::from_ref(isrc);
        let indexed = self.indexed_tracks(codes).await?.pop();
        let is_indexed = indexed.is_some();
        let track = match indexed {
            Some(track) => track,
            None => self.store.known_tracks(codes).await?.remove(isrc).ok_or(Error::NotFound)?,
        };
        let owned = self.store.owned(owner, &[Candidate::from(&track)]).await?;
        let provenance = track.provenance.clone();
        let mut details = IndexedTrackResult::of_track(track, owned.contains(&true));
        details.provenance = provenance;
        details.track.is_indexed = is_indexed;
        Ok(details)
    }

    /// Adds a recording that the index or the catalogue knows.
    #[instrument(name = "library.add_track", skip_all, fields(user.id = %owner, track.isrc = %isrc))]
    pub async fn add_track(&self, owner: &UserId, isrc: &Isrc) -> Result<LibraryEntry, Error> {
        let track = self.find_track(isrc).await?;
        self.store.add_to_library(owner, std::slice::from_ref(&track)).await?;
        self.pipeline.tell();
        self.entry(self.store.library_track(owner, isrc).await?).await
    }

    #[instrument(name = "library.remove_track", skip_all, fields(user.id = %owner, track.isrc = %isrc))]
    pub async fn remove_track(&self, owner: &UserId, isrc: &Isrc) -> Result<(), Error> {
        self.store.remove_from_library(owner, isrc).await?;
        self.pipeline.tell();
        Ok(())
    }

    #[instrument(name = "library.restore_track", skip_all, fields(user.id = %owner, track.isrc = %isrc))]
    pub async fn restore_track(&self, owner: &UserId, isrc: &Isrc) -> Result<LibraryEntry, Error> {
        let restored = self.store.restore_to_library(owner, isrc).await?;
        self.pipeline.tell();
        self.entry(restored).await
    }

    /// Puts complete tracks into the collection, past enrichment. Returns how many are new or changed.
    #[instrument(name = "library.put_tracks", skip_all)]
    pub async fn put_tracks(&self, tracks: &[Track]) -> Result<u64, Error> {
        Ok(self.store.put_tracks(tracks).await?)
    }

    /// Adds tracks that were never in the library. What the owner removed stays removed.
    #[instrument(name = "library.add_new_tracks", skip_all, fields(user.id = %owner))]
    pub(crate) async fn add_new_tracks(&self, owner: &UserId, tracks: &[Track]) -> Result<u64, Error> {
        let n_added = self.store.add_new_to_library(owner, tracks).await?;
        self.pipeline.tell();
        Ok(n_added)
    }
}

/// Albums.
impl Library {
    /// Newest first, each with the time it was added.
    #[instrument(name = "library.albums", skip_all, fields(user.id = %owner))]
    pub async fn albums(
        &self,
        owner: &UserId,
        words: Option<&str>,
    ) -> Result<Vec<(AlbumResult, DateTime<Utc>)>, Error> {
        let words = words.map(str::trim).filter(|words| !words.is_empty());
        let saved: Vec<LibraryAlbum<SavedAlbum>> = self.store.albums(owner, words).await?;
        Ok(saved.into_iter().map(|saved| (saved.album.album, saved.added_at)).collect())
    }

    #[instrument(name = "library.album", skip_all, fields(user.id = %owner))]
    pub async fn album(&self, owner: &UserId, album_id: &str) -> Result<AlbumDetails, Error> {
        let SavedAlbum { album, tracks } = self.store.album(owner, album_id).await?;
        let isrcs: Vec<_> = tracks.iter().map(|track| track.isrc.clone()).collect();
        let indexed = self.indexed(&Timings::default(), &isrcs).await?;
        let tracks = tracks.iter().map(|track| TrackResult::of_track(track, true, indexed.contains(&track.isrc)));
        Ok(AlbumDetails { album, tracks: tracks.collect() })
    }

    /// Saves an album of the catalogue with the tracks on it.
    #[instrument(name = "library.add_album", skip_all, fields(user.id = %owner))]
    pub async fn add_album(&self, owner: &UserId, album_id: &str) -> Result<AlbumResult, Error> {
        let found = self.tidal.album(album_id).await?;
        let saved = SavedAlbum {
            album: AlbumResult::of_catalogue(&found.album, true),
            tracks: found.tracks.iter().filter_map(remembered).collect(),
        };
        self.store.remember_catalogue(&saved.tracks).await?;
        let names = (saved.album.title.as_str(), saved.album.artist.as_str());
        self.store.add_album(owner, &saved.album.id, names, &saved, &saved.tracks).await?;
        self.pipeline.tell();
        Ok(saved.album)
    }

    #[instrument(name = "library.remove_album", skip_all, fields(user.id = %owner))]
    pub async fn remove_album(&self, owner: &UserId, album_id: &str) -> Result<(), Error> {
        self.store.remove_album(owner, album_id).await?;
        self.pipeline.tell();
        Ok(())
    }

    #[instrument(name = "library.restore_album", skip_all, fields(user.id = %owner))]
    pub async fn restore_album(&self, owner: &UserId, album_id: &str) -> Result<(), Error> {
        self.store.restore_album(owner, album_id).await?;
        self.pipeline.tell();
        Ok(())
    }
}

//! The library as a listener handles it: add from what is known or from the catalogue, open, and see what is indexed.

use engine::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    App,
    index::IndexError,
    music::{Isrc, Track, tidal::TidalError},
    store::{Candidate, LibraryTrack, Store, StoreError},
    tools::results::{AlbumResult, IndexedTrackResult, TrackResult, remembered},
};

#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// No source knows the recording. The caller can search for it by name.
    #[error("no source knows a recording with the code {0}")]
    UnknownTrack(Isrc),
    #[error(transparent)]
    Catalogue(#[from] TidalError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How much is indexed, and of what.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatus {
    /// Tracks that can be found now.
    pub tracks: u64,
    /// Tracks that are known but not indexed yet.
    pub pending: u64,
    /// `embedded` or `qdrant`.
    pub engine: String,
    /// The model that turns text into vectors.
    pub embedder: String,
}

/// A saved album as it is kept: what the catalogue said, with the tracks on it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedAlbum {
    #[serde(flatten)]
    pub album: AlbumResult,
    pub tracks: Vec<Track>,
}

impl App {
    /// Adds a recording that the index or the catalogue knows.
    pub async fn add_track(&self, owner: &UserId, isrc: &Isrc) -> Result<LibraryTrack, LibraryError> {
        let track = self.find_track(isrc).await?;
        self.store.add_to_library(owner, std::slice::from_ref(&track)).await?;
        Ok(self.store.library_track(owner, isrc).await?)
    }

    async fn find_track(&self, isrc: &Isrc) -> Result<Track, LibraryError> {
        let codes = std::slice::from_ref(isrc);
        if let Some(track) = self.store.known_tracks(codes).await?.remove(isrc) {
            return Ok(track);
        }
        if !self.tidal.is_configured() {
            return Err(LibraryError::UnknownTrack(isrc.clone()));
        }
        let found = self.tidal.tracks_by_isrc(codes).await?.remove(isrc).unwrap_or_default();
        found.first().and_then(remembered).ok_or_else(|| LibraryError::UnknownTrack(isrc.clone()))
    }

    /// Everything known about one track, owned or not.
    pub async fn track_details(&self, owner: &UserId, isrc: &Isrc) -> Result<IndexedTrackResult, LibraryError> {
        let codes = std::slice::from_ref(isrc);
        let indexed = self.shelf.index.get(codes).await?.pop();
        let is_indexed = indexed.is_some();
        let track = match indexed {
            Some(track) => track,
            None => self.store.known_tracks(codes).await?.remove(isrc).ok_or(StoreError::NotFound)?,
        };
        let owned = self.store.owned(owner, &[Candidate::from(&track)]).await?;
        let mut details = IndexedTrackResult::of_track(track, owned.contains(&true));
        details.track.is_indexed = is_indexed;
        Ok(details)
    }

    /// A page of the library with the flags of every other result.
    pub async fn with_flags(
        &self,
        tracks: Vec<LibraryTrack>,
    ) -> Result<Vec<(TrackResult, LibraryTrack)>, LibraryError> {
        let isrcs: Vec<Isrc> = tracks.iter().filter_map(|track| track.isrc.parse().ok()).collect();
        let indexed = self.shelf.index.contains(&isrcs).await?;
        let results = tracks.into_iter().map(|track| {
            let result = TrackResult {
                isrc: track.isrc.clone(),
                title: track.title.clone(),
                artist: track.artist.clone(),
                album: track.album.clone(),
                artwork_url: None,
                duration: track.duration,
                tidal_id: track.tidal_id.clone(),
                in_library: true,
                is_indexed: indexed.iter().any(|isrc| isrc.as_str() == track.isrc),
            };
            (result, track)
        });
        Ok(results.collect())
    }

    /// Saves an album of the catalogue with the tracks on it.
    pub async fn add_album(&self, owner: &UserId, album_id: &str) -> Result<SavedAlbum, LibraryError> {
        let found = self.tidal.album(album_id).await?;
        let saved = SavedAlbum {
            album: AlbumResult::of_catalogue(&found.album, true),
            tracks: found.tracks.iter().filter_map(remembered).collect(),
        };
        self.store.remember_catalogue(&saved.tracks).await?;
        let candidates: Vec<_> = saved.tracks.iter().map(Candidate::from).collect();
        let names = (saved.album.title.as_str(), saved.album.artist.as_str());
        self.store.add_album(owner, &saved.album.id, names, &saved, &candidates).await?;
        Ok(saved)
    }

    pub async fn index_status(&self) -> Result<IndexStatus, LibraryError> {
        index_status(&self.store, self.shelf.index.as_ref()).await
    }
}

async fn index_status(store: &Store, index: &dyn crate::index::TrackIndex) -> Result<IndexStatus, LibraryError> {
    let (info, n_known) = (index.info().await?, store.n_tracks().await?);
    Ok(IndexStatus {
        tracks: info.n_tracks,
        pending: u64::try_from(n_known).unwrap_or(0).saturating_sub(info.n_tracks),
        engine: info.engine.to_owned(),
        embedder: info.embedder.to_string(),
    })
}

//! The library as a listener handles it: add from what is known or from the catalogue, open, and see what is indexed.

use engine::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    App,
    index::IndexError,
    ingest::{Progress, Step, StepProgress, progress},
    music::{Isrc, Track, tidal::TidalError},
    store::{Candidate, Failure, LibraryTrack, StoreError},
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
    /// Tracks on their way into the index, or out of it.
    pub pending: u64,
    /// `embedded` or `qdrant`.
    pub engine: String,
    /// The model that turns text into vectors.
    pub embedder: String,
}

/// How much is indexed, how much is on its way, and what is in its way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestStatus {
    #[serde(flatten)]
    pub index: IndexStatus,
    /// Steps that failed and will not be tried again by themselves.
    pub failed: u64,
    /// Which of your tracks they are of, newest first.
    pub failures: Vec<Failure>,
    /// Entries of imports that are being looked for.
    pub looking_for: u64,
    /// How far each step has come.
    pub steps: Progress,
}

impl IngestStatus {
    /// Nothing is left to be done now.
    pub fn is_done(&self) -> bool {
        self.index.pending == 0 && self.looking_for == 0 && self.steps.values().all(|step| step.left() == 0)
    }
}

const MOST_FAILURES: u32 = 100;

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
        self.pipeline.tell();
        Ok(self.store.library_track(owner, isrc).await?)
    }

    pub(crate) async fn find_track(&self, isrc: &Isrc) -> Result<Track, LibraryError> {
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
        let indexed = self.shelf.indexed_tracks(codes).await?.pop();
        let is_indexed = indexed.is_some();
        let track = match indexed {
            Some(track) => track,
            None => self.store.known_tracks(codes).await?.remove(isrc).ok_or(StoreError::NotFound)?,
        };
        let owned = self.store.owned(owner, &[Candidate::from(&track)]).await?;
        let provenance = track.provenance.clone();
        let mut details = IndexedTrackResult::of_track(track, owned.contains(&true));
        details.provenance = provenance;
        details.track.is_indexed = is_indexed;
        Ok(details)
    }

    /// A page of the library with the flags of every other result.
    pub async fn with_flags(
        &self,
        tracks: Vec<LibraryTrack>,
    ) -> Result<Vec<(TrackResult, LibraryTrack)>, LibraryError> {
        let isrcs: Vec<Isrc> = tracks.iter().filter_map(|track| track.isrc.parse().ok()).collect();
        let indexed = self.shelf.indexed(&isrcs).await?;
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
        let names = (saved.album.title.as_str(), saved.album.artist.as_str());
        self.store.add_album(owner, &saved.album.id, names, &saved, &saved.tracks).await?;
        self.pipeline.tell();
        Ok(saved)
    }

    pub async fn index_status(&self) -> Result<IndexStatus, LibraryError> {
        self.status_after(&progress(&self.store.step_counts().await?)).await
    }

    async fn status_after(&self, steps: &Progress) -> Result<IndexStatus, LibraryError> {
        let info = self.shelf.index.info().await?;
        let n_unread = self.store.n_changes_after(info.revision).await?;
        let n_on_their_way = steps.get(&Step::Index).map_or(0, StepProgress::left);
        Ok(IndexStatus {
            tracks: info.n_tracks,
            pending: n_unread + n_on_their_way,
            engine: info.engine.to_owned(),
            embedder: info.embedder.to_string(),
        })
    }

    /// How far ingestion has come, and which of the owner's tracks need a person.
    pub async fn ingest_status(&self, owner: &UserId) -> Result<IngestStatus, LibraryError> {
        let steps = progress(&self.store.step_counts().await?);
        let n_looked_for = self.store.n_open_entries().await?;
        Ok(IngestStatus {
            index: self.status_after(&steps).await?,
            failed: steps.values().map(|step| step.failed).sum(),
            failures: self.store.failures(owner, MOST_FAILURES).await?,
            looking_for: u64::try_from(n_looked_for).unwrap_or(0),
            steps,
        })
    }

    /// Something left a library or came back: ingestion need not find out by itself.
    pub fn library_changed(&self) {
        self.pipeline.tell();
    }

    /// Wakes whoever waits for news of ingestion.
    pub fn ingest_news(&self) -> tokio::sync::watch::Receiver<u64> {
        self.pipeline.news()
    }
}

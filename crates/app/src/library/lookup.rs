//! The shelf: what a listener has and what is indexed, asked together and in one query each.

use std::{collections::BTreeSet, sync::Arc};

use engine::{ToolContext, ToolError};
use tracing::error;

use super::{
    results::{AlbumResult, IndexedTrackResult, TrackResult, remembered},
    store_error,
};
use crate::{
    index::{Hit, IndexError, SearchPlan, TrackIndex},
    music::{
        Isrc, Track,
        tidal::{TidalAlbum, TidalTrack},
    },
    store::{Candidate, Store},
};

#[derive(Clone)]
pub struct Shelf {
    pub store: Store,
    pub index: Arc<dyn TrackIndex>,
}

impl Shelf {
    pub async fn search(&self, plan: &SearchPlan) -> Result<Vec<Hit>, IndexError> {
        let hits = self.index.search(plan).await?;
        self.make_sure(!hits.is_empty()).await.map(|()| hits)
    }

    /// The indexed tracks with these codes, in the order asked.
    pub async fn indexed_tracks(&self, isrcs: &[Isrc]) -> Result<Vec<Track>, IndexError> {
        let tracks = self.index.get(isrcs).await?;
        self.make_sure(isrcs.is_empty() || !tracks.is_empty()).await.map(|()| tracks)
    }

    /// Which of these codes are indexed.
    pub async fn indexed(&self, isrcs: &[Isrc]) -> Result<BTreeSet<Isrc>, IndexError> {
        let indexed = self.index.contains(isrcs).await?;
        self.make_sure(isrcs.is_empty() || !indexed.is_empty()).await.map(|()| indexed)
    }

    /// "Nothing" is an answer only of an index that has read something, if there is something to read.
    async fn make_sure(&self, is_something: bool) -> Result<(), IndexError> {
        if is_something || self.index.info().await?.revision > 0 {
            return Ok(());
        }
        match self.store.n_changes_after(0).await.map_err(|error| IndexError::Bug(error.into()))? {
            0 => Ok(()),
            _ => Err(IndexError::Filling),
        }
    }

    /// Which of these tracks are in the library, in their order. A lookup that fails is an error, never "no".
    pub(super) async fn owned(&self, cx: &ToolContext, candidates: &[Candidate]) -> Result<Vec<bool>, ToolError> {
        let asked = self.store.owned(&cx.owner, candidates);
        cx.timings.measure("libraryCheckDurationMs", asked).await.map_err(store_error)
    }

    pub(super) async fn flagged(&self, cx: &ToolContext, isrcs: &[Isrc]) -> Result<BTreeSet<Isrc>, ToolError> {
        cx.timings.measure("indexCheckDurationMs", self.indexed(isrcs)).await.map_err(index_error)
    }

    /// Tracks that came from the index.
    pub(super) async fn index_results(
        &self,
        cx: &ToolContext,
        tracks: Vec<Track>,
    ) -> Result<Vec<IndexedTrackResult>, ToolError> {
        let candidates: Vec<_> = tracks.iter().map(Candidate::from).collect();
        let owned = self.owned(cx, &candidates).await?;
        Ok(tracks.into_iter().zip(owned).map(|(track, owned)| IndexedTrackResult::of_track(track, owned)).collect())
    }

    /// Tracks that came from the catalogue. They are remembered: their codes are real.
    pub(super) async fn catalogue_results(
        &self,
        cx: &ToolContext,
        tracks: &[TidalTrack],
    ) -> Result<Vec<TrackResult>, ToolError> {
        let candidates: Vec<_> = tracks.iter().map(candidate).collect();
        let isrcs: Vec<_> = tracks.iter().filter_map(|track| track.isrc.clone()).collect();
        let seen: Vec<_> = tracks.iter().filter_map(remembered).collect();
        let (owned, indexed) = futures::try_join!(self.owned(cx, &candidates), self.flagged(cx, &isrcs))?;
        self.store.remember_catalogue(&seen).await.map_err(store_error)?;
        let results = tracks.iter().zip(owned).map(|(track, owned)| {
            let is_indexed = track.isrc.as_ref().is_some_and(|isrc| indexed.contains(isrc));
            TrackResult::of_catalogue(track, owned, is_indexed)
        });
        Ok(results.collect())
    }

    pub(super) async fn album_results(
        &self,
        cx: &ToolContext,
        albums: &[TidalAlbum],
    ) -> Result<Vec<AlbumResult>, ToolError> {
        let ids: Vec<_> = albums.iter().map(|album| album.id.as_str()).collect();
        let asked = self.store.owned_albums(&cx.owner, &ids);
        let owned = cx.timings.measure("libraryCheckDurationMs", asked).await.map_err(store_error)?;
        Ok(albums.iter().map(|album| AlbumResult::of_catalogue(album, owned.contains(&album.id))).collect())
    }
}

fn candidate(track: &TidalTrack) -> Candidate {
    Candidate {
        isrc: track.isrc.clone(),
        tidal_id: Some(track.tidal_id.clone()),
        recording: track.recording_name().to_string(),
        duration: track.duration,
    }
}

/// What an index error means to a tool. The log hears what happened, the listener the contract's words.
pub(super) fn index_error(error: IndexError) -> ToolError {
    error!("The index failed during a tool call: {error}");
    let message = IndexError::MESSAGE.to_owned();
    if error.is_passing() { ToolError::Unavailable { message, retryable: false } } else { ToolError::Refused(message) }
}

//! Lookups: what a user owns and what is indexed, asked together and in one query each.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Timings, UserId};

use super::{
    Library,
    results::{AlbumResult, IndexedTrackResult, TrackResult, remembered},
};
use crate::Error;
use music::{Isrc, Track};
use search::{Hit, IndexError, SearchPlan};
use sources::tidal::{TidalAlbum, TidalTrack};
use store::Candidate;

impl Library {
    pub(crate) async fn search(&self, plan: &SearchPlan) -> Result<Vec<Hit>, Error> {
        let hits = self.index.search(plan).await?;
        self.make_sure(!hits.is_empty()).await?;
        Ok(hits)
    }

    /// The indexed tracks with these codes, in the order asked.
    pub(crate) async fn indexed_tracks(&self, isrcs: &[Isrc]) -> Result<Vec<Track>, Error> {
        let tracks = self.index.get(isrcs).await?;
        self.make_sure(isrcs.is_empty() || !tracks.is_empty()).await?;
        Ok(tracks)
    }

    /// Which of these codes are indexed.
    pub(crate) async fn indexed(&self, timings: &Timings, isrcs: &[Isrc]) -> Result<BTreeSet<Isrc>, Error> {
        let asked = async {
            let indexed = self.index.contains(isrcs).await?;
            self.make_sure(isrcs.is_empty() || !indexed.is_empty()).await?;
            Ok(indexed)
        };
        timings.measure("indexCheckDurationMs", asked).await
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
    pub(crate) async fn owned(
        &self,
        owner: &UserId,
        timings: &Timings,
        candidates: &[Candidate],
    ) -> Result<Vec<bool>, Error> {
        Ok(timings.measure("libraryCheckDurationMs", self.store.owned(owner, candidates)).await?)
    }

    /// Tracks as results, with flags that are true now.
    pub(crate) async fn track_results(
        &self,
        owner: &UserId,
        timings: &Timings,
        tracks: &[&Track],
    ) -> Result<Vec<TrackResult>, Error> {
        let candidates: Vec<_> = tracks.iter().map(|track| Candidate::from(*track)).collect();
        let isrcs: Vec<_> = tracks.iter().map(|track| track.isrc.clone()).collect();
        let (owned, indexed) =
            futures::try_join!(self.owned(owner, timings, &candidates), self.indexed(timings, &isrcs))?;
        let results = tracks
            .iter()
            .zip(owned)
            .map(|(track, owned)| TrackResult::of_track(track, owned, indexed.contains(&track.isrc)));
        Ok(results.collect())
    }

    /// Tracks that came from the index.
    pub(crate) async fn index_results(
        &self,
        owner: &UserId,
        timings: &Timings,
        tracks: Vec<Track>,
    ) -> Result<Vec<IndexedTrackResult>, Error> {
        let candidates: Vec<_> = tracks.iter().map(Candidate::from).collect();
        let owned = self.owned(owner, timings, &candidates).await?;
        Ok(tracks.into_iter().zip(owned).map(|(track, owned)| IndexedTrackResult::of_track(track, owned)).collect())
    }

    /// Tracks that came from the catalogue. They are stored, so that their codes count as known later.
    pub(crate) async fn catalogue_results(
        &self,
        owner: &UserId,
        timings: &Timings,
        tracks: &[TidalTrack],
    ) -> Result<Vec<TrackResult>, Error> {
        let candidates: Vec<_> = tracks.iter().map(candidate).collect();
        let isrcs: Vec<_> = tracks.iter().filter_map(|track| track.isrc.clone()).collect();
        let seen: Vec<_> = tracks.iter().filter_map(remembered).collect();
        let (owned, indexed) =
            futures::try_join!(self.owned(owner, timings, &candidates), self.indexed(timings, &isrcs))?;
        self.store.remember_catalogue(&seen).await?;
        let results = tracks.iter().zip(owned).map(|(track, owned)| {
            let is_indexed = track.isrc.as_ref().is_some_and(|isrc| indexed.contains(isrc));
            TrackResult::of_catalogue(track, owned, is_indexed)
        });
        Ok(results.collect())
    }

    pub(crate) async fn album_results(
        &self,
        owner: &UserId,
        timings: &Timings,
        albums: &[TidalAlbum],
    ) -> Result<Vec<AlbumResult>, Error> {
        let ids: Vec<_> = albums.iter().map(|album| album.id.as_str()).collect();
        let owned = timings.measure("libraryCheckDurationMs", self.store.owned_albums(owner, &ids)).await?;
        Ok(albums.iter().map(|album| AlbumResult::of_catalogue(album, owned.contains(&album.id))).collect())
    }

    /// Recordings that exist: what is indexed, what the catalogue has shown before, and what it confirms now.
    pub(crate) async fn known(&self, timings: &Timings, codes: &[Isrc]) -> Result<BTreeMap<Isrc, Track>, Error> {
        let mut known = self.store.known_tracks(codes).await?;
        let missing: Vec<_> = codes.iter().filter(|code| !known.contains_key(*code)).cloned().collect();
        if missing.is_empty() || !self.tidal.is_configured() {
            return Ok(known);
        }
        let found = timings.measure("tidalApiDurationMs", self.tidal.tracks_by_isrc(&missing)).await?;
        for (code, tracks) in found {
            if let Some(track) = tracks.first().and_then(remembered) {
                known.insert(code, track);
            }
        }
        Ok(known)
    }

    /// One recording that exists.
    pub(crate) async fn find_track(&self, isrc: &Isrc) -> Result<Track, Error> {
        let mut known = self.known(&Timings::default(), std::slice::from_ref(isrc)).await?;
        known.remove(isrc).ok_or_else(|| Error::UnknownTrack(isrc.clone()))
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

//! Lookups: which tracks a user owns and which are indexed, with one query each.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::{Duration, Instant},
};

use engine::{Timings, UserId};

use super::{
    Library,
    results::{AlbumResult, IndexedTrackResult, TrackResult, own_artwork, remembered},
};
use crate::Error;
use music::{DocumentId, Isrc, Track, TrackId, TrackRef, scope::Scope};
use search::{Hit, IndexError, SearchPlan, SearchResults};
use sources::tidal::{TidalAlbum, TidalTrack};
use store::{OwnCandidate, Visible};

/// How long a search waits for the first tracks of a new index: an embedded index reads a sample in less than a second.
const FILLS_WITHIN: Duration = Duration::from_secs(3);
/// A playlist has thousands of tracks, and the document of a track has lyrics. Between two parts, other requests run.
pub(crate) const LOOKED_UP_AT_ONCE: usize = 200;
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl Library {
    /// The scope of a user. Every lookup below uses it.
    pub(crate) async fn scope(&self, owner: &UserId) -> Result<Scope, Error> {
        Ok(self.store.scope_of(owner, self.pipeline.shared).await?)
    }

    pub(crate) async fn search(&self, owner: &UserId, plan: SearchPlan) -> Result<Vec<Hit>, Error> {
        Ok(self.find(owner, plan).await?.hits)
    }

    /// The best tracks that the user may see, and how many there are.
    pub(crate) async fn find(&self, owner: &UserId, plan: SearchPlan) -> Result<SearchResults, Error> {
        let plan = plan.within(self.scope(owner).await?);
        let found = self.find_in_turn(owner, &plan).await?;
        if found.hits.is_empty() && self.was_filled_meanwhile().await? {
            return self.find_in_turn(owner, &plan).await;
        }
        Ok(found)
    }

    /// Waits for other searches of the same user. A search that waited gives way to the requests of other users.
    async fn find_in_turn(&self, owner: &UserId, plan: &SearchPlan) -> Result<SearchResults, Error> {
        let place = self.searches.enter(owner).await;
        if place.waited {
            return Ok(self.index.find(&plan.clone().giving_way()).await?);
        }
        Ok(self.index.find(plan).await?)
    }

    /// The indexed tracks with these names that the user may see, in the order of the names.
    pub(crate) async fn indexed_tracks(&self, owner: &UserId, names: &[TrackRef]) -> Result<Vec<Track>, Error> {
        let mut visible = self.visible(owner, names).await?;
        let documents = names.iter().flat_map(|name| visible.remove(name).unwrap_or_default());
        let documents: Vec<DocumentId> = documents.map(|found| found.document).collect();
        let tracks = if documents.is_empty() { vec![] } else { self.index.get(&documents).await? };
        if tracks.is_empty() && !documents.is_empty() && self.was_filled_meanwhile().await? {
            return Ok(self.index.get(&documents).await?);
        }
        Ok(tracks)
    }

    /// The names that refer to an indexed track that the user may see.
    pub(crate) async fn indexed(
        &self,
        owner: &UserId,
        timings: &Timings,
        names: &[TrackRef],
    ) -> Result<BTreeSet<TrackRef>, Error> {
        let asked = async {
            let visible = self.visible(owner, names).await?;
            let documents: Vec<DocumentId> = visible.values().flatten().map(|found| found.document).collect();
            let indexed = if documents.is_empty() { BTreeSet::new() } else { self.index.contains(&documents).await? };
            let is_indexed = |found: &[Visible]| found.iter().any(|found| indexed.contains(&found.document));
            Ok(visible.into_iter().filter(|(_, found)| is_indexed(found)).map(|(name, _)| name).collect())
        };
        timings.measure("indexCheckDurationMs", asked).await
    }

    /// Checks the index if nothing was found: "nothing" is a valid answer only if the index has read the documents.
    /// True if it was empty and has read the first of them now, so that the caller asks again.
    async fn was_filled_meanwhile(&self) -> Result<bool, IndexError> {
        if self.index.info().await?.revision > 0 {
            return Ok(false);
        }
        if self.store.n_changes_after(0).await.map_err(|error| IndexError::Bug(error.into()))? == 0 {
            return Ok(false);
        }
        let until = Instant::now() + FILLS_WITHIN;
        while Instant::now() < until {
            tokio::time::sleep(LOOK_AGAIN).await;
            if self.index.info().await?.revision > 0 {
                return Ok(true);
            }
        }
        Err(IndexError::Filling)
    }

    /// Which of these tracks are in the library, in their order. A failed lookup is an error, never "no".
    pub(crate) async fn owned(
        &self,
        owner: &UserId,
        timings: &Timings,
        candidates: &[OwnCandidate],
    ) -> Result<Vec<bool>, Error> {
        let asked = async {
            let merged = self.store.merged(owner).await?;
            let meant = |candidate: &OwnCandidate| {
                let id = candidate.id.map(|id| *merged.get(&id).unwrap_or(&id));
                OwnCandidate { id, ..candidate.clone() }
            };
            self.store.owned(owner, &candidates.iter().map(meant).collect::<Vec<_>>()).await
        };
        Ok(timings.measure("libraryCheckDurationMs", asked).await?)
    }

    /// Tracks as results, with current flags.
    pub(crate) async fn track_results(
        &self,
        owner: &UserId,
        timings: &Timings,
        tracks: &[&Track],
    ) -> Result<Vec<TrackResult>, Error> {
        let mut results = Vec::with_capacity(tracks.len());
        for part in tracks.chunks(LOOKED_UP_AT_ONCE) {
            results.extend(self.some_results(owner, timings, part).await?);
        }
        Ok(results)
    }

    async fn some_results(
        &self,
        owner: &UserId,
        timings: &Timings,
        tracks: &[&Track],
    ) -> Result<Vec<TrackResult>, Error> {
        let candidates: Vec<_> = tracks.iter().map(|track| OwnCandidate::from(*track)).collect();
        let names: Vec<_> = tracks.iter().map(|track| TrackRef::Id(track.id)).collect();
        let (owned, indexed) =
            futures::try_join!(self.owned(owner, timings, &candidates), self.indexed(owner, timings, &names))?;
        let results = tracks
            .iter()
            .zip(owned)
            .map(|(track, owned)| TrackResult::of_track(track, owned, indexed.contains(&TrackRef::Id(track.id))));
        let mut results: Vec<_> = results.collect();
        self.add_artwork(owner, results.iter_mut()).await?;
        Ok(results)
    }

    /// If the catalogue has no picture, adds the picture of the user's own file.
    pub(super) async fn add_artwork<'a>(
        &self,
        owner: &UserId,
        results: impl Iterator<Item = &'a mut TrackResult>,
    ) -> Result<(), Error> {
        let bare: Vec<_> = results.filter(|result| result.in_library && result.artwork_url.is_none()).collect();
        let ids: Vec<String> = bare.iter().map(|result| result.track_id.to_string()).collect();
        let pictured = self.store.with_artwork(owner, &ids).await?;
        for (result, id) in bare.into_iter().zip(ids).filter(|(_, id)| pictured.contains(id)) {
            result.artwork_url = Some(own_artwork(&id));
        }
        Ok(())
    }

    /// The documents that these names refer to for this user: a merged recording refers to the other one, and a further
    /// code in a file of the user refers to the recording of that file.
    async fn visible(&self, owner: &UserId, names: &[TrackRef]) -> Result<BTreeMap<TrackRef, Vec<Visible>>, Error> {
        let scope = self.scope(owner).await?;
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let merged = self.store.merged(owner).await?;
        let codes: Vec<String> =
            names.iter().filter(|name| matches!(name, TrackRef::Isrc(_))).map(TrackRef::to_string).collect();
        let further =
            if codes.is_empty() { HashMap::new() } else { self.store.own_named(owner, "isrc", &codes).await? };
        let id_of = |name: &TrackRef| match name {
            TrackRef::Id(id) => Some(*id),
            TrackRef::Isrc(isrc) => further.get(isrc.as_str()).copied().or_else(|| {
                // A code refers to its recording for all users, unless this user merged that recording.
                Some(TrackId::of_isrc(isrc)).filter(|id| merged.contains_key(id))
            }),
        };
        let meant = |name: &TrackRef| match id_of(name) {
            Some(id) => TrackRef::Id(*merged.get(&id).unwrap_or(&id)),
            None => name.clone(),
        };
        let asked: Vec<TrackRef> = names.iter().map(meant).collect();
        let visible = self.store.visible(&scope, &asked).await?;
        let found =
            names.iter().zip(&asked).filter_map(|(name, meant)| Some((name.clone(), visible.get(meant)?.clone())));
        Ok(found.collect())
    }

    /// Results for tracks of the index.
    pub(crate) async fn index_results(
        &self,
        owner: &UserId,
        timings: &Timings,
        tracks: Vec<Track>,
    ) -> Result<Vec<IndexedTrackResult>, Error> {
        let candidates: Vec<_> = tracks.iter().map(OwnCandidate::from).collect();
        let owned = self.owned(owner, timings, &candidates).await?;
        let results = tracks.into_iter().zip(owned);
        let mut results: Vec<_> = results.map(|(track, owned)| IndexedTrackResult::of_track(track, owned)).collect();
        self.add_artwork(owner, results.iter_mut().map(|result| &mut result.track)).await?;
        Ok(results)
    }

    /// Results for tracks of the catalogue. They are stored, so that their codes are known later.
    pub(crate) async fn catalogue_results(
        &self,
        owner: &UserId,
        timings: &Timings,
        tracks: &[TidalTrack],
    ) -> Result<Vec<TrackResult>, Error> {
        let candidates: Vec<_> = tracks.iter().map(candidate).collect();
        let names: Vec<_> = tracks.iter().filter_map(|track| track.isrc.clone()).map(TrackRef::Isrc).collect();
        let seen: Vec<_> = tracks.iter().filter_map(remembered).collect();
        let (owned, indexed) =
            futures::try_join!(self.owned(owner, timings, &candidates), self.indexed(owner, timings, &names))?;
        self.store.remember_catalogue(&seen).await?;
        let results = tracks.iter().zip(owned).map(|(track, owned)| {
            let is_indexed = track.isrc.clone().is_some_and(|isrc| indexed.contains(&TrackRef::Isrc(isrc)));
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

    /// The recordings that exist for this user: visible tracks, tracks that the catalogue returned before, and tracks
    /// that it confirms now.
    pub(crate) async fn known(
        &self,
        owner: &UserId,
        timings: &Timings,
        names: &[TrackRef],
    ) -> Result<BTreeMap<TrackRef, Track>, Error> {
        let visible = self.visible(owner, names).await?;
        let first = |mut found: Vec<Visible>| found.swap_remove(0).track;
        let mut known: BTreeMap<_, _> = visible.into_iter().map(|(name, found)| (name, first(found))).collect();
        let open = |known: &BTreeMap<TrackRef, Track>| -> BTreeMap<Isrc, TrackRef> {
            let open = names.iter().filter(|name| !known.contains_key(name));
            open.filter_map(|name| Some((isrc_of(name)?, name.clone()))).collect()
        };
        let missing = open(&known);
        let codes: Vec<Isrc> = missing.keys().cloned().collect();
        for (isrc, track) in self.store.catalogue_tracks(&codes).await? {
            known.insert(missing[&isrc].clone(), track);
        }
        let missing = open(&known);
        if missing.is_empty() || !self.tidal.is_configured() {
            return Ok(known);
        }
        let codes: Vec<Isrc> = missing.keys().cloned().collect();
        let found = timings.measure("tidalApiDurationMs", self.tidal.tracks_by_isrc(&codes)).await?;
        for (isrc, tracks) in found {
            if let (Some(track), Some(name)) = (tracks.first().and_then(remembered), missing.get(&isrc)) {
                known.insert(name.clone(), track);
            }
        }
        Ok(known)
    }

    /// One existing recording.
    pub(crate) async fn find_track(&self, owner: &UserId, name: &TrackRef) -> Result<Track, Error> {
        let mut known = self.known(owner, &Timings::default(), std::slice::from_ref(name)).await?;
        known.remove(name).ok_or_else(|| Error::UnknownTrack(name.clone()))
    }
}

/// The code for a catalogue lookup.
fn isrc_of(name: &TrackRef) -> Option<Isrc> {
    match name {
        TrackRef::Isrc(isrc) => Some(isrc.clone()),
        TrackRef::Id(id) => id.isrc(),
    }
}

fn candidate(track: &TidalTrack) -> OwnCandidate {
    OwnCandidate {
        id: track.isrc.as_ref().map(TrackId::of_isrc),
        isrc: track.isrc.clone(),
        tidal_id: Some(track.tidal_id.clone()),
        name: track.recording_name().to_string(),
        duration: track.duration,
    }
}

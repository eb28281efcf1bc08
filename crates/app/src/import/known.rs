//! The database as a catalogue: tracks that are indexed, are being indexed, or were returned by Tidal before.

use futures::future::BoxFuture;

use super::{
    catalogue::{CannotAsk, Catalogue},
    matching::Candidate,
};
use music::{Isrc, Track, TrackRef, scope::Scope};
use store::{Store, StoreError};

/// The name of the database as a source of candidates.
pub(crate) const HOME: &str = "library";

/// The tracks of the database that one user may see, as a catalogue. It is asked first.
pub(crate) struct KnownTracks<'s> {
    pub(crate) store: &'s Store,
    pub(crate) scope: Scope,
}

impl Catalogue for KnownTracks<'_> {
    fn name(&self) -> &'static str {
        HOME
    }

    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<Vec<Candidate>, CannotAsk>> {
        Box::pin(async move {
            let names: Vec<TrackRef> = isrcs.iter().cloned().map(TrackRef::Isrc).collect();
            let visible = self.store.visible(&self.scope, &names).await?;
            let own = visible.into_values().flatten().filter_map(|found| candidate(found.track, HOME));
            let shown = self.store.catalogue_tracks(isrcs).await?;
            let shown = shown.into_values().filter_map(|track| candidate(track, "Tidal"));
            Ok(own.chain(shown).collect())
        })
    }

    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> BoxFuture<'a, Result<Vec<Candidate>, CannotAsk>> {
        Box::pin(async move {
            let found = self.store.visible_named(&self.scope, title, artist).await?;
            Ok(found.into_iter().filter_map(|track| candidate(track, HOME)).collect())
        })
    }
}

/// A track without a code cannot be chosen by its code. A track whose title is its code has no useful title.
fn candidate(track: Track, source: &'static str) -> Option<Candidate> {
    if track.title == track.isrc_text() {
        return None;
    }
    Some(Candidate {
        isrc: track.isrc?,
        title: track.title,
        version: None,
        artist: track.artist,
        album: Some(track.album).filter(|album| !album.is_empty()),
        duration: track.duration,
        source: source.into(),
    })
}

impl From<StoreError> for CannotAsk {
    fn from(error: StoreError) -> Self {
        Self::Anything(error.to_string())
    }
}

//! The database as a catalogue: what is indexed, on its way into the index, or was shown by Tidal before.

use futures::future::BoxFuture;

use super::{
    catalogue::{CannotAsk, Catalogue},
    matching::Candidate,
};
use music::{Isrc, Track};
use store::{Store, StoreError};

/// The tracks of the database as a catalogue: the first one that is asked.
pub(crate) struct KnownTracks<'s>(pub(crate) &'s Store);

impl Catalogue for KnownTracks<'_> {
    fn name(&self) -> &'static str {
        "library"
    }

    fn by_isrc<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<Vec<Candidate>, CannotAsk>> {
        Box::pin(async move { Ok(self.0.known_tracks(isrcs).await?.into_values().map(candidate).collect()) })
    }

    fn by_name<'a>(&'a self, title: &'a str, artist: &'a str) -> BoxFuture<'a, Result<Vec<Candidate>, CannotAsk>> {
        Box::pin(async move { Ok(self.0.tracks_named(title, artist).await?.into_iter().map(candidate).collect()) })
    }
}

fn candidate(track: Track) -> Candidate {
    Candidate {
        isrc: track.isrc,
        title: track.title,
        version: None,
        artist: track.artist,
        album: Some(track.album).filter(|album| !album.is_empty()),
        duration: track.duration,
        source: "library".into(),
    }
}

impl From<StoreError> for CannotAsk {
    fn from(error: StoreError) -> Self {
        Self::Anything(error.to_string())
    }
}

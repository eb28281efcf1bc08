//! Playlists: suggested by an agent or imported, kept for their user, deleted softly.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use engine::{Timings, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use tracing::instrument;

use super::Origin;
use crate::{
    Error,
    library::{Library, results::TrackResult},
    text_limit::Text,
};
pub use formats::playlist_file;
use music::{Isrc, Track};
use store::Store;
pub use store::{Playlist, PlaylistId, PlaylistLine, PlaylistTrack};

pub type PlaylistTitle = Text<1, 200>;
const MAX_TRACKS: usize = 50;
const MAX_REASON_CHARS: usize = 1000;

/// A recording chosen for a playlist, and why.
pub struct Choice {
    pub isrc: String,
    pub reasoning: String,
}

/// A track on a playlist.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlaylistTrackResult {
    #[serde(flatten)]
    pub track: TrackResult,
    pub reasoning: String,
}

/// A playlist with flags that are true now, not when it was made.
pub struct PlaylistDetails {
    pub id: PlaylistId,
    pub title: String,
    pub created_at: DateTime<Utc>,
    pub tracks: Vec<PlaylistTrackResult>,
}

#[derive(Clone)]
pub struct Playlists {
    store: Store,
    library: Library,
}

impl Playlists {
    pub(crate) fn new(store: Store, library: Library) -> Self {
        Self { store, library }
    }

    /// Newest first.
    #[instrument(name = "playlists.list", skip_all, fields(user.id = %owner))]
    pub async fn list(&self, owner: &UserId) -> Result<Vec<PlaylistLine>, Error> {
        Ok(self.store.playlists(owner).await?.iter().map(PlaylistLine::from).collect())
    }

    #[instrument(name = "playlists.get", skip_all, fields(user.id = %owner, playlist.id = %id))]
    pub async fn get(&self, owner: &UserId, id: PlaylistId) -> Result<Playlist, Error> {
        Ok(self.store.playlist(owner, id).await?)
    }

    #[instrument(name = "playlists.details", skip_all, fields(user.id = %owner, playlist.id = %id))]
    pub async fn details(&self, owner: &UserId, id: PlaylistId) -> Result<PlaylistDetails, Error> {
        let playlist = self.get(owner, id).await?;
        let tracks = self.results(owner, &Timings::default(), &playlist.tracks).await?;
        Ok(PlaylistDetails { id, title: playlist.title, created_at: playlist.created_at, tracks })
    }

    /// Saves the chosen recordings that exist, each once and in order. Also returns the codes that no source knows.
    #[instrument(name = "playlists.save", skip_all)]
    pub async fn save(
        &self,
        origin: impl Into<Origin<'_>>,
        timings: &Timings,
        title: PlaylistTitle,
        choices: Vec<Choice>,
    ) -> Result<(PlaylistDetails, Vec<String>), Error> {
        let Origin { owner, call } = origin.into();
        let title = title.checked("title")?;
        if !(1..=MAX_TRACKS).contains(&choices.len()) {
            return Err(Error::Incomplete("A playlist has 1 to 50 tracks"));
        }
        let codes: Vec<Isrc> = choices.iter().filter_map(|choice| choice.isrc.parse().ok()).collect();
        let known = self.library.known(timings, &codes).await?;
        let (chosen, unknown) = split_known(choices, &known);
        if chosen.is_empty() {
            let error = "None of these codes is a known recording. Search first and use the codes the tools return.";
            return Err(Error::Incomplete(error));
        }
        let tracks = self.results(owner, timings, &chosen).await?;
        let saved = self.store.save_playlist(owner, &title, chosen, call).await?;
        Ok((PlaylistDetails { id: saved.id, title, created_at: saved.created_at, tracks }, unknown))
    }

    async fn results(
        &self,
        owner: &UserId,
        timings: &Timings,
        chosen: &[PlaylistTrack],
    ) -> Result<Vec<PlaylistTrackResult>, Error> {
        let tracks: Vec<&Track> = chosen.iter().map(|choice| &choice.track).collect();
        let results = self.library.track_results(owner, timings, &tracks).await?;
        let reasons = chosen.iter().map(|choice| choice.reasoning.clone());
        Ok(results
            .into_iter()
            .zip(reasons)
            .map(|(track, reasoning)| PlaylistTrackResult { track, reasoning })
            .collect())
    }

    #[instrument(name = "playlists.delete", skip_all, fields(user.id = %owner, playlist.id = %id))]
    pub async fn delete(&self, owner: &UserId, id: PlaylistId) -> Result<(), Error> {
        Ok(self.store.delete_playlist(owner, id).await?)
    }

    #[instrument(name = "playlists.restore", skip_all, fields(user.id = %owner, playlist.id = %id))]
    pub async fn restore(&self, owner: &UserId, id: PlaylistId) -> Result<(), Error> {
        Ok(self.store.restore_playlist(owner, id).await?)
    }
}

/// The choices that exist, each once and in order, and the codes of those that do not.
fn split_known(choices: Vec<Choice>, known: &BTreeMap<Isrc, Track>) -> (Vec<PlaylistTrack>, Vec<String>) {
    let (mut chosen, mut unknown): (Vec<PlaylistTrack>, Vec<String>) = (Vec::new(), Vec::new());
    for choice in choices {
        let Some(track) = choice.isrc.parse().ok().and_then(|code: Isrc| known.get(&code)) else {
            unknown.push(choice.isrc);
            continue;
        };
        if chosen.iter().all(|other| other.track.isrc != track.isrc) {
            let reasoning = choice.reasoning.trim().chars().take(MAX_REASON_CHARS).collect();
            chosen.push(PlaylistTrack { track: track.clone(), reasoning });
        }
    }
    (chosen, unknown)
}

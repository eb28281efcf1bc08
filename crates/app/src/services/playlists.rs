//! Playlists: suggested by an agent, imported or created by hand. Users edit them; a deleted playlist can be restored.

mod arrange;
mod edits;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use engine::{Timings, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use tracing::{field::Empty, instrument};

use super::Origin;
use crate::{
    Error,
    library::{Library, results::TrackResult},
    text_limit::Text,
};
pub use edits::{Additions, Arrangement, NewPlaylist, PlaylistChange};
pub use formats::playlist_file;
use music::{Track, TrackRef};
pub use store::{ItemId, Playlist, PlaylistId, PlaylistLine, PlaylistPage, PlaylistTrack, UndoId};
use store::{PlaylistContent, Store};

pub type PlaylistTitle = Text<1, 200>;
pub type PlaylistDescription = Text<0, 2000>;
const MAX_TRACKS: usize = 50;
const MAX_REASON_CHARS: usize = 1000;

/// A recording chosen for a playlist, and the reason.
pub struct Choice {
    /// An ISRC or a `trackId`.
    pub isrc: String,
    pub reasoning: String,
}

/// A track on a playlist.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaylistTrackResult {
    /// The id of this entry; the same recording may be on the playlist twice.
    pub item_id: ItemId,
    #[serde(flatten)]
    pub track: TrackResult,
    pub reasoning: String,
    /// Whether a player can open a file of yours for this track.
    pub has_file: bool,
}

/// A playlist with current flags.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaylistDetails {
    pub id: PlaylistId,
    pub title: String,
    /// Empty if there is none.
    pub description: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Increases with every edit.
    pub revision: i64,
    pub tracks: Vec<PlaylistTrackResult>,
}

/// A playlist after an edit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedPlaylist {
    #[serde(flatten)]
    pub playlist: PlaylistDetails,
    /// For `POST /api/undo/{id}`.
    pub undo_id: UndoId,
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

    /// A page of playlists, newest first.
    #[instrument(name = "playlists.list", skip_all, fields(user.id = %owner))]
    pub async fn list(&self, owner: &UserId, after: Option<PlaylistId>, limit: u32) -> Result<PlaylistPage, Error> {
        Ok(self.store.playlist_lines(owner, after, limit).await?)
    }

    #[instrument(name = "playlists.get", skip_all, fields(user.id = %owner, playlist.id = %id))]
    pub async fn get(&self, owner: &UserId, id: PlaylistId) -> Result<Playlist, Error> {
        Ok(self.store.playlist(owner, id).await?)
    }

    #[instrument(name = "playlists.details", skip_all, fields(user.id = %owner, playlist.id = %id))]
    pub async fn details(&self, owner: &UserId, id: PlaylistId) -> Result<PlaylistDetails, Error> {
        self.described(owner, &Timings::default(), self.get(owner, id).await?).await
    }

    /// A playlist with its first tracks only.
    #[instrument(name = "playlists.beginning", skip_all, fields(user.id = %owner, playlist.id = %playlist.id))]
    pub(crate) async fn beginning(
        &self,
        owner: &UserId,
        mut playlist: Playlist,
        n_tracks: usize,
    ) -> Result<PlaylistDetails, Error> {
        playlist.content.tracks.truncate(n_tracks);
        self.described(owner, &Timings::default(), playlist).await
    }

    /// A playlist for export to players, spreadsheets and other services.
    #[instrument(name = "playlists.file", skip_all, fields(user.id = %owner, playlist.id = %id))]
    pub async fn file(&self, owner: &UserId, id: PlaylistId) -> Result<playlist_file::PlaylistContents, Error> {
        let PlaylistContent { title, tracks, .. } = self.get(owner, id).await?.content;
        let recordings: BTreeSet<_> = tracks.iter().map(|item| item.track.id).collect();
        let paths = self.store.file_paths(owner, &recordings).await?;
        let entries = tracks.into_iter().map(|item| playlist_file::Entry {
            location: paths.get(&item.track.id).cloned(),
            isrc: item.track.isrc,
            id: item.track.id,
            title: item.track.title,
            artist: item.track.artist,
            album: Some(item.track.album).filter(|album| !album.is_empty()),
            duration: item.track.duration,
            tidal_id: item.track.tidal_id,
            note: Some(item.reasoning).filter(|note| !note.is_empty()),
        });
        Ok(playlist_file::PlaylistContents { title, tracks: entries.collect() })
    }

    /// Saves the chosen recordings that exist, each once and in order. Also returns the codes that no source knows.
    #[instrument(name = "playlists.save", skip_all, fields(user.id = Empty))]
    pub async fn save(
        &self,
        origin: impl Into<Origin<'_>>,
        timings: &Timings,
        title: PlaylistTitle,
        choices: Vec<Choice>,
    ) -> Result<(ChangedPlaylist, Vec<String>), Error> {
        let Origin { owner, call } = Origin::recorded(origin);
        let title = title.checked("title")?;
        if !(1..=MAX_TRACKS).contains(&choices.len()) {
            return Err(Error::Incomplete("A playlist has 1 to 50 tracks"));
        }
        let names: Vec<TrackRef> = choices.iter().filter_map(|choice| choice.isrc.parse().ok()).collect();
        let known = self.library.known(owner, timings, &names).await?;
        let (tracks, unknown) = split_known(choices, &known);
        if tracks.is_empty() {
            let error = "None of these codes is a known recording. Search first and use the codes the tools return.";
            return Err(Error::Incomplete(error));
        }
        let content = PlaylistContent { title, description: String::new(), tracks };
        let saved = self.store.create_playlist(owner, content, call).await?;
        let playlist = self.described(owner, timings, saved.playlist).await?;
        Ok((ChangedPlaylist { playlist, undo_id: saved.undo_id }, unknown))
    }

    async fn described(&self, owner: &UserId, timings: &Timings, playlist: Playlist) -> Result<PlaylistDetails, Error> {
        let Playlist { id, created_at, edited_at, revision, content } = playlist;
        let tracks: Vec<&Track> = content.tracks.iter().map(|item| &item.track).collect();
        let recordings: BTreeSet<_> = tracks.iter().map(|track| track.id).collect();
        let results = self.library.track_results(owner, timings, &tracks).await?;
        let paths = self.store.file_paths(owner, &recordings).await?;
        let items = results.into_iter().zip(&content.tracks).map(|(track, item)| PlaylistTrackResult {
            item_id: item.item_id,
            has_file: paths.contains_key(&item.track.id),
            track,
            reasoning: item.reasoning.clone(),
        });
        Ok(PlaylistDetails {
            id,
            created_at,
            updated_at: edited_at.unwrap_or(created_at),
            revision,
            tracks: items.collect(),
            title: content.title,
            description: content.description,
        })
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

/// The choices that exist, each once and in order, and the codes of the others.
fn split_known(choices: Vec<Choice>, known: &BTreeMap<TrackRef, Track>) -> (Vec<PlaylistTrack>, Vec<String>) {
    let (mut chosen, mut unknown): (Vec<PlaylistTrack>, Vec<String>) = (Vec::new(), Vec::new());
    for choice in choices {
        let Some(track) = choice.isrc.parse().ok().and_then(|name: TrackRef| known.get(&name)) else {
            unknown.push(choice.isrc);
            continue;
        };
        if chosen.iter().all(|other| other.track.id != track.id) {
            let reasoning = text::cut(choice.reasoning.trim(), MAX_REASON_CHARS).to_owned();
            chosen.push(PlaylistTrack { item_id: ItemId::new(), track: track.clone(), reasoning });
        }
    }
    (chosen, unknown)
}

//! Edits of playlists: one method each, for routes, tools and MCP. Each is one transaction and can be undone.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Timings, UserId};
use schemars::JsonSchema;
use serde::Deserialize;
use tracing::{field::Empty, instrument};

use super::{
    ChangedPlaylist, ItemId, Playlist, PlaylistDescription, PlaylistId, PlaylistTitle, Playlists,
    arrange::{Positions, arranged, moved, new_item},
};
use crate::{
    Error,
    library::LOOKED_UP_AT_ONCE,
    services::{Origin, present},
};
use music::{
    Track, TrackRef,
    playlist::{MOST_NAME_BYTES, MOST_TRACKS, name_bytes},
};
use store::{EditedPlaylist, PlaylistContent, PlaylistTrack};

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPlaylist {
    pub title: PlaylistTitle,
    #[serde(default)]
    pub description: PlaylistDescription,
    /// `trackId`s or ISRCs, in playing order.
    #[serde(default)]
    pub track_ids: Vec<String>,
}

/// The fields to change. An absent field is kept; `null` or an empty text clears the description.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaylistChange {
    #[serde(default)]
    pub title: Option<PlaylistTitle>,
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<PlaylistDescription>")]
    pub description: Option<Option<PlaylistDescription>>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Additions {
    /// `trackId`s or ISRCs, in playing order.
    #[schemars(length(min = 1))]
    pub track_ids: Vec<String>,
    /// The number of tracks before the new ones; default: at the end.
    #[serde(default)]
    pub at: Option<usize>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arrangement {
    /// All tracks of the playlist, as `trackId`s or ISRCs, in playing order.
    pub track_ids: Vec<String>,
    /// The revision that this order is based on. If the playlist has another revision, it is not changed (409).
    #[serde(default)]
    pub revision: Option<i64>,
}

impl Playlists {
    #[instrument(name = "playlists.create", skip_all, fields(user.id = Empty))]
    pub async fn create(&self, origin: impl Into<Origin<'_>>, new: NewPlaylist) -> Result<ChangedPlaylist, Error> {
        let Origin { owner, call } = Origin::recorded(origin);
        let title = new.title.checked("title")?;
        let description = new.description.checked("description")?;
        let names = names(&new.track_ids)?;
        let tracks = self.all_known(owner, &names).await?.iter().map(new_item).collect();
        let content = short_enough(PlaylistContent { title, description, tracks })?;
        self.changed(owner, self.store.create_playlist(owner, content, call).await?).await
    }

    #[instrument(name = "playlists.change", skip_all, fields(user.id = Empty, playlist.id = %id))]
    pub async fn change(
        &self,
        origin: impl Into<Origin<'_>>,
        id: PlaylistId,
        change: PlaylistChange,
    ) -> Result<ChangedPlaylist, Error> {
        let title = change.title.map(|title| title.checked("title")).transpose()?;
        let description = change.description.map(|text| text.unwrap_or_default().checked("description")).transpose()?;
        if title.is_none() && description.is_none() {
            return Err(Error::Incomplete("Give a title, a description, or both."));
        }
        let edit = |now: &Playlist| {
            let content = now.content.clone();
            let title = title.clone().unwrap_or(content.title);
            let description = description.clone().unwrap_or(content.description);
            Ok(PlaylistContent { title, description, tracks: content.tracks })
        };
        self.edit(Origin::recorded(origin), id, edit).await
    }

    #[instrument(name = "playlists.add", skip_all, fields(user.id = Empty, playlist.id = %id))]
    pub async fn add(
        &self,
        origin: impl Into<Origin<'_>>,
        id: PlaylistId,
        additions: Additions,
    ) -> Result<ChangedPlaylist, Error> {
        let origin = Origin::recorded(origin);
        if additions.track_ids.is_empty() {
            return Err(Error::Incomplete("Give at least one track in trackIds."));
        }
        // Checked first, so that another user's playlist always answers 404.
        self.get(origin.owner, id).await?;
        let tracks = self.all_known(origin.owner, &names(&additions.track_ids)?).await?;
        let new: Vec<PlaylistTrack> = tracks.iter().map(new_item).collect();
        let edit = |now: &Playlist| {
            let mut content = now.content.clone();
            let at = additions.at.unwrap_or(usize::MAX).min(content.tracks.len());
            content.tracks.splice(at..at, new.iter().cloned());
            short_enough(content)
        };
        self.edit(origin, id, edit).await
    }

    #[instrument(name = "playlists.remove", skip_all, fields(user.id = Empty, playlist.id = %id))]
    pub async fn remove(
        &self,
        origin: impl Into<Origin<'_>>,
        id: PlaylistId,
        items: &[ItemId],
    ) -> Result<ChangedPlaylist, Error> {
        let edit = |now: &Playlist| {
            let mut content = now.content.clone();
            let (items, n_before): (BTreeSet<&ItemId>, _) = (items.iter().collect(), content.tracks.len());
            content.tracks.retain(|item| !items.contains(&item.item_id));
            let are_all_there = n_before - content.tracks.len() == items.len();
            if are_all_there { Ok(content) } else { Err(Error::NotFound) }
        };
        self.edit(Origin::recorded(origin), id, edit).await
    }

    /// Moves one item; `to` is the number of tracks before it afterwards.
    #[instrument(name = "playlists.move_item", skip_all, fields(user.id = Empty, playlist.id = %id))]
    pub(crate) async fn move_item(
        &self,
        origin: impl Into<Origin<'_>>,
        id: PlaylistId,
        item: ItemId,
        to: usize,
    ) -> Result<ChangedPlaylist, Error> {
        let edit = |now: &Playlist| {
            let tracks = moved(now.content.tracks.clone(), item, to).ok_or(Error::NotFound)?;
            Ok(PlaylistContent { tracks, ..now.content.clone() })
        };
        self.edit(Origin::recorded(origin), id, edit).await
    }

    /// Replaces or reorders the tracks.
    #[instrument(name = "playlists.arrange", skip_all, fields(user.id = Empty, playlist.id = %id))]
    pub async fn arrange(
        &self,
        origin: impl Into<Origin<'_>>,
        id: PlaylistId,
        arrangement: Arrangement,
    ) -> Result<ChangedPlaylist, Error> {
        let origin = Origin::recorded(origin);
        let old = self.get(origin.owner, id).await?.content.tracks;
        let names = names(&arrangement.track_ids)?;
        let old = Positions::of(&old);
        let is_new = |name: &&TrackRef| old.first(name).is_none();
        let new: Vec<TrackRef> = names.iter().filter(is_new).cloned().collect();
        let known: BTreeMap<TrackRef, Track> =
            new.iter().cloned().zip(self.all_known(origin.owner, &new).await?).collect();
        let edit = |now: &Playlist| {
            if arrangement.revision.is_some_and(|revision| revision != now.revision) {
                return Err(Error::Conflict("The playlist was changed meanwhile. Read it again."));
            }
            let tracks = arranged(&now.content.tracks, &names, &known)?;
            short_enough(PlaylistContent { tracks, ..now.content.clone() })
        };
        self.edit(origin, id, edit).await
    }

    /// A copy with every track, under another title.
    #[instrument(name = "playlists.duplicate", skip_all, fields(user.id = Empty, playlist.id = %id))]
    pub async fn duplicate(&self, origin: impl Into<Origin<'_>>, id: PlaylistId) -> Result<ChangedPlaylist, Error> {
        const SUFFIX: &str = " (copy)";
        let Origin { owner, call } = Origin::recorded(origin);
        let mut content = self.get(owner, id).await?.content;
        let kept = text::cut(&content.title, PlaylistTitle::MAX - SUFFIX.len());
        content.title = format!("{}{SUFFIX}", kept.trim_end());
        content.tracks.iter_mut().for_each(|item| item.item_id = ItemId::new());
        let content = short_enough(content)?;
        self.changed(owner, self.store.create_playlist(owner, content, call).await?).await
    }

    async fn edit(
        &self,
        Origin { owner, call }: Origin<'_>,
        id: PlaylistId,
        edit: impl Fn(&Playlist) -> Result<PlaylistContent, Error> + Sync,
    ) -> Result<ChangedPlaylist, Error> {
        self.changed(owner, self.store.edit_playlist(owner, id, call, edit).await?).await
    }

    async fn changed(&self, owner: &UserId, edited: EditedPlaylist) -> Result<ChangedPlaylist, Error> {
        let playlist = self.described(owner, &Timings::default(), edited.playlist).await?;
        Ok(ChangedPlaylist { playlist, undo_id: edited.undo_id })
    }

    /// The tracks of these names, or an error with the unknown names.
    async fn all_known(&self, owner: &UserId, names: &[TrackRef]) -> Result<Vec<Track>, Error> {
        let mut known = BTreeMap::new();
        for part in names.chunks(LOOKED_UP_AT_ONCE) {
            known.extend(self.library.known(owner, &Timings::default(), part).await?);
        }
        let unknown: Vec<String> =
            names.iter().filter(|name| !known.contains_key(name)).map(TrackRef::to_string).collect();
        if !unknown.is_empty() {
            return Err(unknown_tracks(&unknown));
        }
        Ok(names.iter().filter_map(|name| known.get(name).cloned()).collect())
    }
}

fn names(texts: &[String]) -> Result<Vec<TrackRef>, Error> {
    if texts.len() > MOST_TRACKS {
        return Err(too_long());
    }
    let (mut names, mut unreadable) = (Vec::new(), Vec::new());
    for text in texts {
        match text.trim().parse() {
            Ok(name) => names.push(name),
            Err(_) => unreadable.push(text.clone()),
        }
    }
    if unreadable.is_empty() { Ok(names) } else { Err(unknown_tracks(&unreadable)) }
}

fn unknown_tracks(names: &[String]) -> Error {
    const MOST_NAMED: usize = 20;
    let named: Vec<&str> = names.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let problem = format!("No recording is known as {}{more}. The playlist was not changed.", named.join(", "));
    Error::Invalid { field: "trackIds", problem }
}

fn short_enough(content: PlaylistContent) -> Result<PlaylistContent, Error> {
    let n_bytes: usize = content.tracks.iter().map(|item| name_bytes(&item.track) + item.reasoning.len()).sum();
    if content.tracks.len() > MOST_TRACKS || n_bytes > MOST_NAME_BYTES {
        return Err(too_long());
    }
    Ok(content)
}

fn too_long() -> Error {
    let megabytes = MOST_NAME_BYTES >> 20;
    let problem = format!("A playlist has at most {MOST_TRACKS} tracks, and {megabytes} MB of names.");
    Error::Invalid { field: "trackIds", problem }
}

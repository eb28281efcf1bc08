//! `edit_playlist`: rename a playlist, or add, remove and move its tracks.

use std::collections::HashSet;

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    compact,
    format::counted,
    playlist_named::{Items, playlist_named},
    tool_error,
};
use crate::services::playlists::{
    Additions, ChangedPlaylist, ItemId, Playlist, PlaylistChange, PlaylistId, PlaylistTitle, PlaylistTrack, Playlists,
    UndoId,
};

/// Change a playlist.
///
/// Rename it, or add, remove or move its tracks: one action a call; the listener can undo it. Only when the listener
/// asks for it; when it is not clear which playlist or track is meant, ask.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Title or id.
    playlist: String,
    action: Action,
    /// For rename.
    #[serde(default)]
    title: Option<PlaylistTitle>,
    /// To add: isrc or trackId. To remove or move: isrc, title or position.
    #[serde(default)]
    tracks: Vec<String>,
    /// Where to, from 1.
    #[serde(default)]
    position: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    Rename,
    Add,
    Remove,
    Move,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    id: PlaylistId,
    title: String,
    track_count: usize,
    action: Action,
    /// What was added, removed or moved: the first 100.
    changed: Vec<ChangedTrack>,
    /// For `POST /api/undo/{id}`.
    undo_id: UndoId,
    #[serde(skip)]
    old_title: String,
    #[serde(skip)]
    n_changed: usize,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChangedTrack {
    title: String,
    artist: String,
    /// Where it is now, or was before it was removed; from 1.
    position: usize,
}

impl Report for Output {
    fn summary(&self) -> String {
        let (title, old) = (&self.title, &self.old_title);
        let what = match self.changed.as_slice() {
            [one] => format!("'{}'", one.title),
            _ => counted(self.n_changed, "track"),
        };
        match self.action {
            Action::Rename => format!("Renamed '{old}' to '{title}'"),
            Action::Add => format!("Added {what} to '{title}'"),
            Action::Remove => format!("Removed {what} from '{title}'"),
            Action::Move => {
                let position = self.changed.first().map_or(1, |first| first.position);
                format!("Moved {what} to position {position} of '{title}'")
            }
        }
    }
    fn count(&self) -> usize {
        self.n_changed.max(1)
    }
}

/// How many tracks one call names, and how many its output names: the names of 1,000 tracks can have megabytes.
const MOST_NAMES: usize = 1000;
const MOST_CHANGED: usize = 100;

pub struct EditPlaylist {
    pub playlists: Playlists,
}

impl Tool for EditPlaylist {
    const NAME: &'static str = "edit_playlist";
    const TITLE: &'static str = "Change a playlist";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        if input.tracks.len() > MOST_NAMES {
            return Err(ToolError::BadInput(format!("Give at most {MOST_NAMES} tracks in one call.")));
        }
        let before = playlist_named(&self.playlists, cx, &input.playlist).await?;
        match input.action {
            Action::Rename => self.rename(cx, before, input.title).await,
            Action::Add => self.add(cx, before, input.tracks, input.position).await,
            Action::Remove => self.remove(cx, before, &input.tracks).await,
            Action::Move => self.move_one(cx, before, &input.tracks, input.position).await,
        }
    }

    fn for_model(output: &Value) -> Value {
        let id = compact::short_id('p', output["id"].as_str().unwrap_or_default());
        json!({"id": id, "title": output["title"], "summary": output["summary"], "changed": output["changed"]})
    }
}

impl EditPlaylist {
    async fn rename(
        &self,
        cx: &ToolContext,
        before: Playlist,
        title: Option<PlaylistTitle>,
    ) -> Result<Output, ToolError> {
        let title = title.ok_or_else(|| ToolError::BadInput("rename needs the new title".into()))?;
        let change = PlaylistChange { title: Some(title), description: None };
        let changed = self.playlists.change(cx, before.id, change).await.map_err(tool_error)?;
        Ok(output(Action::Rename, before, changed, Vec::new()))
    }

    async fn add(
        &self,
        cx: &ToolContext,
        before: Playlist,
        track_ids: Vec<String>,
        position: Option<usize>,
    ) -> Result<Output, ToolError> {
        let at = position.map(from_one).transpose()?;
        let known: HashSet<ItemId> = before.content.tracks.iter().map(|item| item.item_id).collect();
        let changed = self.playlists.add(cx, before.id, Additions { track_ids, at }).await.map_err(tool_error)?;
        let added = places(&changed, |id| !known.contains(&id));
        Ok(output(Action::Add, before, changed, added))
    }

    async fn remove(&self, cx: &ToolContext, before: Playlist, names: &[String]) -> Result<Output, ToolError> {
        if names.is_empty() {
            return Err(ToolError::BadInput("remove needs the tracks to remove".into()));
        }
        let named = Items::of(&before);
        let items = names.iter().map(|name| named.named(name)).collect::<Result<Vec<_>, _>>()?;
        let ids: Vec<ItemId> = items.iter().map(|(_, item)| item.item_id).collect();
        let removed = items.into_iter().map(|(at, item)| of_item(at, item)).collect();
        let changed = self.playlists.remove(cx, before.id, &ids).await.map_err(tool_error)?;
        Ok(output(Action::Remove, before, changed, removed))
    }

    async fn move_one(
        &self,
        cx: &ToolContext,
        before: Playlist,
        names: &[String],
        position: Option<usize>,
    ) -> Result<Output, ToolError> {
        let ([name], Some(position)) = (names, position) else {
            return Err(ToolError::BadInput("move needs one track and the position it moves to".into()));
        };
        let (item, to) = (Items::of(&before).named(name)?.1.item_id, from_one(position)?);
        let changed = self.playlists.move_item(cx, before.id, item, to).await.map_err(tool_error)?;
        let moved = places(&changed, |id| id == item);
        Ok(output(Action::Move, before, changed, moved))
    }
}

fn from_one(position: usize) -> Result<usize, ToolError> {
    position.checked_sub(1).ok_or_else(|| ToolError::BadInput("position counts from 1".into()))
}

fn places(changed: &ChangedPlaylist, is_meant: impl Fn(ItemId) -> bool) -> Vec<ChangedTrack> {
    let tracks = changed.playlist.tracks.iter().enumerate().filter(|(_, item)| is_meant(item.item_id));
    let tracks = tracks.map(|(at, item)| ChangedTrack {
        title: item.track.title.clone(),
        artist: item.track.artist.clone(),
        position: at + 1,
    });
    tracks.collect()
}

fn of_item(at: usize, item: &PlaylistTrack) -> ChangedTrack {
    ChangedTrack { title: item.track.title.clone(), artist: item.track.artist.clone(), position: at + 1 }
}

fn output(action: Action, before: Playlist, after: ChangedPlaylist, mut changed: Vec<ChangedTrack>) -> Output {
    let ChangedPlaylist { playlist, undo_id } = after;
    let n_changed = changed.len();
    changed.truncate(MOST_CHANGED);
    Output {
        id: playlist.id,
        title: playlist.title,
        track_count: playlist.tracks.len(),
        action,
        changed,
        undo_id,
        n_changed,
        old_title: before.content.title,
    }
}

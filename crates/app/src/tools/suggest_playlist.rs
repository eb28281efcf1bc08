//! `suggestPlaylist`: saves a playlist of existing tracks, with a reason for each.

use chrono::{DateTime, Utc};
use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{compact, format::counted, late_database, tool_error};
use crate::services::playlists::{
    self, ChangedPlaylist, PlaylistId, PlaylistTitle, PlaylistTrackResult, Playlists, UndoId,
};

/// Save a new playlist.
///
/// It has the order given and one reason per track. Choose only from tracks that other tools returned in this
/// conversation; a code that no source knows is reported back as unknown and left out. Mix what is in the library with
/// what is new when the listener asks for discovery.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What the playlist is called.
    title: PlaylistTitle,
    /// In playing order.
    #[schemars(length(min = 1, max = 50))]
    tracks: Vec<Choice>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choice {
    /// The track's ISRC or trackId, as another tool returned it.
    isrc: String,
    /// Why this track is here, in one sentence for the listener.
    reasoning: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    id: PlaylistId,
    title: String,
    created_at: DateTime<Utc>,
    tracks: Vec<PlaylistTrackResult>,
    /// Codes that no source knows. They are not on the playlist.
    unknown: Vec<String>,
    /// For `POST /api/undo/{id}`.
    undo_id: UndoId,
}

impl Report for Output {
    fn summary(&self) -> String {
        let left_out = match self.unknown.len() {
            0 => String::new(),
            n => format!(", {} left out as unknown", counted(n, "track")),
        };
        format!("Saved '{}' with {}{left_out}", self.title, counted(self.tracks.len(), "track"))
    }
    fn count(&self) -> usize {
        self.tracks.len()
    }
}

pub struct SuggestPlaylist {
    pub playlists: Playlists,
}

impl Tool for SuggestPlaylist {
    const NAME: &'static str = "suggestPlaylist";
    const TITLE: &'static str = "Make a playlist";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let choices =
            input.tracks.into_iter().map(|choice| playlists::Choice { isrc: choice.isrc, reasoning: choice.reasoning });
        let saved = self.playlists.save(cx, &cx.timings, input.title, choices.collect()).await;
        let (ChangedPlaylist { playlist, undo_id }, unknown) = saved.map_err(tool_error)?;
        Ok(Output {
            id: playlist.id,
            title: playlist.title,
            created_at: playlist.created_at,
            tracks: playlist.tracks,
            unknown,
            undo_id,
        })
    }

    fn for_model(output: &Value) -> Value {
        let tracks = &compact::tracks(output, &["isrc", "trackId", "title", "artist"])["tracks"];
        let id = compact::short_id('p', output["id"].as_str().unwrap_or_default());
        serde_json::json!({"id": id, "summary": output["summary"], "tracks": tracks, "unknown": output["unknown"]})
    }

    fn late() -> ToolError {
        late_database()
    }
}

//! `list_playlists`: the user's playlists, or the tracks of one.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    compact,
    format::counted,
    playlist_named::{all, playlist_named},
    tool_error,
};
use crate::services::playlists::{PlaylistLine, PlaylistTrackResult, Playlists};

/// List the playlists, or the tracks of one.
///
/// Use it before changing a playlist that was not named in this conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A title or id, for its tracks.
    #[serde(default)]
    playlist: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// Newest first; only the requested one, if any.
    playlists: Vec<PlaylistLine>,
    /// In playing order; empty unless one playlist was requested.
    tracks: Vec<PlaylistTrackResult>,
    #[serde(skip)]
    is_one: bool,
}

impl Report for Output {
    fn summary(&self) -> String {
        match self.playlists.first() {
            Some(line) if self.is_one => format!("'{}' has {}", line.title, counted(self.tracks.len(), "track")),
            None => "No playlists".into(),
            Some(_) => counted(self.playlists.len(), "playlist"),
        }
    }
    fn count(&self) -> usize {
        if self.is_one { self.tracks.len() } else { self.playlists.len() }
    }
}

pub struct ListPlaylists {
    pub playlists: Playlists,
}

impl Tool for ListPlaylists {
    const NAME: &'static str = "list_playlists";
    const TITLE: &'static str = "List playlists";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let mut playlists = all(&self.playlists, cx).await?;
        let name = input.playlist.filter(|name| !name.trim().is_empty());
        let Some(name) = name else { return Ok(Output { playlists, tracks: Vec::new(), is_one: false }) };
        let id = playlist_named(&self.playlists, cx, &name).await?.id;
        let details = self.playlists.details(&cx.owner, id).await.map_err(tool_error)?;
        playlists.retain(|line| line.id == id);
        Ok(Output { playlists, tracks: details.tracks, is_one: true })
    }

    fn for_model(output: &Value) -> Value {
        let playlists = output["playlists"].as_array().into_iter().flatten().take(MOST_LISTED).map(|line| {
            let id = compact::short_id('p', line["id"].as_str().unwrap_or_default());
            json!({"id": id, "title": line["title"], "tracks": line["trackCount"]})
        });
        let playlists: Vec<Value> = playlists.collect();
        let tracks = &compact::tracks(output, &["isrc", "trackId", "title", "artist", "inLibrary"])["tracks"];
        if tracks.as_array().is_none_or(Vec::is_empty) {
            return json!({"summary": output["summary"], "playlists": playlists});
        }
        json!({"summary": output["summary"], "playlists": playlists, "tracks": tracks})
    }
}

/// How many lines a model reads.
const MOST_LISTED: usize = 40;

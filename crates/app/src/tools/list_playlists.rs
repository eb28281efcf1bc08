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
    /// The newest 200, newest first; only the requested one, if any.
    playlists: Vec<PlaylistLine>,
    /// The first 500, in playing order; empty unless one playlist was requested.
    tracks: Vec<PlaylistTrackResult>,
    #[serde(skip)]
    is_one: bool,
    /// Of the requested playlist, or of all playlists.
    #[serde(skip)]
    n_all: usize,
}

/// How many playlists and how many tracks one call lists: the result is stored, and read again in later turns.
const MOST_PLAYLISTS: usize = 200;
const MOST_TRACKS: usize = 500;

impl Report for Output {
    fn summary(&self) -> String {
        let n_listed = self.count();
        let cut = if n_listed < self.n_all { format!("; the first {n_listed} are listed") } else { String::new() };
        match self.playlists.first() {
            Some(line) if self.is_one => format!("'{}' has {}{cut}", line.title, counted(self.n_all, "track")),
            None => "No playlists".into(),
            Some(_) => format!("{}{cut}", counted(self.n_all, "playlist")),
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
        let Some(name) = name else {
            let n_all = playlists.len();
            playlists.truncate(MOST_PLAYLISTS);
            return Ok(Output { playlists, tracks: Vec::new(), is_one: false, n_all });
        };
        let playlist = playlist_named(&self.playlists, cx, &name).await?;
        let (id, n_all) = (playlist.id, playlist.content.tracks.len());
        let details = self.playlists.beginning(&cx.owner, playlist, MOST_TRACKS).await.map_err(tool_error)?;
        playlists.retain(|line| line.id == id);
        Ok(Output { playlists, tracks: details.tracks, is_one: true, n_all })
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

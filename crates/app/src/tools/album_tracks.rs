//! `albumTracks`: the tracks of an album, with library flags.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{compact, format::counted, late_catalogue, tool_error};
use crate::{
    library::{Library, results::TrackResult},
    text_limit::Text,
};
use sources::tidal::Tidal;

/// List the tracks of one album.
///
/// They are in playing order. Use it after `tidalSearch`, when the listener asks what is on an album.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// Tidal album id, as returned by `tidalSearch`.
    album_id: Text<1, 100>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    album_id: String,
    album_title: String,
    artist: String,
    tracks: Vec<TrackResult>,
}

impl Report for Output {
    fn summary(&self) -> String {
        format!("{} has {}", self.album_title, counted(self.tracks.len(), "track"))
    }
    fn count(&self) -> usize {
        self.tracks.len()
    }
}

pub struct AlbumTracks {
    pub tidal: Tidal,
    pub library: Library,
}

impl Tool for AlbumTracks {
    const NAME: &'static str = "albumTracks";
    const TITLE: &'static str = "Open an album";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let id = input.album_id.checked("albumId").map_err(|error| tool_error(error.into()))?;
        let found = cx.timings.measure("tidalApiDurationMs", self.tidal.album(&id)).await?;
        let tracks = self.library.catalogue_results(&cx.owner, &cx.timings, &found.tracks).await.map_err(tool_error)?;
        Ok(Output { album_id: id, artist: found.album.artist(), album_title: found.album.title, tracks })
    }

    fn for_model(output: &Value) -> Value {
        compact::tracks(output, &["isrc", "title", "artist", "inLibrary", "isIndexed"])
    }

    fn late() -> ToolError {
        late_catalogue()
    }
}

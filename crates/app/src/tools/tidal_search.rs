//! `tidalSearch`: searches the Tidal catalogue by name.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    compact,
    format::{counted, only},
    late_catalogue, tool_error,
};
use crate::{
    count::Count,
    library::{
        Library,
        results::{AlbumResult, TrackResult},
    },
    text_limit::Text,
};
use sources::tidal::{SearchFor, Tidal};

/// Search Tidal for artists, albums and songs by name.
///
/// Use it for names, not for moods. Tracks say whether they are in the library and whether they are indexed; albums can
/// be opened with `albumTracks`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// A name: artist, album, song, or several of them.
    query: Text<1, 500>,
    /// What to look for.
    search_type: SearchType,
    /// How many of each kind at most.
    #[serde(default)]
    limit: Count<1, 100, 20>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchType {
    Tracks,
    Albums,
    Both,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    tracks: Option<Vec<TrackResult>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    albums: Option<Vec<AlbumResult>>,
    query: String,
    total_found: TotalFound,
    /// The query that Tidal got, if the original is too long for Tidal.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched_for: Option<String>,
    /// True: Tidal had more, but did not deliver it in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_incomplete: bool,
}

#[derive(Serialize, JsonSchema)]
struct TotalFound {
    tracks: usize,
    albums: usize,
}

impl Report for Output {
    fn summary(&self) -> String {
        let TotalFound { tracks, albums } = self.total_found;
        let query = &self.query;
        let mut summary = match (&self.albums, &self.tracks, albums + tracks) {
            (Some(_), Some(_), 0) => format!("No albums or tracks found for '{query}'"),
            (Some(_), None, 0) => format!("No albums found for '{query}'"),
            (None, _, 0) => format!("No tracks found for '{query}'"),
            (Some(_), Some(_), _) => {
                format!("Found {} and {} for '{query}'", counted(albums, "album"), counted(tracks, "track"))
            }
            (Some(_), None, _) => format!("Found {} for '{query}'", counted(albums, "album")),
            (None, _, _) => format!("Found {} for '{query}'", counted(tracks, "track")),
        };
        if let Some(searched_for) = &self.searched_for {
            let n_chars = searched_for.chars().count();
            summary.push_str(&format!("; Tidal was asked for the first {n_chars} characters only"));
        }
        if self.is_incomplete {
            summary.push_str("; Tidal had more, but did not deliver it in time");
        }
        summary
    }
    fn count(&self) -> usize {
        self.total_found.tracks + self.total_found.albums
    }
}

pub struct TidalSearch {
    pub tidal: Tidal,
    pub library: Library,
}

impl Tool for TidalSearch {
    const NAME: &'static str = "tidalSearch";
    const TITLE: &'static str = "Search Tidal";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let query = input.query.checked("Query").map_err(|error| tool_error(error.into()))?;
        let limit = input.limit.checked("limit").map_err(|error| tool_error(error.into()))?;
        let kind = match input.search_type {
            SearchType::Tracks => SearchFor::Tracks,
            SearchType::Albums => SearchFor::Albums,
            SearchType::Both => SearchFor::Both,
        };
        let asked = self.tidal.search(&query, kind, limit as usize);
        let found = cx.timings.measure("tidalApiDurationMs", asked).await?;
        let tracks = self.library.catalogue_results(&cx.owner, &cx.timings, &found.tracks).await.map_err(tool_error)?;
        let albums = self.library.album_results(&cx.owner, &cx.timings, &found.albums).await.map_err(tool_error)?;
        let total_found = TotalFound { tracks: tracks.len(), albums: albums.len() };
        let searched_for = Some(found.searched_for).filter(|searched_for| searched_for.trim() != query.trim());
        Ok(Output {
            searched_for,
            is_incomplete: found.is_cut_short,
            tracks: (kind != SearchFor::Albums).then_some(tracks),
            albums: (kind != SearchFor::Tracks).then_some(albums),
            query,
            total_found,
        })
    }

    fn for_model(output: &Value) -> Value {
        let tracks = compact::tracks(output, &["isrc", "title", "artist", "album", "inLibrary", "isIndexed"]);
        only(&tracks, "albums", &["id", "title", "artist", "releaseDate", "trackCount", "inLibrary"])
    }

    fn late() -> ToolError {
        late_catalogue()
    }
}

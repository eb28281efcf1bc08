//! `batchMetadata`: all indexed data about recordings.

use std::collections::BTreeSet;

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{compact, late_index, tool_error};
use crate::library::{Library, results::IndexedTrackResult};
use music::{Isrc, TrackRef};

/// Get lyrics, interpretation, tags and audio features.
///
/// Of at most 100 tracks a call. Use it before comparing tracks, quoting lyrics or explaining what a song means. Only
/// indexed tracks are found.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// 1 to 100 ISRCs or trackIds, as other tools return them. Hyphens, spaces and lower case are fine.
    #[schemars(length(min = 1, max = 100))]
    isrcs: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    tracks: Vec<IndexedTrackResult>,
    /// The codes that were found, as the caller wrote them.
    found: Vec<String>,
    not_found: Vec<String>,
    /// Codes that are not valid ISRCs, and why; they are in `notFound` too.
    invalid: Vec<Invalid>,
}

#[derive(Serialize, JsonSchema)]
struct Invalid {
    isrc: String,
    reason: String,
}

impl Report for Output {
    fn summary(&self) -> String {
        let n_asked = self.found.len() + self.not_found.len();
        format!("Retrieved metadata for {} of {n_asked} requested tracks", self.found.len())
    }
    fn count(&self) -> usize {
        self.tracks.len()
    }
}

pub struct BatchMetadata {
    pub library: Library,
}

const MAX_CODES: usize = 100;

impl Tool for BatchMetadata {
    const NAME: &'static str = "batchMetadata";
    const TITLE: &'static str = "Look up tracks";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        if input.isrcs.is_empty() {
            return Err(ToolError::BadInput("At least one ISRC required".into()));
        }
        if input.isrcs.len() > MAX_CODES {
            let error = "Request exceeds maximum of 100 ISRCs. Please split into multiple requests.";
            return Err(ToolError::BadInput(error.into()));
        }
        let asked = Asked::read(input.isrcs);
        let lookup = self.library.indexed_tracks(&cx.owner, &asked.names);
        let tracks = cx.timings.measure("qdrantDurationMs", lookup).await.map_err(tool_error)?;
        let tracks = self.library.index_results(&cx.owner, &cx.timings, tracks).await.map_err(tool_error)?;
        Ok(asked.answer(tracks))
    }

    /// Everything except pictures and times. Lyrics are cut, so that the context has space for an answer.
    fn for_model(output: &Value) -> Value {
        let fields = [
            "isrc",
            "trackId",
            "title",
            "artist",
            "album",
            "releaseDate",
            "inLibrary",
            "tags",
            "audioFeatures",
            "interpretation",
            "lyrics",
        ];
        compact::details(output, &fields)
    }

    fn late() -> ToolError {
        late_index()
    }
}

/// The requested names, each once, as the caller wrote it and in normalised form.
struct Asked {
    names: Vec<TrackRef>,
    spelled: Vec<(String, Result<TrackRef, String>)>,
}

impl Asked {
    fn read(texts: Vec<String>) -> Self {
        let mut asked = Self { names: Vec::new(), spelled: Vec::new() };
        for text in texts {
            let name = text.parse::<TrackRef>();
            if let Ok(name) = &name {
                if asked.names.contains(name) {
                    continue;
                }
                asked.names.push(name.clone());
            }
            asked.spelled.push((text, name.map_err(|reason| reason.to_string())));
        }
        asked
    }

    fn answer(self, tracks: Vec<IndexedTrackResult>) -> Output {
        let codes = tracks.iter().filter_map(|track| track.track.isrc.parse::<Isrc>().ok().map(TrackRef::Isrc));
        let ids = tracks.iter().map(|track| TrackRef::Id(track.track.track_id));
        let found: BTreeSet<TrackRef> = codes.chain(ids).collect();
        let mut output = Output { tracks, found: Vec::new(), not_found: Vec::new(), invalid: Vec::new() };
        for (text, name) in self.spelled {
            match name {
                Ok(name) if found.contains(&name) => output.found.push(text),
                Ok(_) => output.not_found.push(text),
                Err(reason) => {
                    output.not_found.push(text.clone());
                    output.invalid.push(Invalid { isrc: text, reason });
                }
            }
        }
        output
    }
}

//! `suggestPlaylist`: a playlist of tracks that exist, with a reason for each, kept for the listener.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    checked_text,
    results::{TrackResult, counted, only, remembered},
    shelf::Shelf,
    store_error,
};
use music::{Isrc, Track};
use sources::tidal::Tidal;
use store::{Candidate, PlaylistId, PlaylistTrack};

/// Save a playlist for the listener, in the order given, with one reason per track.
///
/// Choose only from tracks that other tools returned in this conversation; a code that no source knows is reported back
/// as unknown and left out. Mix what is in the library with what is new when the listener asks for discovery.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What the playlist is called, 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// 1 to 50 tracks in playing order.
    #[schemars(length(min = 1, max = 50))]
    tracks: Vec<Choice>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choice {
    /// The track's ISRC, as another tool returned it.
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
}

/// A track on a playlist.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlaylistTrackResult {
    #[serde(flatten)]
    pub track: TrackResult,
    pub reasoning: String,
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
    pub tidal: Tidal,
    pub shelf: Shelf,
}

const MAX_REASON_CHARS: usize = 1000;

impl Tool for SuggestPlaylist {
    const NAME: &'static str = "suggestPlaylist";
    const TITLE: &'static str = "Make a playlist";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let title = checked_text("title", &input.title, 200)?;
        if !(1..=50).contains(&input.tracks.len()) {
            return Err(ToolError::BadInput("A playlist has 1 to 50 tracks".into()));
        }
        let codes: Vec<Isrc> = input.tracks.iter().filter_map(|choice| choice.isrc.parse().ok()).collect();
        let known = self.known(cx, &codes).await?;
        let (chosen, unknown) = sort_out(input.tracks, &known);
        if chosen.is_empty() {
            let error = "None of these codes is a known recording. Search first and use the codes the tools return.";
            return Err(ToolError::BadInput(error.into()));
        }
        let results = self.results(cx, &chosen).await?;
        let saved =
            self.shelf.store.save_playlist(&cx.owner, &title, chosen, Some(cx.call)).await.map_err(store_error)?;
        Ok(Output { id: saved.id, title, created_at: saved.created_at, tracks: results, unknown })
    }

    fn for_model(output: &Value) -> Value {
        only(output, "tracks", &["isrc", "title", "artist", "inLibrary"])
    }
}

impl SuggestPlaylist {
    /// Recordings that exist: what is indexed, what the catalogue has shown before, and what it confirms now.
    async fn known(&self, cx: &ToolContext, codes: &[Isrc]) -> Result<BTreeMap<Isrc, Track>, ToolError> {
        let mut known = self.shelf.store.known_tracks(codes).await.map_err(store_error)?;
        let missing: Vec<_> = codes.iter().filter(|code| !known.contains_key(*code)).cloned().collect();
        if missing.is_empty() || !self.tidal.is_configured() {
            return Ok(known);
        }
        let found = cx.timings.measure("tidalApiDurationMs", self.tidal.tracks_by_isrc(&missing)).await?;
        for (code, tracks) in found {
            if let Some(track) = tracks.first().and_then(remembered) {
                known.insert(code, track);
            }
        }
        Ok(known)
    }

    async fn results(&self, cx: &ToolContext, chosen: &[PlaylistTrack]) -> Result<Vec<PlaylistTrackResult>, ToolError> {
        let candidates: Vec<_> = chosen.iter().map(|choice| Candidate::from(&choice.track)).collect();
        let isrcs: Vec<_> = chosen.iter().map(|choice| choice.track.isrc.clone()).collect();
        let (owned, indexed) = futures::try_join!(self.shelf.owned(cx, &candidates), self.shelf.flagged(cx, &isrcs))?;
        let results = chosen.iter().zip(owned).map(|(choice, owned)| PlaylistTrackResult {
            track: TrackResult::of_track(&choice.track, owned, indexed.contains(&choice.track.isrc)),
            reasoning: choice.reasoning.clone(),
        });
        Ok(results.collect())
    }
}

/// The choices that exist, each once and in order, and the codes of those that do not.
fn sort_out(choices: Vec<Choice>, known: &BTreeMap<Isrc, Track>) -> (Vec<PlaylistTrack>, Vec<String>) {
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

//! `semanticSearch`: which of the indexed tracks fit a mood, a theme, a story or a line?

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    format::{counted, only},
    tool_error,
};
use crate::{
    library::{Library, results::IndexedTrackResult},
    text_limit::Text,
    wordings::Wordings,
};
use music::identity::recording_groups;
use search::{Hit, SearchPlan};

/// Search the indexed collection by meaning: a mood, a theme, a feeling, a story, a line of lyrics, a sound.
///
/// Words and meaning both count, so name the feeling and what the song is about ("quiet songs about leaving home").
/// Results carry a short description; use `batchMetadata` for lyrics and interpretation. `score` runs from 0 to 1 and is
/// comparable between searches: below about 0.3 a track hardly fits.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What the music should be like, 1 to 2000 characters.
    query: Text<1, 2000>,
    /// How many tracks at most, 1 to 50.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
}

fn twenty() -> u32 {
    20
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    tracks: Vec<IndexedTrackResult>,
    query: String,
    total_found: usize,
}

impl Report for Output {
    fn summary(&self) -> String {
        match self.tracks.len() {
            0 => format!("No tracks found matching '{}'", self.query),
            n => format!("Found {} matching '{}'", counted(n, "track"), self.query),
        }
    }
    fn count(&self) -> usize {
        self.tracks.len()
    }
}

pub struct SemanticSearch {
    pub library: Library,
    pub wordings: Wordings,
}

/// What lies below it has nothing to do with the question.
const LEAST_SCORE: f32 = 0.05;

impl Tool for SemanticSearch {
    const NAME: &'static str = "semanticSearch";
    const TITLE: &'static str = "Search your collection";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let query = input.query.checked("Query").map_err(|error| tool_error(error.into()))?;
        if !(1..=50).contains(&input.limit) {
            return Err(ToolError::BadInput("limit must be between 1 and 50".into()));
        }
        let limit = input.limit as usize;
        // A few more than asked: the same recording under two codes is one result.
        let plan = SearchPlan::new(query.clone(), limit + limit / 4 + 2).timed(&cx.timings);
        let hits = distinct(self.search(cx, plan).await?, limit);
        let (matches, tracks): (Vec<_>, Vec<_>) = hits.into_iter().map(|hit| ((hit.score, hit.why), hit.track)).unzip();
        let mut results = self.library.index_results(&cx.owner, &cx.timings, tracks).await.map_err(tool_error)?;
        for (result, (score, why)) in results.iter_mut().zip(matches) {
            result.score = Some(score);
            result.why = Some(why);
        }
        Ok(Output { total_found: results.len(), tracks: results, query })
    }

    fn for_model(output: &Value) -> Value {
        let fields = ["isrc", "title", "artist", "album", "shortDescription", "score", "inLibrary"];
        only(output, "tracks", &fields)
    }
}

impl SemanticSearch {
    /// When nothing really matches what was typed, it is said in other words, if there is a model to ask.
    async fn search(&self, cx: &ToolContext, plan: SearchPlan) -> Result<Vec<Hit>, ToolError> {
        let hits = self.look_up(cx, &plan).await?;
        if hits.first().is_none_or(|best| best.score >= Hit::MATCHES_FROM) {
            return Ok(hits);
        }
        let wordings = cx.timings.measure("wordingDurationMs", self.wordings.of(&plan.queries[0])).await;
        if wordings.is_empty() { Ok(hits) } else { self.look_up(cx, &plan.also(wordings)).await }
    }

    async fn look_up(&self, cx: &ToolContext, plan: &SearchPlan) -> Result<Vec<Hit>, ToolError> {
        cx.timings.measure("searchDurationMs", self.library.search(plan)).await.map_err(tool_error)
    }
}

/// The best hit of each recording, best first.
fn distinct(hits: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let recordings: Vec<_> = hits.iter().map(|hit| (hit.track.recording_name(), hit.track.duration)).collect();
    let firsts: Vec<_> = recording_groups(&recordings).into_iter().map(|group| group[0]).collect();
    let hits = hits.into_iter().enumerate().filter(|(at, hit)| hit.score >= LEAST_SCORE && firsts.contains(at));
    hits.map(|(_, hit)| hit).take(limit).collect()
}

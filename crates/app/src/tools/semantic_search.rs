//! `semanticSearch`: indexed tracks that match a mood, a theme, a story or a line.

use chrono::Datelike;
use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{compact, format::counted, late_index, tool_error};
use crate::{
    count::Count,
    library::{Library, SearchLimit, results::IndexedTrackResult},
    text_limit::Text,
    wordings::Wordings,
};
use music::identity::recording_groups;
use query::{
    TrackLimits,
    plan::{Applied, NumberRange, YearRange, language_code},
};
use search::{Hit, SearchPlan, SearchResults};

/// Search the collection by mood, theme, feeling, lyrics or sound.
///
/// Words and meaning both count, so name the feeling and what the song is about ("quiet songs about leaving home").
/// Limits are kept exactly, in words ("from the 90s", "no drums", "like X but calmer") or as fields.
///
/// `applied` says which were understood. Results carry a short description; use `batchMetadata` for lyrics and
/// interpretation. `tracks` has only what matches; when nothing does, `nearest` has what comes closest.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// What the music should be like.
    query: Text<1, 2000>,
    /// How many tracks at most.
    #[serde(default)]
    limit: SearchLimit,
    /// Years of release.
    #[serde(default, deserialize_with = "object")]
    years: Option<YearRange>,
    /// Beats per minute.
    #[serde(default, deserialize_with = "object")]
    tempo: Option<NumberRange>,
    /// Seconds.
    #[serde(default, deserialize_with = "object")]
    length: Option<NumberRange>,
    /// Sung in it: an ISO 639-1 code.
    #[serde(default)]
    language: Option<String>,
    /// True: no singing.
    #[serde(default)]
    instrumental: Option<bool>,
    /// Words that must not describe a track.
    #[serde(default)]
    without: Vec<Text<1, 100>>,
    /// Of one artist.
    #[serde(default)]
    at_most_per_artist: Option<Count<1, 50>>,
    /// True: only owned. False: only new.
    #[serde(default)]
    in_library: Option<bool>,
}

/// Requires an object, because serde would also accept a list as the fields of a range.
fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let fields: Option<serde_json::Map<String, Value>> = Option::deserialize(deserializer)?;
    let range = fields.map(|fields| serde_json::from_value(Value::Object(fields)));
    range.transpose().map_err(serde::de::Error::custom)
}

const MOST_DENIED: usize = 20;

impl Input {
    /// The limits that were given as fields.
    fn limits(&mut self) -> Result<TrackLimits, ToolError> {
        let bad = |message: &str| Err(ToolError::BadInput(message.into()));
        if self.without.len() > MOST_DENIED {
            return bad(&format!("without has at most {MOST_DENIED} entries"));
        }
        let per_artist = self.at_most_per_artist.map(|most| most.checked("atMostPerArtist")).transpose();
        let per_artist = per_artist.map_err(|error| tool_error(error.into()))?;
        let language = match &self.language {
            None => None,
            Some(text) => match language_code(text) {
                Some(code) => Some(code),
                None => return bad("language must be an ISO 639-1 code, such as 'fr'"),
            },
        };
        let denied = std::mem::take(&mut self.without).into_iter().map(|text| text.checked("without"));
        Ok(TrackLimits {
            years: self.years,
            tempo: self.tempo,
            duration: self.length,
            language,
            instrumental: self.instrumental,
            in_library: self.in_library,
            at_most_per_artist: per_artist.map(|most| most as usize),
            denied: denied.collect::<Result<_, _>>().map_err(|error| tool_error(error.into()))?,
            ..TrackLimits::default()
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The matching tracks, best first.
    tracks: Vec<IndexedTrackResult>,
    query: String,
    /// The number of matching tracks, also beyond `limit`.
    total_found: usize,
    /// The limits that were recognised. Results satisfy them exactly.
    applied: Vec<Applied>,
    /// How many tracks were left out because their data does not say whether they satisfy a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    undecided: Option<usize>,
    /// The nearest tracks, if nothing matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<IndexedTrackResult>,
    /// True while the index is being filled: tracks of yours cannot be found yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_incomplete: bool,
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

/// How many of the nearest tracks are shown if nothing matches.
const NEAREST: usize = 5;

impl Tool for SemanticSearch {
    const NAME: &'static str = "semanticSearch";
    const TITLE: &'static str = "Search your collection";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, mut input: Input) -> Result<Output, ToolError> {
        let most = input.limit.checked("limit").map_err(|error| tool_error(error.into()))? as usize;
        let given = input.limits()?;
        let query = input.query.checked("Query").map_err(|error| tool_error(error.into()))?;
        let mut plan = query::parse(&query, chrono::Utc::now().year());
        plan.limit_to(&given);
        let limit = plan.limits.at_most.map_or(most, |asked| asked.clamp(1, most));
        // Fetches a few more results, because the same recording with two codes is one result.
        let request = self.library.search_request(&cx.owner, plan, limit + limit / 4 + 2).await.map_err(tool_error)?;
        let taste = self.library.taste(&cx.owner, cx.answer).await.map_err(tool_error)?;
        let is_filling = async { self.library.is_filling(&cx.owner).await.map_err(tool_error) };
        let search = self.search(cx, request.search.tasting(taste).timed(&cx.timings), request.is_like);
        let (found, is_incomplete) = futures::try_join!(search, is_filling)?;
        let n_hits = found.hits.len();
        let hits = distinct(found.hits);
        let n_repeated = n_hits - hits.len();
        let mut results = self.results(cx, hits).await?;
        if let Some(owned) = request.plan.limits.in_library {
            results.retain(|result| result.track.in_library == owned);
        }
        let (mut tracks, mut nearest): (Vec<_>, Vec<_>) =
            results.into_iter().partition(|result| result.score.is_some_and(|score| score >= Hit::MATCHES_FROM));
        let total_found = found.total.saturating_sub(n_repeated).max(tracks.len());
        tracks.truncate(limit);
        nearest.truncate(if tracks.is_empty() { NEAREST.min(limit) } else { 0 });
        let undecided = Some(found.undecided).filter(|n| *n > 0);
        Ok(Output { tracks, query, total_found, applied: request.plan.applied, undecided, nearest, is_incomplete })
    }

    fn for_model(output: &Value) -> Value {
        let fields = ["isrc", "trackId", "title", "artist", "shortDescription", "score", "inLibrary"];
        let mut view = compact::tracks(output, &fields);
        if let Some(nearest) = output.get("nearest") {
            view["nearest"] = compact::tracks(&json!({ "tracks": nearest }), &fields)["tracks"].clone();
        }
        view
    }

    fn late() -> ToolError {
        late_index()
    }
}

impl SemanticSearch {
    /// If nothing matches the query, a model rewords it, if there is one.
    async fn search(&self, cx: &ToolContext, plan: SearchPlan, is_like: bool) -> Result<SearchResults, ToolError> {
        let found = self.look_up(cx, plan.clone()).await?;
        if is_like || found.hits.first().is_none_or(|best| best.score >= Hit::MATCHES_FROM) {
            return Ok(found);
        }
        let asked = self.wordings.of(&cx.owner, cx.call, &plan.queries[0]);
        let wordings = cx.timings.measure("wordingDurationMs", asked).await;
        if wordings.is_empty() { Ok(found) } else { self.look_up(cx, plan.also(wordings)).await }
    }

    async fn look_up(&self, cx: &ToolContext, plan: SearchPlan) -> Result<SearchResults, ToolError> {
        cx.timings.measure("searchDurationMs", self.library.find(&cx.owner, plan)).await.map_err(tool_error)
    }

    async fn results(&self, cx: &ToolContext, hits: Vec<Hit>) -> Result<Vec<IndexedTrackResult>, ToolError> {
        let (matches, tracks): (Vec<_>, Vec<_>) =
            hits.into_iter().map(|hit| ((hit.score, hit.why, hit.ranked_by), hit.track)).unzip();
        let mut results = self.library.index_results(&cx.owner, &cx.timings, tracks).await.map_err(tool_error)?;
        for (result, (score, why, ranked_by)) in results.iter_mut().zip(matches) {
            result.score = Some(score);
            result.why = Some(why);
            result.ranked_by = ranked_by;
        }
        Ok(results)
    }
}

/// The best hit of each recording, best first.
fn distinct(hits: Vec<Hit>) -> Vec<Hit> {
    let recordings: Vec<_> = hits.iter().map(|hit| (hit.track.recording_name(), hit.track.duration)).collect();
    let firsts: Vec<_> = recording_groups(&recordings).into_iter().map(|group| group[0]).collect();
    hits.into_iter().enumerate().filter(|(at, _)| firsts.contains(at)).map(|(_, hit)| hit).collect()
}

//! The track index: find tracks by meaning, by words and by sound, and fetch them by id.

mod cores;
pub mod document;
pub mod embed;
pub mod embedded;
mod filter;
mod finish;
pub mod fuse;
mod judge;
pub mod live;
pub mod qdrant;
pub mod ranker;
mod read_track;
mod recent;
#[cfg(test)]
mod reference;
mod said;
pub mod signals;
mod simd;
mod taste;
mod tokenizers;
pub mod topic;
mod track_words;
pub mod vectors;
pub mod why;

use std::{collections::BTreeSet, time::Duration};

use engine::Timings;
use futures::future::BoxFuture;

use crate::embed::{EmbedError, EmbedderId};
use music::{DocumentId, Track};
use query::features::{Side, SoundPreference, sound_preferences};

pub use embedded::EmbeddedIndex;
pub use filter::{Filter, SearchResults};
pub use fuse::Ranking;
pub use live::{LiveIndex, Successor};
pub use music::scope::{self, Scope};
pub use qdrant::{QdrantIndex, QdrantSettings};
pub use query::{Feature, FeatureRange};
pub use taste::Taste;
pub use why::Why;

/// A search index for tracks. The database is the source of truth; an index is a projection that can be rebuilt.
pub trait TrackIndex: Send + Sync {
    /// The best tracks, how many match and how many cannot be decided. An outage is an error, never an empty list.
    fn find<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<SearchResults, IndexError>>;
    /// Only the best tracks.
    fn search<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<Vec<Hit>, IndexError>> {
        Box::pin(async move { Ok(self.find(plan).await?.hits) })
    }
    /// The tracks of these documents in the given order, without missing ones. The database decides which documents a
    /// caller may request.
    fn get<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>>;
    /// Which of these documents are indexed.
    fn contains<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<BTreeSet<DocumentId>, IndexError>>;
    /// How many tracks a search within this scope can find.
    fn count<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<u64, IndexError>>;
    /// Writes a batch and the revision of its last change atomically.
    fn apply<'a>(&'a self, changes: &'a [Change]) -> BoxFuture<'a, Result<(), IndexError>>;
    fn info(&self) -> BoxFuture<'_, Result<IndexInfo, IndexError>>;
}

/// What to search for: one to three wordings of the same request. A track is scored by the wording that matches it
/// best.
#[derive(Clone, Debug, Default)]
pub struct SearchPlan {
    pub queries: Vec<String>,
    pub limit: usize,
    pub filter: Filter,
    /// Which documents the caller may see.
    pub scope: Scope,
    /// The requested sound; `None` if it is derived from the words.
    pub sounds: Option<Vec<SoundPreference>>,
    /// Durations of the steps, for the caller's trace.
    pub timings: Timings,
    /// Whether the search computes on a thread of low priority.
    pub gives_way: bool,
    /// What the user liked or refused before.
    pub taste: Taste,
    /// Whether the order is that of the scores, without the ranker; for measurements.
    pub by_score: bool,
}

impl SearchPlan {
    pub fn new(query: impl Into<String>, limit: usize) -> Self {
        Self { queries: vec![query.into()], limit, ..Self::default() }
    }

    /// The same search, but requests that need a core at the same time get it first.
    pub fn giving_way(self) -> Self {
        Self { gives_way: true, ..self }
    }

    /// The same search without the ranker.
    pub fn by_score(self) -> Self {
        Self { by_score: true, ..self }
    }

    /// The search for a query plan. The caller adds its own data: the library, the seeds.
    pub fn of(plan: &query::Plan, limit: usize) -> Self {
        let limit = plan.limits.at_most.map_or(limit, |most| most.min(limit));
        let filter = Filter::of(&plan.limits);
        let search = Self { filter, sounds: Some(plan.sounds.clone()), ..Self::new(plan.words.clone(), limit) };
        search.also(query::gloss::english(&plan.words)).also(query::latin::latin(&plan.words))
    }

    /// The search for tracks similar to a seed, which is not among the results. "Calmer" is a filter: less energy
    /// than the seed.
    pub fn like(seed: &Track, plan: &query::Plan, limit: usize) -> Self {
        let description = seed.short_description.as_deref().or(seed.interpretation.as_deref()).unwrap_or_default();
        let words = [plan.words.as_str(), &seed.tags.join(" "), description].join(" ").trim().to_owned();
        let mut search = Self { queries: vec![words], ..Self::of(plan, limit) };
        search.filter.not_tracks.insert(seed.id);
        for preference in plan.sounds.iter().filter(|preference| preference.is_relative) {
            let Some(value) = seed.audio_features.as_ref().and_then(|features| preference.feature.of(features)) else {
                continue;
            };
            let (min, max) = match preference.side {
                Side::High => (Some(value.next_up()), None),
                Side::Low => (None, Some(value.next_down())),
            };
            search.filter.features.push(FeatureRange { feature: preference.feature, min, max });
        }
        search.sounds = Some(plan.sounds.iter().filter(|preference| !preference.is_relative).copied().collect());
        search
    }

    /// The sound that one wording asks for.
    pub(crate) fn sounds_of(&self, text: &str) -> Vec<SoundPreference> {
        self.sounds.clone().unwrap_or_else(|| sound_preferences(text))
    }

    /// Whether the plan contains nothing to search for: a scope alone is not a search.
    pub(crate) fn asks_nothing(&self) -> bool {
        self.has_no_words() && self.filter == Filter::default() && self.sounds_of("").is_empty()
    }

    /// Whether the plan contains only filters and sound.
    pub(crate) fn has_no_words(&self) -> bool {
        let has_limits =
            self.filter != Filter::default() || self.sounds.as_ref().is_some_and(|sounds| !sounds.is_empty());
        let says_nothing = |query: &String| {
            // "Songs" beside a filter is not a search term; "The The" alone is.
            query::words::words(query).is_empty() || has_limits && query::stop::content_words(query).is_empty()
        };
        self.queries.iter().all(says_nothing)
    }

    pub(crate) fn asked(&self) -> why::Asked {
        let first = self.queries.first().map_or("", String::as_str);
        why::Asked::new(&self.queries, self.sounds_of(first), &self.filter)
    }

    /// Adds wordings (for example from a model) to the one that the user typed.
    pub fn also(mut self, wordings: impl IntoIterator<Item = String>) -> Self {
        self.queries.extend(wordings);
        self
    }

    /// The same search by a user with this taste.
    pub fn tasting(self, taste: Taste) -> Self {
        Self { taste, ..self }
    }

    pub fn timed(mut self, timings: &Timings) -> Self {
        self.timings = timings.clone();
        self
    }

    pub fn within(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    pub fn only(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }
}

/// A search result.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub track: Track,
    /// 0 to 1. The same score means the same quality for every query; see [`Hit::MATCHES_FROM`].
    pub score: f32,
    pub why: Why,
    /// What moved the track up among the matches, in shares of the best score, such as `words end a phrase (+0.40)`.
    pub ranked_by: Vec<String>,
}

impl Hit {
    /// A hit with a lower score is not a match. `make eval` measures how many themes score below it and how many
    /// sentences about daily life score above it.
    pub const MATCHES_FROM: f32 = query::MATCHES_FROM;
}

/// One change in the database: a track as it is now, or its deletion.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub revision: i64,
    pub id: DocumentId,
    /// Marks of the users who may read it: see [`scope`].
    pub readers: Vec<String>,
    /// `None`: the track was deleted.
    pub track: Option<Track>,
}

impl Change {
    /// A track that every user may read, for measurements and tests.
    pub fn public(revision: i64, track: Track) -> Self {
        let (id, readers) = (DocumentId::public(track.id), vec![scope::PUBLIC.into()]);
        Self { revision, id, readers, track: Some(track) }
    }
}

/// The source of the changes: the database.
pub trait TrackSource: Send + Sync {
    /// The changes after a revision in ascending order, at most `limit`.
    fn changes_after(&self, revision: i64, limit: usize) -> BoxFuture<'_, anyhow::Result<Vec<Change>>>;
}

/// The state of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexInfo {
    /// `embedded` or `qdrant`.
    pub engine: &'static str,
    pub n_tracks: u64,
    pub revision: i64,
    pub embedder: EmbedderId,
    /// False if another process owns the embedded index and this process only reads.
    pub writable: bool,
}

/// Why the index failed, by who can fix it.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The server does not answer at this URL. It may answer later, or the operator must start it.
    #[error("the index is not reachable: {0}")]
    Away(String),
    /// It did not answer within the time that a user waits.
    #[error("the index did not answer within {} ms", .0.as_millis())]
    Slow(Duration),
    /// The index has not read anything yet, so "nothing found" would be wrong.
    #[error("the index is empty and is being filled from the database")]
    Filling,
    /// The URL or key belongs to another server or collection. The operator must correct the settings.
    #[error("the index does not match the settings: {0}")]
    WrongSchema(String),
    /// Another process owns the files and writes; this process only reads.
    #[error("the index is written by another process")]
    ReadOnly,
    #[error("no vectors: {0}")]
    Embedder(#[from] EmbedError),
    /// A bug, or a damaged disk.
    #[error("the index failed: {0:#}")]
    Bug(#[from] anyhow::Error),
}

impl IndexError {
    /// The message for users, for every kind of failure except [`Self::Filling`].
    pub const MESSAGE: &'static str = "Vector search service is temporarily unavailable";

    /// The message for users.
    pub fn message(&self) -> &'static str {
        match self {
            Self::Filling => "The search index is being built. Try again in a moment.",
            _ => Self::MESSAGE,
        }
    }

    /// Whether the same call may succeed a second later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Away(_) | Self::Slow(_) | Self::Filling => true,
            Self::Embedder(error) => error.is_passing(),
            Self::WrongSchema(_) | Self::ReadOnly | Self::Bug(_) => false,
        }
    }
}

impl From<tantivy::TantivyError> for IndexError {
    fn from(error: tantivy::TantivyError) -> Self {
        Self::Bug(error.into())
    }
}

impl From<std::io::Error> for IndexError {
    fn from(error: std::io::Error) -> Self {
        Self::Bug(error.into())
    }
}

/// How many changes are read and committed at once.
const BATCH: usize = 256;

/// Applies all changes that the index has not read, and returns their number. If another process owns the index, that
/// process applies them.
pub async fn catch_up(index: &dyn TrackIndex, source: &dyn TrackSource) -> Result<usize, IndexError> {
    let mut n_changes = 0;
    loop {
        let revision = index.info().await?.revision;
        let changes = source.changes_after(revision, BATCH).await?;
        if changes.is_empty() {
            return Ok(n_changes);
        }
        match index.apply(&changes).await {
            Ok(()) => n_changes += changes.len(),
            Err(IndexError::ReadOnly) => return Ok(n_changes),
            Err(error) => return Err(error),
        }
    }
}

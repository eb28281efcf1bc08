//! Hybrid search over Qdrant: the candidates of both sides, the evidence each lacks, then our own scoring.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use qdrant_client::qdrant::{
    BatchResult, Condition, Filter, PayloadIncludeSelector, Query, QueryBatchPointsBuilder, QueryPoints,
    QueryPointsBuilder, ScoredPoint, VectorInput,
};

use query::features::{Feature, SoundWish, sound_fit, sound_wishes};

use super::{
    super::{
        Hit, IndexError, SearchPlan,
        fuse::{Evidence, Scored, Yardstick, dot, places},
        why::Asked,
    },
    QdrantIndex, points,
};
use crate::embed::Kind;
use music::Isrc;

const CANDIDATES: usize = 200;
/// As in the embedded index: what was typed counts a little more than other wordings of it.
const REWORDED: f32 = 0.95;
/// What a word that no track has would count, in units of BM25.
const UNKNOWN_WORD: f32 = 15.0;

pub(super) async fn run(index: &QdrantIndex, plan: &SearchPlan) -> Result<Vec<Hit>, IndexError> {
    let embedding = index.embedder.embed(&plan.queries, Kind::Query);
    let vectors = plan.timings.measure("embeddingDurationMs", embedding).await?;
    let queries = plan.queries.iter().zip(&vectors);
    let wordings: Vec<Wording> = queries.map(|(text, vector)| Wording { index, plan, text, vector }).collect();
    let found = try_join_all(wordings.iter().map(Wording::run)).await?;
    let mut best: BTreeMap<Isrc, (f32, f32)> = BTreeMap::new();
    for (at, scored) in found.into_iter().enumerate() {
        let weight = if at == 0 { 1.0 } else { REWORDED };
        for (isrc, score, similarity) in scored {
            let known = best.entry(isrc).or_insert((0.0, -1.0));
            *known = (known.0.max(weight * score), known.1.max(similarity));
        }
    }
    let scored = best.iter().map(|(key, &(score, similarity))| Scored { key, score, similarity }).collect();
    let places = places(scored, plan.limit);
    let isrcs: Vec<Isrc> = places.iter().map(|place| place.key.clone()).collect();
    let tracks = index.fetch_tracks(&isrcs).await?;
    let wishes = plan.queries.first().map(|query| sound_wishes(query)).unwrap_or_default();
    let asked = Asked::new(&plan.queries, wishes);
    // A track deleted since the first request is simply not there.
    let hits = tracks.into_iter().map(|track| Hit { score: best[&track.isrc].0, why: asked.why(&track), track });
    Ok(hits.collect())
}

struct Wording<'a> {
    index: &'a QdrantIndex,
    plan: &'a SearchPlan,
    text: &'a str,
    vector: &'a [f32],
}

/// What is known about the candidates so far.
#[derive(Default)]
struct Found {
    similarity: BTreeMap<Isrc, f32>,
    words: BTreeMap<Isrc, f32>,
    sound: BTreeMap<Isrc, f32>,
}

impl Wording<'_> {
    async fn run(&self) -> Result<Vec<(Isrc, f32, f32)>, IndexError> {
        let words = points::query_words(self.text);
        let wishes = sound_wishes(self.text);
        let n = CANDIDATES.max(2 * self.plan.limit);
        let must = points::conditions(&self.plan.filter);
        let mut searches = vec![self.dense(&must, n), self.sparse(&words, &must, n)];
        let single = |index: &u32| self.sparse(&BTreeMap::from([(*index, 1.0)]), &[points::is_track()], 1);
        searches.extend(words.keys().map(single));
        let answers = self.ask(searches).await?;
        let mut found = Found::default();
        found.read(&answers[..2], &wishes)?;
        let best_words = best_words(&words, &answers[2..]);
        self.complete(&words, &must, &wishes, &mut found).await?;
        let sample: Vec<f32> = self.index.sample().await?.iter().map(|other| dot(self.vector, other)).collect();
        let yardstick = Yardstick::new(best_words, &sample);
        let candidates: BTreeSet<&Isrc> = found.similarity.keys().chain(found.words.keys()).collect();
        let score = |isrc: &Isrc| {
            let of = |map: &BTreeMap<Isrc, f32>| map.get(isrc).copied().unwrap_or_default();
            let evidence =
                Evidence { words: of(&found.words), similarity: of(&found.similarity), sound: of(&found.sound) };
            (isrc.clone(), yardstick.score(&evidence), evidence.similarity)
        };
        Ok(candidates.into_iter().map(score).collect())
    }

    /// Asks each side about the candidates that only the other side knew.
    async fn complete(
        &self,
        words: &BTreeMap<u32, f32>,
        must: &[Condition],
        wishes: &[SoundWish],
        found: &mut Found,
    ) -> Result<(), IndexError> {
        let lacking = |has: &BTreeMap<Isrc, f32>, other: &BTreeMap<Isrc, f32>| -> Vec<Isrc> {
            other.keys().filter(|isrc| !has.contains_key(*isrc)).cloned().collect()
        };
        let among = |isrcs: &[Isrc]| [must, &[points::is_one_of(isrcs)]].concat();
        let without_similarity = lacking(&found.similarity, &found.words);
        let without_words = lacking(&found.words, &found.similarity);
        let mut searches = Vec::new();
        if !without_similarity.is_empty() {
            searches.push(self.dense(&among(&without_similarity), 4 * without_similarity.len()));
        }
        if !without_words.is_empty() && !words.is_empty() {
            searches.push(self.sparse(words, &among(&without_words), without_words.len()));
        }
        if searches.is_empty() {
            return Ok(());
        }
        let has_dense = !without_similarity.is_empty();
        let mut answers = self.ask(searches).await?;
        if !has_dense {
            answers.insert(0, BatchResult::default());
        }
        found.read(&answers, wishes)
    }

    fn dense(&self, must: &[Condition], limit: usize) -> QueryPoints {
        self.nearest(VectorInput::new_dense(self.vector), "dense", must, limit)
    }

    fn sparse(&self, words: &BTreeMap<u32, f32>, must: &[Condition], limit: usize) -> QueryPoints {
        let (indices, values): (Vec<u32>, Vec<f32>) = words.iter().unzip();
        self.nearest(VectorInput::new_sparse(indices, values), "words", must, limit)
    }

    fn nearest(&self, vector: VectorInput, using: &str, must: &[Condition], limit: usize) -> QueryPoints {
        QueryPointsBuilder::new(&self.index.collection)
            .query(Query::new_nearest(vector))
            .using(using)
            .filter(Filter::must(must.iter().cloned()))
            .limit(limit as u64)
            .with_payload(PayloadIncludeSelector { fields: payload_fields() })
            .build()
    }

    async fn ask(&self, searches: Vec<QueryPoints>) -> Result<Vec<BatchResult>, IndexError> {
        let n_searches = searches.len();
        let client = &self.index.client;
        let batch = QueryBatchPointsBuilder::new(&self.index.collection, searches);
        let answers = client.ask(client.qdrant.query_batch(batch)).await?.result;
        match answers.len() == n_searches {
            true => Ok(answers),
            false => Err(IndexError::WrongSchema("Qdrant answered fewer searches than were asked".into())),
        }
    }
}

impl Found {
    /// Reads an answer of the dense and one of the sparse side.
    fn read(&mut self, answers: &[BatchResult], wishes: &[SoundWish]) -> Result<(), IndexError> {
        for (answer, side) in answers.iter().zip([&mut self.similarity, &mut self.words]) {
            for point in &answer.result {
                let isrc = points::isrc(&point.payload)?;
                self.sound.insert(isrc.clone(), sound_fit(wishes, |feature| sound_of(point, feature)));
                let best = side.entry(isrc).or_insert(point.score);
                *best = best.max(point.score);
            }
        }
        Ok(())
    }
}

fn payload_fields() -> Vec<String> {
    Feature::ALL.iter().map(|feature| feature.name()).chain(["isrc"]).map(String::from).collect()
}

/// A round number may come back as a whole one.
fn sound_of(point: &ScoredPoint, feature: Feature) -> Option<f64> {
    let value = point.try_get(feature.name())?;
    value.as_double().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// What a track with every word of the query reaches: each word's best track, added up.
fn best_words(words: &BTreeMap<u32, f32>, singles: &[BatchResult]) -> f32 {
    let best = |answer: &BatchResult| answer.result.first().map_or(UNKNOWN_WORD, |point| point.score);
    words.values().zip(singles).map(|(count, answer)| count * best(answer)).sum()
}

//! Hybrid search over Qdrant: the candidates of both sides, the evidence each lacks, then our own scoring.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use qdrant_client::qdrant::{
    BatchResult, Filter, PayloadIncludeSelector, Query, QueryBatchPointsBuilder, QueryPoints,
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
use music::DocumentId;

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
    let mut best: BTreeMap<DocumentId, (f32, f32)> = BTreeMap::new();
    for (at, scored) in found.into_iter().enumerate() {
        let weight = if at == 0 { 1.0 } else { REWORDED };
        for (id, score, similarity) in scored {
            let known = best.entry(id).or_insert((0.0, -1.0));
            *known = (known.0.max(weight * score), known.1.max(similarity));
        }
    }
    let scored = best.iter().map(|(key, &(score, similarity))| Scored { key, score, similarity }).collect();
    let places = places(scored, plan.limit);
    let ids: Vec<DocumentId> = places.iter().map(|place| *place.key).collect();
    let tracks = index.fetch_tracks(&ids).await?;
    let wishes = plan.queries.first().map(|query| sound_wishes(query)).unwrap_or_default();
    let asked = Asked::new(&plan.queries, wishes);
    // A track deleted since the first request is simply not there.
    let hits = tracks.into_iter().map(|(id, track)| Hit { score: best[&id].0, why: asked.why(&track), track });
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
    similarity: BTreeMap<DocumentId, f32>,
    words: BTreeMap<DocumentId, f32>,
    sound: BTreeMap<DocumentId, f32>,
}

impl Wording<'_> {
    async fn run(&self) -> Result<Vec<(DocumentId, f32, f32)>, IndexError> {
        let words = points::query_words(self.text);
        let wishes = sound_wishes(self.text);
        let n = CANDIDATES.max(2 * self.plan.limit);
        let within = points::selection(&self.plan.filter, &self.plan.scope);
        let mut searches = vec![self.dense(&within, n), self.sparse(&words, &within, n)];
        let single = |index: &u32| self.sparse(&BTreeMap::from([(*index, 1.0)]), &Filter::must([points::is_track()]), 1);
        searches.extend(words.keys().map(single));
        let answers = self.ask(searches).await?;
        let mut found = Found::default();
        found.read(&answers[..2], &wishes)?;
        let best_words = best_words(&words, &answers[2..]);
        self.complete(&words, &within, &wishes, &mut found).await?;
        let sample: Vec<f32> = self.index.sample().await?.iter().map(|other| dot(self.vector, other)).collect();
        let yardstick = Yardstick::new(best_words, &sample);
        let candidates: BTreeSet<&DocumentId> = found.similarity.keys().chain(found.words.keys()).collect();
        let score = |id: &DocumentId| {
            let of = |map: &BTreeMap<DocumentId, f32>| map.get(id).copied().unwrap_or_default();
            let evidence =
                Evidence { words: of(&found.words), similarity: of(&found.similarity), sound: of(&found.sound) };
            (*id, yardstick.score(&evidence), evidence.similarity)
        };
        Ok(candidates.into_iter().map(score).collect())
    }

    /// Asks each side about the candidates that only the other side knew.
    async fn complete(
        &self,
        words: &BTreeMap<u32, f32>,
        within: &Filter,
        wishes: &[SoundWish],
        found: &mut Found,
    ) -> Result<(), IndexError> {
        let lacking = |has: &BTreeMap<DocumentId, f32>, other: &BTreeMap<DocumentId, f32>| -> Vec<DocumentId> {
            other.keys().filter(|id| !has.contains_key(*id)).copied().collect()
        };
        let among = |ids: &[DocumentId]| {
            let mut among = within.clone();
            among.must.push(points::is_one_of(ids));
            among
        };
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

    fn dense(&self, within: &Filter, limit: usize) -> QueryPoints {
        self.nearest(VectorInput::new_dense(self.vector), "dense", within, limit)
    }

    fn sparse(&self, words: &BTreeMap<u32, f32>, within: &Filter, limit: usize) -> QueryPoints {
        let (indices, values): (Vec<u32>, Vec<f32>) = words.iter().unzip();
        self.nearest(VectorInput::new_sparse(indices, values), "words", within, limit)
    }

    fn nearest(&self, vector: VectorInput, using: &str, within: &Filter, limit: usize) -> QueryPoints {
        QueryPointsBuilder::new(&self.index.collection)
            .query(Query::new_nearest(vector))
            .using(using)
            .filter(within.clone())
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
                let id = points::document(&point.payload)?;
                self.sound.insert(id, sound_fit(wishes, |feature| sound_of(point, feature)));
                let best = side.entry(id).or_insert(point.score);
                *best = best.max(point.score);
            }
        }
        Ok(())
    }
}

fn payload_fields() -> Vec<String> {
    Feature::ALL.iter().map(|feature| feature.name()).chain(["document"]).map(String::from).collect()
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

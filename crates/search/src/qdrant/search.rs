//! Hybrid search over Qdrant: the candidates of both sides, the evidence each lacks, then our own scoring.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use qdrant_client::qdrant::{
    BatchResult, CountPointsBuilder, Filter, PayloadIncludeSelector, Query, QueryBatchPointsBuilder, QueryPoints,
    QueryPointsBuilder, ScrollPointsBuilder, Value, VectorInput,
};

use query::features::{Feature, SoundWish, sound_fit};

use super::{
    super::{
        Found as Answer, Hit, IndexError, SearchPlan,
        finish::{self, Candidates, PerArtist},
        fuse::{Evidence, Yardstick, dot},
    },
    QdrantIndex,
    narrow::Narrowed,
    points,
};
use crate::embed::Kind;
use music::{Isrc, Track};

const CANDIDATES: usize = 200;

pub(super) async fn run(index: &QdrantIndex, plan: &SearchPlan) -> Result<Answer, IndexError> {
    let narrowed = Narrowed::new(&plan.filter);
    if plan.has_no_words() {
        return list(index, plan, &narrowed).await;
    }
    let embedding = index.embedder.embed(&plan.queries, Kind::Query);
    let vectors = plan.timings.measure("embeddingDurationMs", embedding).await?;
    let queries = plan.queries.iter().zip(&vectors);
    let wordings: Vec<Wording> = queries
        .map(|(text, vector)| {
            let sounds = plan.sounds_of(text);
            Wording { index, narrowed: &narrowed, limit: plan.limit, text, vector, sounds }
        })
        .collect();
    let candidates = try_join_all(wordings.iter().map(Wording::run)).await?;
    let isrcs: BTreeSet<Isrc> = candidates.iter().flat_map(|found| found.best(plan.limit)).cloned().collect();
    // A track deleted since the first request is simply not there.
    let tracks = index.fetch_tracks(&isrcs.into_iter().collect::<Vec<_>>()).await?;
    let tracks: BTreeMap<Isrc, Track> = tracks.into_iter().map(|track| (track.isrc.clone(), track)).collect();
    let found = finish::found(&candidates, &tracks, &plan.filter, plan.limit, &plan.asked());
    Ok(Answer { undecided: undecided(index, plan, &narrowed).await?, ..found })
}

/// What is within the limits, when that is all that was asked for.
async fn list(index: &QdrantIndex, plan: &SearchPlan, narrowed: &Narrowed) -> Result<Answer, IndexError> {
    const MOST: u32 = 1000;
    let sounds = plan.sounds_of("");
    if plan.filter == super::super::Filter::default() && sounds.is_empty() {
        return Ok(Answer { is_total_exact: true, ..Answer::default() });
    }
    let some = ScrollPointsBuilder::new(&index.collection)
        .filter(narrowed.tracks())
        .limit(MOST)
        .with_payload(PayloadIncludeSelector { fields: payload_fields() })
        .with_vectors(false);
    let page = index.client.ask(index.client.qdrant.scroll(some)).await?.result;
    let mut listed: Vec<(f32, Isrc)> = page
        .iter()
        .map(|point| {
            let fit = sound_fit(&sounds, |feature| sound_of(point.payload.get(feature.name())));
            let score = if sounds.is_empty() { 1.0 } else { (1.0 + fit) / 2.0 };
            Ok((score, points::isrc(&point.payload)?))
        })
        .collect::<Result<_, IndexError>>()?;
    listed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let is_total_exact = page.len() < MOST as usize;
    let total = listed.iter().filter(|(score, _)| *score >= Hit::MATCHES_FROM).count();
    let scores: BTreeMap<&Isrc, f32> = listed.iter().map(|(score, isrc)| (isrc, *score)).collect();
    let isrcs: Vec<Isrc> = listed.iter().map(|(_, isrc)| isrc.clone()).collect();
    let (mut capped, asked) = (PerArtist::new(&plan.filter), plan.asked());
    let tracks = index.fetch_tracks(&isrcs).await?.into_iter().filter(|track| capped.admits(track)).take(plan.limit);
    let hits = tracks.map(|track| Hit { score: scores[&track.isrc], why: asked.why(&track), track }).collect();
    Ok(Answer { hits, total, is_total_exact, undecided: undecided(index, plan, narrowed).await? })
}

/// How many tracks nothing but missing data keeps out.
async fn undecided(index: &QdrantIndex, plan: &SearchPlan, narrowed: &Narrowed) -> Result<usize, IndexError> {
    if !plan.filter.needs_data() {
        return Ok(0);
    }
    let client = &index.client;
    let count = async |filter: Filter| {
        let request = CountPointsBuilder::new(&index.collection).filter(filter).exact(true);
        let answer = client.ask(client.qdrant.count(request)).await?;
        Ok::<u64, IndexError>(answer.result.map_or(0, |result| result.count))
    };
    let (lenient, strict) =
        futures::future::try_join(count(narrowed.lenient_tracks()), count(narrowed.tracks())).await?;
    Ok(lenient.saturating_sub(strict) as usize)
}

struct Wording<'a> {
    index: &'a QdrantIndex,
    narrowed: &'a Narrowed,
    limit: usize,
    text: &'a str,
    vector: &'a [f32],
    sounds: Vec<SoundWish>,
}

/// What is known about the candidates so far.
#[derive(Default)]
struct Found {
    similarity: BTreeMap<Isrc, f32>,
    words: BTreeMap<Isrc, f32>,
    sound: BTreeMap<Isrc, f32>,
}

impl Wording<'_> {
    async fn run(&self) -> Result<Candidates<Isrc>, IndexError> {
        let words = points::query_words(self.text);
        let n = CANDIDATES.max(2 * self.limit);
        let filter = self.narrowed.with([]);
        let mut searches = vec![self.dense(filter.clone(), n)];
        if !words.is_empty() {
            searches.push(self.sparse(&words, filter, n));
        }
        let answers = self.ask(searches).await?;
        let mut found = Found::default();
        found.read(&answers, &self.sounds)?;
        self.complete(&words, &mut found).await?;
        let sample: Vec<f32> = self.index.sample().await?.iter().map(|other| dot(self.vector, other)).collect();
        let candidates: BTreeSet<&Isrc> = found.similarity.keys().chain(found.words.keys()).collect();
        let evidence = |isrc: &Isrc| {
            let of = |map: &BTreeMap<Isrc, f32>| map.get(isrc).copied().unwrap_or_default();
            let evidence =
                Evidence { words: of(&found.words), similarity: of(&found.similarity), sound: of(&found.sound) };
            (isrc.clone(), evidence)
        };
        Ok(Candidates::new(self.text, Yardstick::new(&sample), candidates.into_iter().map(evidence)))
    }

    /// Asks each side about the candidates that only the other side knew.
    async fn complete(&self, words: &BTreeMap<u32, f32>, found: &mut Found) -> Result<(), IndexError> {
        let lacking = |has: &BTreeMap<Isrc, f32>, other: &BTreeMap<Isrc, f32>| -> Vec<Isrc> {
            other.keys().filter(|isrc| !has.contains_key(*isrc)).cloned().collect()
        };
        let among = |isrcs: &[Isrc]| self.narrowed.with([points::is_one_of(isrcs)]);
        let without_similarity = lacking(&found.similarity, &found.words);
        let without_words = lacking(&found.words, &found.similarity);
        let mut searches = Vec::new();
        if !without_similarity.is_empty() {
            searches.push(self.dense(among(&without_similarity), 4 * without_similarity.len()));
        }
        if !without_words.is_empty() && !words.is_empty() {
            searches.push(self.sparse(words, among(&without_words), without_words.len()));
        }
        if searches.is_empty() {
            return Ok(());
        }
        let has_dense = !without_similarity.is_empty();
        let mut answers = self.ask(searches).await?;
        if !has_dense {
            answers.insert(0, BatchResult::default());
        }
        found.read(&answers, &self.sounds)
    }

    fn dense(&self, filter: Filter, limit: usize) -> QueryPoints {
        self.nearest(VectorInput::new_dense(self.vector), "dense", filter, limit)
    }

    fn sparse(&self, words: &BTreeMap<u32, f32>, filter: Filter, limit: usize) -> QueryPoints {
        let (indices, values): (Vec<u32>, Vec<f32>) = words.iter().unzip();
        self.nearest(VectorInput::new_sparse(indices, values), "words", filter, limit)
    }

    fn nearest(&self, vector: VectorInput, using: &str, filter: Filter, limit: usize) -> QueryPoints {
        QueryPointsBuilder::new(&self.index.collection)
            .query(Query::new_nearest(vector))
            .using(using)
            .filter(filter)
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
                let fit = sound_fit(wishes, |feature| sound_of(point.payload.get(feature.name())));
                self.sound.insert(isrc.clone(), fit);
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
fn sound_of(value: Option<&Value>) -> Option<f64> {
    let value = value?;
    value.as_double().or_else(|| value.as_integer().map(|whole| whole as f64))
}

//! Hybrid search over Qdrant: the candidates of both sides, the evidence each lacks, then our own scoring.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::future::try_join_all;
use qdrant_client::qdrant::{
    BatchResult, Condition, CountPointsBuilder, Filter, PayloadIncludeSelector, Query, QueryBatchPointsBuilder,
    QueryPoints, QueryPointsBuilder, ScrollPointsBuilder, Value, VectorInput,
};

use query::{
    features::{Feature, SoundPreference, sound_fit},
    gloss,
    stop::content_words,
    words::telling_words,
};

use super::{
    super::{
        Hit, IndexError, SearchPlan, SearchResults as Answer,
        finish::{self, Candidates, PerArtist},
        fuse::{Evidence, Yardstick, dot},
        read_track::ReadTrack,
    },
    QdrantIndex,
    narrow::Narrowed,
    points,
};
use crate::embed;
use music::DocumentId;

const CANDIDATES: usize = 200;
/// The fields with the words of a name.
const NAMES: [&str; 3] = ["title", "artist", "album"];

pub(super) async fn run(index: &QdrantIndex, plan: &SearchPlan) -> Result<Answer, IndexError> {
    let narrowed = Narrowed::new(&plan.filter, &plan.scope);
    if plan.has_no_words() {
        return list(index, plan, &narrowed).await;
    }
    let across = across(index, &plan.queries).await?;
    let embedding = embed::queries(&*index.embedder, &plan.queries, &across);
    let vectors = plan.timings.measure("embeddingDurationMs", embedding).await?;
    let queries = plan.queries.iter().zip(&vectors).zip(across);
    let wordings: Vec<Wording> = queries
        .map(|((text, vector), is_across)| {
            let sounds = plan.sounds_of(text);
            Wording { index, narrowed: &narrowed, limit: plan.limit, text, vector, sounds, is_across }
        })
        .collect();
    let candidates = finish::of_one_message(try_join_all(wordings.iter().map(Wording::run)).await?);
    let ids: BTreeSet<DocumentId> = candidates.iter().flat_map(|found| found.best(plan.limit)).copied().collect();
    // A track deleted since the first request is simply not there.
    let tracks = index.fetch_read(&ids.into_iter().collect::<Vec<_>>()).await?;
    let tracks: BTreeMap<DocumentId, Arc<ReadTrack>> = tracks.into_iter().collect();
    let found = finish::found(&candidates, &tracks, plan);
    Ok(Answer { undecided: undecided(index, plan, &narrowed).await?, ..found })
}

/// Which queries are in words that no name, tag or description has, if the embedder reads such words.
async fn across(index: &QdrantIndex, queries: &[String]) -> Result<Vec<bool>, IndexError> {
    if !index.embedder.reads_other_languages() {
        return Ok(vec![false; queries.len()]);
    }
    try_join_all(queries.iter().map(|query| async move {
        if gloss::is_foreign(query) {
            return Ok(true);
        }
        let content = content_words(query);
        let known = content.iter().map(|content| async move {
            let has_it = Condition::matches(points::TERMS, content.word.term.clone());
            let filter = Filter::must([points::is_track(), points::is_first_chunk(), has_it]);
            let request = CountPointsBuilder::new(&index.collection).filter(filter).exact(false);
            let answer = index.client.ask(index.client.qdrant().count(request)).await?;
            Ok::<bool, IndexError>(answer.result.is_some_and(|result| result.count > 0))
        });
        let known = try_join_all(known).await?;
        Ok(2 * known.iter().filter(|is_known| **is_known).count() < content.len())
    }))
    .await
}

/// What is within the limits, when that is all that was asked for.
async fn list(index: &QdrantIndex, plan: &SearchPlan, narrowed: &Narrowed) -> Result<Answer, IndexError> {
    const MOST: u32 = 1000;
    let sounds = plan.sounds_of("");
    if plan.asks_nothing() {
        return Ok(Answer { is_total_exact: true, ..Answer::default() });
    }
    let some = ScrollPointsBuilder::new(&index.collection)
        .filter(narrowed.tracks())
        .limit(MOST)
        .with_payload(PayloadIncludeSelector { fields: payload_fields() })
        .with_vectors(false);
    let page = index.client.ask(index.client.qdrant().scroll(some)).await?.result;
    let mut listed: Vec<(f32, DocumentId)> = page
        .iter()
        .map(|point| {
            let fit = sound_fit(&sounds, |feature| sound_of(point.payload.get(feature.name())));
            let score = if sounds.is_empty() { 1.0 } else { (1.0 + fit) / 2.0 };
            Ok((score, points::document(&point.payload)?))
        })
        .collect::<Result<_, IndexError>>()?;
    listed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let is_total_exact = page.len() < MOST as usize;
    let total = listed.iter().filter(|(score, _)| *score >= Hit::MATCHES_FROM).count();
    let scores: BTreeMap<&DocumentId, f32> = listed.iter().map(|(score, id)| (id, *score)).collect();
    let ids: Vec<DocumentId> = listed.iter().map(|(_, id)| *id).collect();
    let (mut capped, asked) = (PerArtist::new(&plan.filter), plan.asked());
    let tracks = index.fetch_read(&ids).await?.into_iter().filter(|(_, read)| capped.admits(&read.track));
    let hit = |(id, read): (DocumentId, Arc<ReadTrack>)| {
        let (score, why) = (scores[&id], asked.why(&read));
        Hit { score, why, ranked_by: Vec::new(), track: read.track.clone() }
    };
    let hits = tracks.take(plan.limit).map(hit).collect();
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
        let answer = client.ask(client.qdrant().count(request)).await?;
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
    sounds: Vec<SoundPreference>,
    is_across: bool,
}

/// What is known about the candidates so far.
#[derive(Default)]
struct Found {
    similarity: BTreeMap<DocumentId, f32>,
    words: BTreeMap<DocumentId, f32>,
    sound: BTreeMap<DocumentId, f32>,
    /// Those with all words of the query in one name.
    named: BTreeSet<DocumentId>,
}

impl Wording<'_> {
    async fn run(&self) -> Result<Candidates<DocumentId>, IndexError> {
        let words = points::query_words(self.text);
        let n = CANDIDATES.max(2 * self.limit);
        let filter = self.narrowed.with([]);
        let mut searches = vec![self.dense(filter.clone(), n)];
        if !words.is_empty() {
            searches.push(self.sparse(&words, filter, n));
            searches.extend(self.by_name(&words));
        }
        let answers = self.ask(searches).await?;
        let mut found = Found::default();
        found.read(&answers, &self.sounds)?;
        self.complete(&words, &mut found).await?;
        let sample: Vec<f32> = self.index.sample().await?.iter().map(|other| dot(self.vector, other)).collect();
        let candidates: BTreeSet<&DocumentId> = found.similarity.keys().chain(found.words.keys()).collect();
        let evidence = |id: &DocumentId| {
            let of = |map: &BTreeMap<DocumentId, f32>| map.get(id).copied().unwrap_or_default();
            let evidence =
                Evidence { words: of(&found.words), similarity: of(&found.similarity), sound: of(&found.sound) };
            (*id, evidence)
        };
        let reads_prose = self.index.embedder.reads_prose() && !self.is_across;
        let yardstick = Yardstick::of(&sample, self.is_across).reading_prose(reads_prose);
        let evidence: Vec<_> = candidates.into_iter().map(evidence).collect();
        let votes = self.index.embedder.votes(self.vector);
        Ok(Candidates::new((self.text, self.is_across, votes), yardstick, evidence).with_named(found.named))
    }

    /// Tracks with all these words in their title, artist or album, which hundreds of others may have scattered over their
    /// names and lyrics.
    fn by_name(&self, words: &BTreeMap<u32, f32>) -> Vec<QueryPoints> {
        let terms: BTreeSet<String> = telling_words(self.text).into_iter().map(|word| word.term).collect();
        if terms.len() > finish::MOST_NAME_WORDS {
            return vec![];
        }
        let all = |field: &str| {
            let has = terms.iter().map(|term| Condition::matches(field, term.clone()));
            self.sparse(words, self.narrowed.with(has), finish::NAMED)
        };
        NAMES.map(all).into()
    }

    /// Asks each side about the candidates that only the other side knew.
    async fn complete(&self, words: &BTreeMap<u32, f32>, found: &mut Found) -> Result<(), IndexError> {
        let lacking = |has: &BTreeMap<DocumentId, f32>, other: &BTreeMap<DocumentId, f32>| -> Vec<DocumentId> {
            other.keys().filter(|id| !has.contains_key(*id)).copied().collect()
        };
        let among = |ids: &[DocumentId]| self.narrowed.with([points::is_one_of(ids)]);
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
        let answers = client.ask(client.qdrant().query_batch(batch)).await?.result;
        match answers.len() == n_searches {
            true => Ok(answers),
            false => Err(IndexError::WrongSchema("Qdrant answered fewer searches than were asked".into())),
        }
    }
}

impl Found {
    /// Reads an answer of the dense side, one of the sparse side, and those about names, which are of the sparse side too.
    fn read(&mut self, answers: &[BatchResult], wishes: &[SoundPreference]) -> Result<(), IndexError> {
        for (at, answer) in answers.iter().enumerate() {
            for point in &answer.result {
                let id = points::document(&point.payload)?;
                let fit = sound_fit(wishes, |feature| sound_of(point.payload.get(feature.name())));
                self.sound.insert(id, fit);
                let side = if at == 0 { &mut self.similarity } else { &mut self.words };
                let best = side.entry(id).or_insert(point.score);
                *best = best.max(point.score);
                if at > 1 {
                    self.named.insert(id);
                }
            }
        }
        Ok(())
    }
}

fn payload_fields() -> Vec<String> {
    Feature::ALL.iter().map(|feature| feature.name()).chain(["document"]).map(String::from).collect()
}

/// A round number may come back as a whole one.
fn sound_of(value: Option<&Value>) -> Option<f64> {
    let value = value?;
    value.as_double().or_else(|| value.as_integer().map(|whole| whole as f64))
}

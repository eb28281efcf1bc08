//! Hybrid search over a snapshot: two lists of candidates, the complete scores of each candidate, one ranking.

use std::collections::{BTreeMap, BTreeSet};

use tantivy::{
    DocAddress, Score, Term,
    collector::{DocSetCollector, TopDocs},
    columnar::Column,
    query::{AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EnableScoring, Occur, Query, TermQuery},
    schema::IndexRecordOption,
};

use query::{
    features::{Feature, SoundPreference, sound_fit},
    words::weighted_terms,
};

use super::{
    super::{
        IndexError, SearchPlan, cores,
        embed::Votes,
        finish::{Candidates, MOST_NAME_WORDS, NAMED},
        fuse::{Evidence, Ranking, Scored, Yardstick, by_score, dot},
        vectors::Vectors,
    },
    narrow::Narrowed,
    schema::Fields,
    snapshot::Snapshot,
};

/// Candidates from each side. Even the end of a list of 100 then contains candidates from both.
const CANDIDATES: usize = 200;
const NAMES_BOOST: Score = 0.5;
const LYRICS_BOOST: Score = 0.7;

pub(super) struct Search<'a> {
    pub(super) fields: &'a Fields,
    pub(super) snapshot: &'a Snapshot,
    pub(super) vectors: &'a Vectors,
    /// Whether the similarities come from a model that reads sentences.
    pub(super) reads_prose: bool,
}

/// One wording with its vector and the sound that it asks for.
pub(super) struct Wording {
    pub(super) text: String,
    pub(super) vector: Vec<f32>,
    pub(super) sounds: Vec<SoundPreference>,
    /// Whether it is in words that the index does not know.
    pub(super) is_across: bool,
    /// What the embedder says about it.
    pub(super) votes: Votes,
}

impl Search<'_> {
    /// The candidates of one wording with all their scores.
    pub(super) fn candidates(
        &self,
        wording: &Wording,
        narrowed: Option<&Narrowed>,
        plan: &SearchPlan,
    ) -> Result<Candidates<DocAddress>, IndexError> {
        let Wording { text, vector, sounds, is_across, votes } = wording;
        let n = CANDIDATES.max(2 * plan.limit);
        let terms = self.terms(text);
        let by_meaning = || self.by_meaning(vector, narrowed, n);
        let by_words = || self.by_words(&terms, narrowed, n);
        let (by_meaning, by_words) = match plan.gives_way {
            true => (by_meaning(), by_words()),
            false => cores::on_all(|| rayon::join(by_meaning, by_words)),
        };
        let (mut similarities, mut words) = (by_meaning?, by_words?);
        let named = self.by_name(&terms, narrowed)?;
        let candidates: BTreeSet<DocAddress> = similarities.keys().chain(words.keys()).chain(&named).copied().collect();
        self.add_words(&terms, &candidates, &mut words)?;
        self.add_similarities(vector, &candidates, &mut similarities)?;
        let columns = self.columns(sounds)?;
        let evidence = |key: DocAddress| {
            let sound = sound_fit(sounds, |feature| columns.get(&(key.segment_ord, feature))?.first(key.doc_id));
            let of = |side: &BTreeMap<DocAddress, f32>| side.get(&key).copied().unwrap_or_default();
            (key, Evidence { words: of(&words), similarity: of(&similarities), sound })
        };
        let found = Candidates::new(
            (text, *is_across, *votes),
            self.yardstick(vector, *is_across).reading_prose(self.reads_prose && !is_across),
            candidates.into_iter().map(evidence),
        );
        Ok(found.with_named(named))
    }

    /// Ranking by words or by meaning alone: the baseline for measurements.
    pub(super) fn one_sided(
        &self,
        wording: &Wording,
        ranking: Ranking,
        n: usize,
    ) -> Result<Vec<DocAddress>, IndexError> {
        let scores = match ranking {
            Ranking::Words => self.by_words(&self.terms(&wording.text), None, n)?,
            Ranking::Meaning | Ranking::Hybrid => self.by_meaning(&wording.vector, None, n)?,
        };
        let scored = scores.into_iter().map(|(key, score)| Scored { key, score, similarity: 0.0 }).collect();
        Ok(by_score(scored, n).into_iter().map(|scored| scored.key).collect())
    }

    /// Every track within a filter, if there are no words to rank by.
    pub(super) fn all(
        &self,
        narrowed: Option<&Narrowed>,
        sounds: &[SoundPreference],
    ) -> Result<Vec<Scored<DocAddress>>, IndexError> {
        let found = match narrowed {
            Some(narrowed) => self.snapshot.searcher.search(&*narrowed.query, &DocSetCollector)?,
            None if sounds.is_empty() => return Ok(Vec::new()),
            None => self.snapshot.searcher.search(&AllQuery, &DocSetCollector)?,
        };
        let columns = self.columns(sounds)?;
        let scored = found.into_iter().map(|key| {
            let fit = sound_fit(sounds, |feature| columns.get(&(key.segment_ord, feature))?.first(key.doc_id));
            let score = if sounds.is_empty() { 1.0 } else { (1.0 + fit) / 2.0 };
            Scored { key, score, similarity: 0.0 }
        });
        Ok(by_score(scored.collect(), usize::MAX))
    }

    fn yardstick(&self, vector: &[f32], is_across: bool) -> Yardstick {
        let sample: Vec<f32> = self.snapshot.sample.iter().map(|other| dot(vector, other)).collect();
        Yardstick::of(&sample, is_across)
    }

    /// The requested features, per segment. They are read without loading the tracks.
    fn columns(&self, preferences: &[SoundPreference]) -> Result<BTreeMap<(u32, Feature), Column<f64>>, IndexError> {
        let mut columns = BTreeMap::new();
        for (segment, reader) in (0..).zip(self.snapshot.searcher.segment_readers()) {
            for feature in preferences.iter().map(|preference| preference.feature()) {
                columns.insert((segment, feature), reader.fast_fields().f64(feature.name())?);
            }
        }
        Ok(columns)
    }

    fn by_meaning(&self, vector: &[f32], narrowed: Option<&Narrowed>, n: usize) -> Result<Similarities, IndexError> {
        let allowed = narrowed.map_or(&self.snapshot.live, |narrowed| &*narrowed.slots);
        let mut found = Similarities::new();
        for near in self.vectors.nearest(vector, n, allowed)? {
            let best = found.entry(self.snapshot.owner(near.slot)).or_insert(near.similarity);
            *best = best.max(near.similarity);
        }
        Ok(found)
    }

    fn by_words(&self, terms: &[QueryTerm], narrowed: Option<&Narrowed>, n: usize) -> Result<WordScores, IndexError> {
        let any = terms.iter().flat_map(|term| term.queries(self.fields));
        let any = BooleanQuery::new(any.map(|query| (Occur::Should, query)).collect());
        let query: Box<dyn Query> = match narrowed {
            None => Box::new(any),
            Some(narrowed) => {
                let silent: Box<dyn Query> = Box::new(ConstScoreQuery::new(narrowed.query.box_clone(), 0.0));
                Box::new(BooleanQuery::new(vec![(Occur::Must, silent), (Occur::Must, Box::new(any))]))
            }
        };
        let found = self.snapshot.searcher.search(&query, &TopDocs::with_limit(n).order_by_score())?;
        Ok(found.into_iter().map(|(score, address)| (address, score)).collect())
    }

    /// Tracks with all these words in their title, artist or album; the shortest names first. In a large library, hundreds of
    /// tracks may have the words of a title scattered over their names and lyrics, often enough for a higher BM25 score.
    fn by_name(&self, terms: &[QueryTerm], narrowed: Option<&Narrowed>) -> Result<BTreeSet<DocAddress>, IndexError> {
        let mut named = BTreeSet::new();
        if terms.is_empty() || terms.len() > MOST_NAME_WORDS {
            return Ok(named);
        }
        for field in [self.fields.title, self.fields.artist, self.fields.album] {
            let all = terms.iter().map(|term| (Occur::Must, counted(Term::from_field_text(field, &term.text))));
            let within = narrowed.map(|narrowed| {
                let silent: Box<dyn Query> = Box::new(ConstScoreQuery::new(narrowed.query.box_clone(), 0.0));
                (Occur::Must, silent)
            });
            let query = BooleanQuery::new(all.chain(within).collect());
            let found = self.snapshot.searcher.search(&query, &TopDocs::with_limit(NAMED).order_by_score())?;
            named.extend(found.into_iter().map(|(_, address)| address));
        }
        Ok(named)
    }

    /// BM25 scores of the candidates that only the vector search found.
    fn add_words(
        &self,
        terms: &[QueryTerm],
        candidates: &BTreeSet<DocAddress>,
        scores: &mut WordScores,
    ) -> Result<(), IndexError> {
        let missing: Vec<DocAddress> = candidates.iter().filter(|key| !scores.contains_key(key)).copied().collect();
        let scoring = EnableScoring::enabled_from_searcher(&self.snapshot.searcher);
        for query in terms.iter().flat_map(|term| term.queries(self.fields)) {
            let weight = query.weight(scoring)?;
            for of_segment in missing.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
                let reader = self.snapshot.searcher.segment_reader(of_segment[0].segment_ord);
                let mut scorer = weight.scorer(reader, 1.0)?;
                for address in of_segment {
                    if scorer.doc() < address.doc_id {
                        scorer.seek(address.doc_id);
                    }
                    if scorer.doc() == address.doc_id {
                        *scores.entry(*address).or_default() += scorer.score();
                    }
                }
            }
        }
        Ok(())
    }

    /// Cosine similarities of the candidates that only the text search found.
    fn add_similarities(
        &self,
        vector: &[f32],
        candidates: &BTreeSet<DocAddress>,
        similarities: &mut Similarities,
    ) -> Result<(), IndexError> {
        for &key in candidates {
            if similarities.contains_key(&key) {
                continue;
            }
            let slots: Vec<_> = self.snapshot.slots(key).collect();
            let near = self.vectors.similarities(vector, &slots)?;
            similarities.insert(key, near.iter().map(|near| near.similarity).fold(0.0, f32::max));
        }
        Ok(())
    }

    fn terms(&self, text: &str) -> Vec<QueryTerm> {
        weighted_terms(text).into_iter().map(|(text, weight)| QueryTerm { text, weight }).collect()
    }
}

type Similarities = BTreeMap<DocAddress, f32>;
type WordScores = BTreeMap<DocAddress, f32>;

struct QueryTerm {
    text: String,
    weight: f32,
}

impl QueryTerm {
    fn queries(&self, fields: &Fields) -> [Box<dyn Query>; 3] {
        [(fields.meaning, 1.0), (fields.names, NAMES_BOOST), (fields.lyrics, LYRICS_BOOST)].map(|(field, boost)| {
            let query = counted(Term::from_field_text(field, &self.text));
            let boosted: Box<dyn Query> = Box::new(BoostQuery::new(query, boost * self.weight));
            boosted
        })
    }
}

fn counted(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

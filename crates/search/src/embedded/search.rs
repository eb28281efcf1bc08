//! Hybrid search over a snapshot: two lists of candidates, all the evidence for each, one order.

use std::collections::{BTreeMap, BTreeSet};

use tantivy::{
    DocAddress, Score, Searcher, Term,
    collector::{DocSetCollector, TopDocs},
    columnar::Column,
    query::{
        BooleanQuery, BoostQuery, ConstScoreQuery, EnableScoring, Occur, Query, RangeQuery, TermQuery, TermSetQuery,
    },
    schema::IndexRecordOption,
};

use query::{
    features::{Feature, FeatureRange, SoundWish, sound_fit, sound_wishes},
    words::{telling_words, words},
};

use super::{
    super::{
        Filter, IndexError, Scope,
        fuse::{Evidence, Ranking, Scored, Yardstick, by_score, dot, places},
        vectors::{Bits, Vectors},
    },
    schema::Fields,
    snapshot::Snapshot,
};

/// Candidates from each side. The tail of a list of 100 still comes from both.
const CANDIDATES: usize = 200;
const NAMES_BOOST: Score = 0.5;
const LYRICS_BOOST: Score = 0.7;
/// A wording the listener did not type counts a little less than the one that was typed.
const REWORDED: f32 = 0.95;

pub(super) struct Search<'a> {
    pub(super) fields: &'a Fields,
    pub(super) snapshot: &'a Snapshot,
    pub(super) vectors: &'a Vectors,
    pub(super) ranking: Ranking,
}

impl Search<'_> {
    /// The best documents for one to three wordings and their vectors.
    pub(super) fn run(
        &self,
        queries: &[(String, Vec<f32>)],
        filter: &Filter,
        scope: &Scope,
        limit: usize,
    ) -> Result<Vec<Scored<DocAddress>>, IndexError> {
        let narrowed = self.within(scope, self.narrow(filter)?)?;
        let mut best: BTreeMap<DocAddress, Scored<DocAddress>> = BTreeMap::new();
        for (at, (text, vector)) in queries.iter().enumerate() {
            let weight = if at == 0 { 1.0 } else { REWORDED };
            for mut scored in self.one(text, vector, &narrowed, limit)? {
                scored.score *= weight;
                let known = best.entry(scored.key).or_insert(scored);
                known.score = known.score.max(scored.score);
                known.similarity = known.similarity.max(scored.similarity);
            }
        }
        let best = best.into_values().collect();
        Ok(match self.ranking {
            Ranking::Hybrid => places(best, limit),
            Ranking::Words | Ranking::Meaning => by_score(best, limit),
        })
    }

    fn one(
        &self,
        text: &str,
        vector: &[f32],
        narrowed: &Option<Narrowed>,
        limit: usize,
    ) -> Result<Vec<Scored<DocAddress>>, IndexError> {
        let n = CANDIDATES.max(2 * limit);
        let terms = self.terms(text);
        let (by_meaning, by_words) =
            rayon::join(|| self.by_meaning(vector, narrowed, n), || self.by_words(&terms, narrowed, n));
        let (mut similarities, mut words) = (by_meaning?, by_words?);
        let candidates: BTreeSet<DocAddress> = similarities.keys().chain(words.keys()).copied().collect();
        self.add_words(&terms, &candidates, &mut words)?;
        self.add_similarities(vector, &candidates, &mut similarities)?;
        let yardstick = self.yardstick(&terms, vector)?;
        let wishes = sound_wishes(text);
        let columns = self.columns(&wishes)?;
        let score = |key: DocAddress| -> Result<Scored<DocAddress>, IndexError> {
            let similarity = similarities.get(&key).copied().unwrap_or_default();
            let sound = sound_fit(&wishes, |feature| columns.get(&(key.segment_ord, feature))?.first(key.doc_id));
            let evidence = Evidence { words: words.get(&key).copied().unwrap_or_default(), similarity, sound };
            let score = match self.ranking {
                Ranking::Hybrid => yardstick.score(&evidence),
                Ranking::Words => evidence.words,
                Ranking::Meaning => evidence.similarity,
            };
            Ok(Scored { key, score, similarity })
        };
        candidates.into_iter().map(score).collect()
    }

    fn yardstick(&self, terms: &[QueryTerm], vector: &[f32]) -> Result<Yardstick, IndexError> {
        let sample: Vec<f32> = self.snapshot.sample.iter().map(|other| dot(vector, other)).collect();
        let mut best_words = 0.0;
        for term in terms {
            best_words += term.count * term.idf(self.fields, &self.snapshot.searcher)? * MOST_PER_WORD;
        }
        Ok(Yardstick::new(best_words, &sample))
    }

    /// The features that were wished for, per segment: read without touching the tracks themselves.
    fn columns(&self, wishes: &[SoundWish]) -> Result<BTreeMap<(u32, Feature), Column<f64>>, IndexError> {
        let mut columns = BTreeMap::new();
        for (segment, reader) in (0..).zip(self.snapshot.searcher.segment_readers()) {
            for feature in wishes.iter().map(|wish| wish.feature()) {
                columns.insert((segment, feature), reader.fast_fields().f64(feature.name())?);
            }
        }
        Ok(columns)
    }

    fn by_meaning(&self, vector: &[f32], narrowed: &Option<Narrowed>, n: usize) -> Result<Similarities, IndexError> {
        let allowed = narrowed.as_ref().map_or(&self.snapshot.live, |narrowed| &narrowed.slots);
        let mut found = Similarities::new();
        for near in self.vectors.nearest(vector, n, allowed)? {
            let best = found.entry(self.snapshot.owner(near.slot)).or_insert(near.similarity);
            *best = best.max(near.similarity);
        }
        Ok(found)
    }

    fn by_words(&self, terms: &[QueryTerm], narrowed: &Option<Narrowed>, n: usize) -> Result<WordScores, IndexError> {
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

    /// BM25 of the candidates that only their meaning brought in.
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

    /// The cosine of the candidates that only their words brought in.
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
        let mut counts: BTreeMap<String, f32> = BTreeMap::new();
        for word in telling_words(text) {
            *counts.entry(word.term).or_default() += 1.0;
        }
        counts.into_iter().map(|(text, count)| QueryTerm { text, count }).collect()
    }

    /// The filter as the text engine and the vectors each understand it; `None` when it lets everything through.
    fn narrow(&self, filter: &Filter) -> Result<Option<Narrowed>, IndexError> {
        let mut parts: Vec<Box<dyn Query>> = filter.features.iter().map(|range| self.range(range)).collect();
        if let Some(isrcs) = &filter.isrcs {
            parts.push(Box::new(TermSetQuery::new(isrcs.iter().map(|isrc| self.fields.isrc_term(isrc)))));
        }
        let texts = [
            (self.fields.artist, &filter.artist),
            (self.fields.title, &filter.title),
            (self.fields.album, &filter.album),
        ];
        for (field, text) in texts {
            for word in words(text.as_deref().unwrap_or_default()) {
                parts.push(plain(Term::from_field_text(field, &word.term)));
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let query = BooleanQuery::intersection(parts);
        let mut slots = Bits::none(self.snapshot.note.n_slots);
        for address in self.snapshot.searcher.search(&query, &DocSetCollector)? {
            self.snapshot.slots(address).for_each(|slot| slots.insert(slot));
        }
        Ok(Some(Narrowed { query: Box::new(query), slots }))
    }

    /// A filter that also keeps to a scope.
    fn within(&self, scope: &Scope, narrowed: Option<Narrowed>) -> Result<Option<Narrowed>, IndexError> {
        let Scope::Marked { any, none } = scope else { return Ok(narrowed) };
        let readers: Box<dyn Query> = Box::new(TermSetQuery::new(any.iter().map(|mark| self.fields.reader_term(mark))));
        let query = BooleanQuery::new(vec![
            (Occur::Must, readers),
            (Occur::MustNot, plain(self.fields.reader_term(none))),
        ]);
        let visible = self.snapshot.in_scope(scope, || {
            let mut slots = Bits::none(self.snapshot.note.n_slots);
            for address in self.snapshot.searcher.search(&query, &DocSetCollector)? {
                self.snapshot.slots(address).for_each(|slot| slots.insert(slot));
            }
            Ok(slots)
        })?;
        Ok(Some(match narrowed {
            None => Narrowed { query: Box::new(query), slots: Bits::clone(&visible) },
            Some(Narrowed { query: filter, mut slots }) => {
                slots.keep(&visible);
                Narrowed { query: Box::new(BooleanQuery::intersection(vec![Box::new(query), filter])), slots }
            }
        }))
    }

    fn range(&self, range: &FeatureRange) -> Box<dyn Query> {
        let term = |value| Term::from_field_f64(self.fields.feature(range.feature), value);
        let min = term(range.min.unwrap_or(f64::MIN));
        let max = term(range.max.unwrap_or(f64::MAX));
        Box::new(RangeQuery::new(std::ops::Bound::Included(min), std::ops::Bound::Included(max)))
    }
}

type Similarities = BTreeMap<DocAddress, f32>;
type WordScores = BTreeMap<DocAddress, f32>;

struct Narrowed {
    query: Box<dyn Query>,
    slots: Bits,
}

/// What BM25 gives a word at most, in units of its rarity (k1 + 1).
const MOST_PER_WORD: f32 = 2.2;

struct QueryTerm {
    text: String,
    count: f32,
}

impl QueryTerm {
    fn queries(&self, fields: &Fields) -> [Box<dyn Query>; 3] {
        [(fields.meaning, 1.0), (fields.names, NAMES_BOOST), (fields.lyrics, LYRICS_BOOST)].map(|(field, boost)| {
            let query = counted(Term::from_field_text(field, &self.text));
            let boosted: Box<dyn Query> = Box::new(BoostQuery::new(query, boost * self.count));
            boosted
        })
    }

    fn idf(&self, fields: &Fields, searcher: &Searcher) -> Result<f32, IndexError> {
        let n_with = searcher.doc_freq(&Term::from_field_text(fields.meaning, &self.text))? as f32;
        let n_all = (searcher.num_docs() as f32).max(n_with);
        Ok((1.0 + (n_all - n_with + 0.5) / (n_with + 0.5)).ln())
    }
}

fn plain(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

fn counted(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

//! The words of a query in one text of a track: their forms, and which of them are together.

use std::collections::HashSet;

use query::words::has_form;

use super::track_words::SharedWord;

/// The letters of other words that may stand between two words that are neighbours.
const BETWEEN: usize = 6;

/// The words of the query in one text of a track.
pub(crate) struct Said<'t> {
    pub(crate) text: &'t str,
    pub(crate) words: Vec<SharedWord>,
}

impl Said<'_> {
    pub(crate) fn has(&self, term: usize) -> bool {
        self.words.iter().any(|word| word.term == term)
    }

    /// Whether the term is there in the form in which the query has it.
    pub(crate) fn has_in_form(&self, term: usize, form: &str) -> bool {
        let is_form = |word: &SharedWord| self.text.get(word.start..word.end).is_some_and(|said| has_form(said, form));
        self.words.iter().any(|word| word.term == term && is_form(word))
    }

    /// The places with all terms in order, each a neighbour of the next.
    pub(crate) fn runs(&self, n_terms: usize) -> impl Iterator<Item = &[SharedWord]> {
        let in_order = move |run: &&[SharedWord]| run.iter().map(|word| word.term).eq(0..n_terms);
        let runs = self.words.windows(n_terms.max(1)).filter(in_order);
        runs.filter(move |run| run.windows(2).all(|pair| self.are_neighbours(pair)))
    }

    pub(crate) fn has_in_order(&self, n_terms: usize) -> bool {
        self.runs(n_terms).next().is_some()
    }

    /// Whether at most a few letters of other words are between two words. Two pairs of characters may overlap.
    fn are_neighbours(&self, pair: &[SharedWord]) -> bool {
        let between = self.text.get(pair[0].end..pair[1].start).unwrap_or_default();
        between.trim().chars().count() <= BETWEEN
    }

    /// The terms that occur together in the lyrics: those in the two neighbouring lines with most of them.
    pub(crate) fn best_place(&self) -> HashSet<usize> {
        const TWO_LINES: usize = 90;
        let mut best = HashSet::new();
        for (at, first) in self.words.iter().enumerate() {
            let near = self.words[at..].iter().take_while(|word| word.end <= first.start + TWO_LINES);
            // Most words have no other near them, which needs no set.
            if near.clone().count() <= best.len() {
                continue;
            }
            let terms: HashSet<usize> = near.map(|word| word.term).collect();
            if terms.len() > best.len() {
                best = terms;
            }
        }
        best
    }

    /// The neighbouring terms of the query, each pair by its first term, that are neighbours here in either order.
    fn pairs(&self) -> impl Iterator<Item = usize> {
        let pairs = self.words.windows(2).filter(|pair| pair[0].term.abs_diff(pair[1].term) == 1);
        pairs.filter(|pair| self.are_neighbours(pair)).map(|pair| pair[0].term.min(pair[1].term))
    }
}

/// The number of neighbouring terms of the query that are neighbours in a text.
pub(crate) fn n_pairs(told: &Said<'_>, sung: &Said<'_>) -> usize {
    let mut pairs: Vec<usize> = told.pairs().chain(sung.pairs()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.len()
}

//! Fusion: computes one score from BM25, vector similarity and sound (decision 005).

use std::collections::HashSet;

use query::MATCHES_FROM;

/// The evidence for a track; each value has its own unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// BM25 score of the query's words.
    pub words: f32,
    /// Cosine similarity of the nearest chunk.
    pub similarity: f32,
    /// How well the sound fits, from -1 to 1.
    pub sound: f32,
}

/// The kind of ranking. Search is always hybrid; the others are baselines for measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    Hybrid,
    Words,
    Meaning,
}

/// The distribution of the similarities of one query: mean and spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yardstick {
    mean: f32,
    spread: f32,
    /// Whether the similarities come from a model that reads sentences.
    reads_prose: bool,
}

/// A similarity is converted to spreads above the mean. One spread has the weight of one unit of BM25, and BM25 is not
/// scaled. A long query with rare words has a high BM25 score, so the words decide; a single common word has a low
/// score, so the meaning decides. Decision 005 compares this with rank fusion and scaled sums.
const PER_SPREAD: f32 = 1.0;
/// Many tracks have the only word of a query, and the similarity tells them apart.
const PER_SPREAD_OF_ONE: f32 = 2.0;
/// A model that reads sentences tells more about a long query than the sum of its words does.
const PER_SPREAD_OF_PROSE: f32 = 1.5;
/// The weight of the sound, in the same unit.
const PER_SOUND: f32 = 1.5;
/// The weight of two neighbouring words of the query that are neighbours in a text of the track too, in the same unit.
pub(crate) const PER_PAIR: f32 = 1.5;

/// The length of the multilingual half of a document's unit vector.
const ACROSS_GREATEST: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Weight of the default distribution, as a number of tracks. It stabilises the estimate for a small library.
const PRIOR_COUNT: f32 = 40.0;
const PRIOR_MEAN: f32 = 0.20;
const PRIOR_SPREAD: f32 = 0.075;

impl Yardstick {
    /// Estimated from the similarities of the query to a sample of all tracks.
    pub fn new(sample: &[f32]) -> Self {
        Self::scaled(sample, 1.0)
    }

    /// For a wording in known words, or (`is_across`) in unknown words, for which only the multilingual half is used.
    pub(crate) fn of(sample: &[f32], is_across: bool) -> Self {
        Self::scaled(sample, if is_across { ACROSS_GREATEST } else { 1.0 })
    }

    /// For similarities whose maximum is not 1.
    fn scaled(sample: &[f32], greatest: f32) -> Self {
        let n = sample.len() as f32;
        let (usual, usual_spread) = (greatest * PRIOR_MEAN, greatest * PRIOR_SPREAD);
        let mean = (sample.iter().sum::<f32>() + PRIOR_COUNT * usual) / (n + PRIOR_COUNT);
        let squares: f32 = sample.iter().map(|x| (x - mean) * (x - mean)).sum();
        let variance = (squares + PRIOR_COUNT * usual_spread * usual_spread) / (n + PRIOR_COUNT);
        Self { mean, spread: variance.sqrt(), reads_prose: false }
    }

    pub(crate) fn reading_prose(self, reads_prose: bool) -> Self {
        Self { reads_prose, ..self }
    }

    /// How many spreads a similarity is above the mean.
    pub fn spreads(&self, similarity: f32) -> f32 {
        (similarity - self.mean) / self.spread
    }

    /// The sum of all evidence in one unit. It orders the candidates of one query with this number of content words.
    pub fn sum(&self, evidence: &Evidence, n_terms: usize) -> f32 {
        let per_spread = match n_terms {
            0 | 1 => PER_SPREAD_OF_ONE,
            LONG_FROM.. if self.reads_prose => PER_SPREAD_OF_PROSE,
            _ => PER_SPREAD,
        };
        evidence.words + per_spread * self.spreads(evidence.similarity) + PER_SOUND * evidence.sound
    }
}

/// The score of a track from its confidence (0 to 1, see `judge.rs`) and its share: the sum of its evidence divided by
/// that of the best candidate. The confidence decides whether a track matches; the share orders tracks with equal
/// confidence.
pub fn score(confidence: f32, sum: f32, best_sum: f32) -> f32 {
    shared_score(confidence, sum, best_sum, BY_SHARE)
}

/// The score of a track for a long message. No track has most of its words, and which of them it has is mostly chance, so
/// that the evidence orders, among the tracks that match and among the others. Beside a track that matches, one with nearly as
/// much evidence matches too. `greatest`: the greatest confidence of all candidates.
pub(crate) fn score_of_long(confidence: f32, greatest: f32, sum: f32, best_sum: f32) -> f32 {
    let shared = greatest.powf(1.0 - OWN_OF_LONG) * confidence.powf(OWN_OF_LONG);
    let shared = shared_score(shared, sum, best_sum, BY_SHARE_OF_LONG);
    let is_near = sum >= NEARLY * best_sum && score(greatest, sum, best_sum) >= MATCHES_FROM;
    let is_match = is_near || score(confidence, sum, best_sum) >= MATCHES_FROM;
    if is_match { shared.max(MATCHES_FROM) } else { MATCHES_FROM * shared.min(1.0 - f32::EPSILON) }
}

fn shared_score(confidence: f32, sum: f32, best_sum: f32, by_share: f32) -> f32 {
    let share = if best_sum > 0.0 { (sum / best_sum).clamp(0.0, 1.0) } else { 0.0 };
    let sure = confidence * (1.0 - by_share + by_share * share);
    (sure + UNSURE * share * (1.0 - confidence)).clamp(0.0, 1.0)
}

/// A message with this number of content words is long.
pub(crate) const LONG_FROM: usize = 5;
const OWN_OF_LONG: f32 = 0.05;
/// The share of the greatest sum from which a track has nearly as much evidence.
const NEARLY: f32 = 0.6;
const BY_SHARE_OF_LONG: f32 = 0.8;
const BY_SHARE: f32 = 0.3;
/// Maximum score of a candidate with a confidence of 0: it orders the nearest tracks and stays below a match.
const UNSURE: f32 = 0.08;

/// From this place on, every third place goes to the unlisted track with the highest similarity. Otherwise hundreds of
/// tracks that contain a common word would hide the tracks that express it in other words.
const PLACES_BY_SCORE: usize = 20;
const BY_MEANING_EVERY: usize = 3;

/// A track with its score and its similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored<K> {
    pub key: K,
    pub score: f32,
    pub similarity: f32,
}

/// Best first by score alone, without tracks that have no score.
pub fn by_score<K: Copy + Ord>(mut scored: Vec<Scored<K>>, limit: usize) -> Vec<Scored<K>> {
    scored.retain(|scored| scored.score > 0.0);
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    scored.truncate(limit);
    scored
}

/// Best first, at most `limit`.
pub fn places<K: Copy + Ord + std::hash::Hash>(mut scored: Vec<Scored<K>>, limit: usize) -> Vec<Scored<K>> {
    let mut by_meaning = scored.clone();
    by_meaning.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.key.cmp(&b.key)));
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    let (mut by_score, mut by_meaning) = (scored.into_iter(), by_meaning.into_iter());
    let mut listed = HashSet::new();
    let mut places = Vec::new();
    while places.len() < limit {
        let meaning_is_next = places.len() >= PLACES_BY_SCORE
            && (places.len() - PLACES_BY_SCORE) % BY_MEANING_EVERY == BY_MEANING_EVERY - 1;
        let mut unlisted = |scored: &Scored<K>| listed.insert(scored.key);
        let next = if meaning_is_next { by_meaning.find(&mut unlisted) } else { by_score.find(&mut unlisted) };
        match next {
            Some(scored) => places.push(scored),
            None => break,
        }
    }
    places
}

/// The cosine of two unit vectors.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0f32; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|lane| lanes[lane] += a[lane] * b[lane]);
    }
    lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_never_scores_less_and_scores_stay_between_0_and_1() {
        let yardstick = Yardstick::new(&[0.05, 0.1, 0.2]);
        let sum = |words, similarity, sound| yardstick.sum(&Evidence { words, similarity, sound }, 3);
        assert!(sum(5.0, 0.3, 1.0) > sum(5.0, 0.3, 0.0));
        assert!(sum(5.0, 0.3, 0.0) > sum(4.0, 0.3, 0.0) && sum(5.0, 0.3, 0.0) > sum(5.0, 0.2, 0.0));
        assert!(yardstick.spreads(0.15).abs() < 1.5, "a usual similarity is not a match");
        let mut last = 0.0;
        for step in 0..=100 {
            let step = step as f32 / 100.0;
            let now = score(step, 12.0 * step, 12.0);
            assert!(now >= last && (0.0..=1.0).contains(&now), "{now} after {last}");
            last = now;
        }
        assert_eq!((score(1.0, 5.0, 5.0), score(0.0, 5.0, 5.0), score(0.5, -1.0, -1.0)), (1.0, 0.08, 0.35));
    }

    #[test]
    fn the_similarity_counts_more_for_one_word_and_for_prose_that_a_model_reads() {
        let gain = |n_terms, reads_prose| {
            let yardstick = Yardstick::new(&[0.05, 0.1, 0.2]).reading_prose(reads_prose);
            let sum = |similarity| yardstick.sum(&Evidence { words: 3.0, similarity, sound: 0.0 }, n_terms);
            sum(0.5) - sum(0.3)
        };
        assert!(gain(1, false) > gain(2, false) && gain(2, false) == gain(LONG_FROM, false));
        assert!(gain(LONG_FROM, true) > gain(LONG_FROM, false));
        assert!(gain(1, true) == gain(1, false) && gain(LONG_FROM - 1, true) == gain(2, false));
    }

    #[test]
    fn the_evidence_orders_the_tracks_of_a_long_message() {
        // The first track has rarer words, the second has more of them by chance.
        let (rare, common) = ((0.3, 30.0), (0.4, 18.0));
        let long = |(confidence, sum)| score_of_long(confidence, 0.4, sum, 30.0);
        assert!(score(rare.0, rare.1, 30.0) < score(common.0, common.1, 30.0) + 0.05);
        assert!(long(rare) > long(common) + 0.05, "{} {}", long(rare), long(common));
        // With little evidence, a track that does not match alone does not match beside one that does.
        for (confidence, sum) in [(0.1, 9.0), (0.1, 15.0), (0.4, 18.0), (0.5, 15.0)] {
            let is_match = score(confidence, sum, 30.0) >= MATCHES_FROM || sum >= 18.0;
            assert_eq!(score_of_long(confidence, 0.9, sum, 30.0) >= MATCHES_FROM, is_match, "{confidence} {sum}");
        }
        assert!(score_of_long(0.1, 0.1, 30.0, 30.0) < MATCHES_FROM, "no candidate matches");
        assert_eq!(score_of_long(1.0, 1.0, 5.0, 5.0), 1.0);
    }

    #[test]
    fn a_long_list_has_places_for_similar_tracks_without_the_words() {
        let scored: Vec<Scored<u32>> = (0..200)
            .map(|key| Scored { key, score: 1.0 - key as f32 / 200.0, similarity: key as f32 / 200.0 })
            .collect();
        let keys = |limit| places(scored.clone(), limit).iter().map(|place| place.key).collect::<Vec<_>>();
        assert_eq!(keys(20), (0..20).collect::<Vec<_>>());
        assert_eq!(keys(24)[20..], [20, 21, 199, 22]);
        assert_eq!(keys(500).len(), 200);
    }
}

//! Fusion: one score from what the words say, what the vectors say and how it sounds (decision 005).

use std::collections::HashSet;

/// What speaks for a track, each side in its own unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// BM25 of the query's words.
    pub words: f32,
    /// Cosine of the nearest chunk.
    pub similarity: f32,
    /// How the sound fits, -1 to 1.
    pub sound: f32,
}

/// By what tracks are ordered. Search is always hybrid; the others are what it is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    Hybrid,
    Words,
    Meaning,
}

/// What the similarities of one query mean: what is usual, and how much it varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yardstick {
    mean: f32,
    spread: f32,
}

/// A similarity counts by how many spreads it lies above the mean, and one spread counts as much as one unit of BM25.
/// BM25 is not scaled: a long query with rare words brings a lot of it and decides by words, a single common word
/// brings little and meaning decides. Measured against rank fusion and scaled sums in decision 005.
const PER_SPREAD: f32 = 1.0;
/// A perfect or an opposite sound moves a track by as much.
const PER_SOUND: f32 = 1.5;

/// What a document's half for other languages has of its length.
const ACROSS_GREATEST: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A few tracks say little about what is usual, so what is usual elsewhere counts as this many more.
const PRIOR_COUNT: f32 = 40.0;
const PRIOR_MEAN: f32 = 0.20;
const PRIOR_SPREAD: f32 = 0.075;

impl Yardstick {
    /// From the query's similarity to a sample of all tracks.
    pub fn new(sample: &[f32]) -> Self {
        Self::scaled(sample, 1.0)
    }

    /// For a wording in words that the library knows, or in others, of which an embedder reads only its half.
    pub(crate) fn of(sample: &[f32], is_across: bool) -> Self {
        Self::scaled(sample, if is_across { ACROSS_GREATEST } else { 1.0 })
    }

    /// For similarities of which 1 is not the greatest.
    fn scaled(sample: &[f32], greatest: f32) -> Self {
        let n = sample.len() as f32;
        let (usual, usual_spread) = (greatest * PRIOR_MEAN, greatest * PRIOR_SPREAD);
        let mean = (sample.iter().sum::<f32>() + PRIOR_COUNT * usual) / (n + PRIOR_COUNT);
        let squares: f32 = sample.iter().map(|x| (x - mean) * (x - mean)).sum();
        let variance = (squares + PRIOR_COUNT * usual_spread * usual_spread) / (n + PRIOR_COUNT);
        Self { mean, spread: variance.sqrt() }
    }

    /// How many spreads a similarity lies above what is usual.
    pub fn spreads(&self, similarity: f32) -> f32 {
        (similarity - self.mean) / self.spread
    }

    /// All evidence in one unit; it orders the candidates of one query.
    pub fn sum(&self, evidence: &Evidence) -> f32 {
        evidence.words + PER_SPREAD * self.spreads(evidence.similarity) + PER_SOUND * evidence.sound
    }
}

/// The score of a track from how sure it is that it answers the query (0 to 1) and its place among the candidates: the
/// sum of its evidence as a share of the best one's. What is sure decides whether a track matches, the share orders
/// those that are equally sure.
pub fn score(confidence: f32, sum: f32, best_sum: f32) -> f32 {
    let share = if best_sum > 0.0 { (sum / best_sum).clamp(0.0, 1.0) } else { 0.0 };
    let sure = confidence * (1.0 - BY_SHARE + BY_SHARE * share);
    (sure + UNSURE * share * (1.0 - confidence)).clamp(0.0, 1.0)
}

const BY_SHARE: f32 = 0.5;
/// What the best candidate gets of which nothing is sure: enough to order what is nearest, and no match.
const UNSURE: f32 = 0.08;

/// From this place on, every third place belongs to the track nearest in meaning that is not listed yet: a common
/// word has hundreds of tracks that contain it, and those that mean it in other words would never be seen.
const PLACES_BY_SCORE: usize = 20;
const BY_MEANING_EVERY: usize = 3;

/// A track with its score and its similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored<K> {
    pub key: K,
    pub score: f32,
    pub similarity: f32,
}

/// Best first by score alone, without those that have none.
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
        let sum = |words, similarity, sound| yardstick.sum(&Evidence { words, similarity, sound });
        assert!(sum(5.0, 0.3, 1.0) > sum(5.0, 0.3, 0.0));
        assert!(sum(5.0, 0.3, 0.0) > sum(4.0, 0.3, 0.0) && sum(5.0, 0.3, 0.0) > sum(5.0, 0.2, 0.0));
        assert!(yardstick.spreads(0.15).abs() < 1.5, "what is usual is no match");
        let mut last = 0.0;
        for step in 0..=100 {
            let step = step as f32 / 100.0;
            let now = score(step, 12.0 * step, 12.0);
            assert!(now >= last && (0.0..=1.0).contains(&now), "{now} after {last}");
            last = now;
        }
        assert_eq!((score(1.0, 5.0, 5.0), score(0.0, 5.0, 5.0), score(0.5, -1.0, -1.0)), (1.0, 0.08, 0.25));
    }

    #[test]
    fn a_long_list_keeps_places_for_what_is_near_in_meaning() {
        let scored: Vec<Scored<u32>> = (0..200)
            .map(|key| Scored { key, score: 1.0 - key as f32 / 200.0, similarity: key as f32 / 200.0 })
            .collect();
        let keys = |limit| places(scored.clone(), limit).iter().map(|place| place.key).collect::<Vec<_>>();
        assert_eq!(keys(20), (0..20).collect::<Vec<_>>());
        assert_eq!(keys(24)[20..], [20, 21, 199, 22]);
        assert_eq!(keys(500).len(), 200);
    }
}

//! The ranker: orders the tracks that match, and those that do not, by their scores and the signals of what the message and the
//! track have in common. `make train-ranker` fits its weights and writes `assets/ranker.txt`.
//!
//! No weight is negative, so that every signal says what its name says. Without weights, the order is that of the scores. A track whose
//! whole name is the message stays first: no sum of signals is a better answer.

use std::sync::LazyLock;

use query::MATCHES_FROM;

use super::{
    fuse::{LONG_FROM, Scored},
    signals::{N_SIGNALS, Signals},
};

/// Messages have weights of their own by their number of content words.
pub const CLASSES: [&str; 3] = ["one word", "a few words", "a long message"];

/// The class of a message with this number of content words.
pub fn class_of(n_terms: usize) -> usize {
    match n_terms {
        0 | 1 => 0,
        LONG_FROM.. => 2,
        _ => 1,
    }
}

/// A candidate with what the ranker knows of it.
#[derive(Clone, Copy)]
pub(crate) struct Ranked<K> {
    pub(crate) scored: Scored<K>,
    /// Whether the message is a whole name of the track.
    pub(crate) is_name: bool,
    pub(crate) signals: Signals,
}

/// The weight of each signal. The unit is the best score of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights(pub [f32; N_SIGNALS]);

impl Weights {
    pub(crate) fn of(n_terms: usize) -> &'static Self {
        static FITTED: LazyLock<[Weights; CLASSES.len()]> =
            LazyLock::new(|| read(include_str!("../assets/ranker.txt")));
        &FITTED[class_of(n_terms)]
    }

    /// What each signal adds to the value of a track.
    pub fn parts(&self, signals: &Signals) -> [f32; N_SIGNALS] {
        let mut parts = signals.values();
        parts.iter_mut().zip(self.0).for_each(|(part, weight)| *part *= weight);
        parts
    }

    /// The value that orders the tracks of a search, whose greatest score is `best`.
    pub fn value(&self, score: f32, best: f32, signals: &Signals) -> f32 {
        let share = if best > 0.0 { score / best } else { 0.0 };
        share + self.parts(signals).iter().sum::<f32>()
    }

    /// The signals that moved a track up, the strongest first, with what they added.
    pub(crate) fn told(&self, signals: &Signals) -> Vec<String> {
        const LEAST: f32 = 0.005;
        let mut told: Vec<(f32, &str)> = self.parts(signals).into_iter().zip(Signals::NAMES).collect();
        told.retain(|(part, _)| *part >= LEAST);
        told.sort_by(|a, b| b.0.total_cmp(&a.0));
        told.into_iter().map(|(part, name)| format!("{name} (+{part:.2})")).collect()
    }
}

/// One line for each signal: its name and its weight in each class. A line that begins with `#` is a comment.
pub fn read(file: &str) -> [Weights; CLASSES.len()] {
    let mut weights = [Weights::default(); CLASSES.len()];
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let name = cells.next().unwrap_or_default();
        let Some(signal) = Signals::NAMES.iter().position(|known| *known == name) else { continue };
        for (of_class, cell) in weights.iter_mut().zip(cells) {
            of_class.0[signal] = cell.parse().unwrap_or_default();
        }
    }
    weights
}

/// Orders candidates anew. The scores of the places stay, so that the same number of tracks match, the same tracks match, and the
/// best score still says whether anything fits.
pub(crate) fn reorder<K: Ord>(candidates: &mut [Ranked<K>], weights: &Weights) {
    candidates.sort_by(|a, b| b.scored.score.total_cmp(&a.scored.score).then_with(|| a.scored.key.cmp(&b.scored.key)));
    let scores: Vec<f32> = candidates.iter().map(|candidate| candidate.scored.score).collect();
    let best = scores.first().copied().unwrap_or_default();
    let value = |one: &Ranked<K>| weights.value(one.scored.score, best, &one.signals);
    let n_matches = scores.iter().filter(|score| **score >= MATCHES_FROM).count();
    let (matches, others) = candidates.split_at_mut(n_matches);
    for group in [matches, others] {
        group.sort_by(|a, b| b.is_name.cmp(&a.is_name).then_with(|| value(b).total_cmp(&value(a))));
    }
    candidates.iter_mut().zip(scores).for_each(|(candidate, score)| candidate.scored.score = score);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(key: u32, score: f32, ends: f32) -> Ranked<u32> {
        let scored = Scored { key, score, similarity: 0.0 };
        Ranked { scored, is_name: false, signals: Signals { ends, ..Signals::default() } }
    }

    fn listed(candidates: &[Ranked<u32>]) -> Vec<(u32, f32)> {
        candidates.iter().map(|one| (one.scored.key, one.scored.score)).collect()
    }

    /// Only the first signal counts.
    fn only_the_end(weight: f32) -> Weights {
        let mut weights = Weights::default();
        weights.0[0] = weight;
        weights
    }

    #[test]
    fn a_signal_moves_a_track_up_among_the_matches_and_the_scores_of_the_places_stay() {
        let mut candidates = [candidate(1, 0.8, 0.0), candidate(2, 0.7, 1.0), candidate(3, 0.2, 1.0)];
        reorder(&mut candidates, &Weights::default());
        assert_eq!(listed(&candidates), [(1, 0.8), (2, 0.7), (3, 0.2)], "without weights the scores order");
        let weights = only_the_end(2.0);
        reorder(&mut candidates, &weights);
        assert_eq!(listed(&candidates), [(2, 0.8), (1, 0.7), (3, 0.2)], "what does not match stays behind");
        assert_eq!(weights.told(&candidates[0].signals), ["words end a phrase (+2.00)"]);
        assert!(weights.told(&candidates[1].signals).is_empty());
    }

    #[test]
    fn a_track_whose_whole_name_is_the_message_stays_first() {
        let named = Ranked { is_name: true, ..candidate(1, 0.6, 0.0) };
        let mut candidates = [candidate(2, 0.7, 1.0), named, candidate(3, 0.5, 1.0)];
        reorder(&mut candidates, &only_the_end(5.0));
        assert_eq!(listed(&candidates), [(1, 0.7), (2, 0.6), (3, 0.5)]);
    }

    #[test]
    fn the_fitted_weights_are_complete_and_not_negative() {
        let file = include_str!("../assets/ranker.txt");
        let names: Vec<&str> =
            file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(names, Signals::NAMES);
        let weights = read(file);
        assert!(weights.iter().flat_map(|of_class| of_class.0).all(|weight| (0.0..=1.0).contains(&weight)));
        assert!(weights[..2].iter().all(|of_class| *of_class != Weights::default()), "short messages were fitted");
    }
}

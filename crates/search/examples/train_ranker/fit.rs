//! Fits the weights of the ranker by LambdaRank: of each relevant track and each other one, the first should have the greater value,
//! and a pair counts as much as changing its places would change nDCG@10.
//!
//! The weights start at 0, which is the order by score, a small ridge pulls them back to it, and none becomes negative.

use search::{
    ranker::{CLASSES, Weights},
    signals::{N_SIGNALS, Signals},
};

/// One search with its judgements.
pub(crate) struct Listed {
    /// What is left out together: a query, or a conversation.
    pub(crate) group: String,
    pub(crate) class: usize,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) n_relevant: usize,
}

pub(crate) struct Candidate {
    /// Before the ranker.
    pub(crate) score: f32,
    pub(crate) signals: Signals,
    pub(crate) is_relevant: bool,
}

impl Candidate {
    fn is_match(&self) -> bool {
        self.score >= query::MATCHES_FROM
    }
}

pub(crate) type Ranker = [Weights; CLASSES.len()];

const PLACES: usize = 10;
/// The length of the first step; each is a little shorter than the one before.
const FIRST_STEP: f64 = 0.05;
const SHORTER: f64 = 0.95;
const N_STEPS: i32 = 100;
/// The difference of two values that decides a pair for the most part.
const SOFTNESS: f64 = 0.05;
const RIDGE: f64 = 0.2;
/// A signal counts at most as much as the best score.
const MOST: f64 = 1.0;

impl Listed {
    fn best_score(&self) -> f32 {
        self.candidates.iter().map(|candidate| candidate.score).fold(0.0, f32::max)
    }

    fn values(&self, weights: &Weights) -> Vec<f32> {
        let best = self.best_score();
        self.candidates.iter().map(|one| weights.value(one.score, best, &one.signals)).collect()
    }

    /// The candidates as the ranker orders them, by their positions.
    fn order(&self, values: &[f32]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by(|a, b| {
            let [one, other] = [*a, *b].map(|at| &self.candidates[at]);
            let by_value = || values[*b].total_cmp(&values[*a]).then(other.score.total_cmp(&one.score));
            other.is_match().cmp(&one.is_match()).then_with(by_value)
        });
        order
    }

    /// Whether each place has a relevant track.
    pub(crate) fn judged(&self, ranker: &Ranker) -> Vec<bool> {
        let values = self.values(&ranker[self.class]);
        self.order(&values).into_iter().map(|at| self.candidates[at].is_relevant).collect()
    }

    /// Adds how much greater weights would improve this list.
    fn add_slope(&self, weights: &Weights, slope: &mut [f64; N_SIGNALS]) {
        let values = self.values(weights);
        let order = self.order(&values);
        let ideal: f64 = (0..self.n_relevant.min(PLACES)).map(discount).sum();
        for (place, at) in order.iter().enumerate() {
            // A pair of places beyond the tenth changes nothing.
            for (other_place, other_at) in order.iter().enumerate().skip(place + 1).filter(|_| place < PLACES) {
                let (one, other) = (&self.candidates[*at], &self.candidates[*other_at]);
                let is_apart = one.is_relevant != other.is_relevant && one.signals != other.signals;
                if !is_apart || one.is_match() != other.is_match() {
                    continue;
                }
                let sign = if one.is_relevant { 1.0 } else { -1.0 };
                let ahead = sign * f64::from(values[*at] - values[*other_at]);
                let gain = (discount(place) - discount(other_place)) / ideal;
                let push = sign * gain / (1.0 + (ahead / SOFTNESS).exp()) / SOFTNESS;
                let pairs = one.signals.values().into_iter().zip(other.signals.values());
                for (slope, (a, b)) in slope.iter_mut().zip(pairs) {
                    *slope += push * f64::from(a - b);
                }
            }
        }
    }
}

fn discount(place: usize) -> f64 {
    if place < PLACES { 1.0 / ((place + 2) as f64).log2() } else { 0.0 }
}

pub(crate) fn fit(lists: &[&Listed]) -> Ranker {
    [0, 1, 2].map(|class| fit_class(&lists.iter().copied().filter(|list| list.class == class).collect::<Vec<_>>()))
}

fn fit_class(lists: &[&Listed]) -> Weights {
    let mut fitted = [0.0f64; N_SIGNALS];
    for n_step in 0..N_STEPS {
        let weights = rounded(&fitted);
        let mut slope = [0.0; N_SIGNALS];
        lists.iter().for_each(|list| list.add_slope(&weights, &mut slope));
        for (slope, weight) in slope.iter_mut().zip(fitted) {
            *slope = *slope / lists.len().max(1) as f64 - RIDGE * weight;
            // A weight of 0 does not become negative.
            *slope = if weight > 0.0 { *slope } else { slope.max(0.0) };
        }
        let steepness = slope.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
        let step = FIRST_STEP * SHORTER.powi(n_step) / steepness.max(f64::EPSILON);
        for (weight, slope) in fitted.iter_mut().zip(slope) {
            *weight = (*weight + step * slope).clamp(0.0, MOST);
        }
    }
    rounded(&fitted)
}

fn rounded(fitted: &[f64; N_SIGNALS]) -> Weights {
    Weights(fitted.map(|weight| weight as f32))
}

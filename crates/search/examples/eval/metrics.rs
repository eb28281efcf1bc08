//! Measures of a ranking, and a test whether the difference of two rankings is significant.

use std::{collections::HashSet, fmt};

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    Ndcg10,
    Mrr10,
    Recall100,
}

impl Measure {
    pub(crate) const ALL: [Self; 3] = [Self::Ndcg10, Self::Mrr10, Self::Recall100];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ndcg10 => "nDCG@10",
            Self::Mrr10 => "MRR@10",
            Self::Recall100 => "R@100",
        }
    }

    pub(crate) fn of(self, ranking: &[String], relevant: &HashSet<String>) -> f64 {
        let hits = |n: usize| {
            ranking.iter().take(n).enumerate().filter(|(_, id)| relevant.contains(*id)).map(|(place, _)| place)
        };
        let discount = |place: usize| 1.0 / ((place + 2) as f64).log2();
        match self {
            Self::Ndcg10 => {
                // The sum of no floats is -0.0.
                (0.0 + hits(10).map(discount).sum::<f64>()) / (0..relevant.len().min(10)).map(discount).sum::<f64>()
            }
            Self::Mrr10 => hits(10).next().map_or(0.0, |place| 1.0 / (place + 1) as f64),
            Self::Recall100 => hits(100).count() as f64 / relevant.len() as f64,
        }
    }
}

/// The share of pairs in which the relevant item has the higher score (area under the ROC curve).
pub(crate) fn roc_area(high: impl Iterator<Item = f32>, low: impl Iterator<Item = f32>) -> f64 {
    let (high, low): (Vec<f32>, Vec<f32>) = (high.collect(), low.collect());
    let won = |a: &f32| {
        low.iter()
            .map(|b| {
                if a > b {
                    1.0
                } else if a == b {
                    0.5
                } else {
                    0.0
                }
            })
            .sum::<f64>()
    };
    high.iter().map(won).sum::<f64>() / (high.len() * low.len()) as f64
}

/// The mean difference per query, its 95 % interval, and the share of bootstrap samples with the opposite sign.
pub(crate) struct Bootstrap {
    difference: f64,
    low: f64,
    high: f64,
    turned: f64,
}

pub(crate) fn paired_bootstrap(ours: &[f64], theirs: &[f64]) -> Bootstrap {
    const ROUNDS: usize = 10_000;
    let differences: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
    let n = differences.len();
    let mut state = 42u64;
    let mut pick = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut means: Vec<f64> =
        (0..ROUNDS).map(|_| (0..n).map(|_| differences[pick()]).sum::<f64>() / n as f64).collect();
    means.sort_by(f64::total_cmp);
    Bootstrap {
        difference: differences.iter().sum::<f64>() / n as f64,
        low: means[ROUNDS / 40],
        high: means[ROUNDS - ROUNDS / 40 - 1],
        turned: means.iter().filter(|mean| **mean < 0.0).count() as f64 / ROUNDS as f64,
    }
}

impl fmt::Display for Bootstrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+.4} [{:+.4}, {:+.4}] P(worse) {:.3}", self.difference, self.low, self.high, self.turned)
    }
}

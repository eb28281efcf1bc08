//! How sets of searches are ranked by weights that have not seen them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    fit::{Listed, Ranker, fit},
    metrics::paired_bootstrap,
};

pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) by: By,
    /// Whether the weights are fitted to it.
    pub(crate) is_seen: bool,
    pub(crate) lists: Vec<Listed>,
}

/// The measure of a set, of the first ten places.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Ndcg,
    Mrr,
    Hit,
}

impl By {
    fn of(self, list: &Listed, ranker: &Ranker) -> f64 {
        let judged = list.judged(ranker);
        let discount = |place: usize| 1.0 / ((place + 2) as f64).log2();
        let mut places = judged.iter().take(10).enumerate().filter(|(_, is_relevant)| **is_relevant).map(|(at, _)| at);
        match self {
            Self::Ndcg => places.map(discount).sum::<f64>() / (0..list.n_relevant.min(10)).map(discount).sum::<f64>(),
            Self::Mrr => places.next().map_or(0.0, |place| 1.0 / (place + 1) as f64),
            Self::Hit => f64::from(u8::from(places.next().is_some())),
        }
    }
}

/// For each group of searches, the weights that have not seen it.
pub(crate) struct Folds {
    rankers: Vec<Ranker>,
    fold_of: BTreeMap<String, usize>,
}

const N_FOLDS: usize = 5;

impl Folds {
    pub(crate) fn fitted(lists: &[&Listed]) -> Self {
        let groups: BTreeSet<&String> = lists.iter().map(|list| &list.group).collect();
        let fold_of: BTreeMap<String, usize> =
            groups.into_iter().enumerate().map(|(at, group)| (group.clone(), at % N_FOLDS)).collect();
        let without = |fold: usize| -> Ranker {
            let others: Vec<&Listed> = lists.iter().copied().filter(|list| fold_of[&list.group] != fold).collect();
            fit(&others)
        };
        Self { rankers: (0..N_FOLDS).map(without).collect(), fold_of }
    }

    /// The weights for a search of a set that was never used are those of all sets.
    fn unseen<'r>(&'r self, list: &Listed, all: &'r Ranker) -> &'r Ranker {
        self.fold_of.get(&list.group).map_or(all, |fold| &self.rankers[*fold])
    }
}

pub(crate) fn print(embedder: &str, sets: &[Set], folds: &Folds, all: &Ranker) {
    for set in sets {
        let measured = |ranker: &dyn Fn(&Listed) -> Ranker| {
            let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for list in &set.lists {
                groups.entry(&list.group).or_default().push(set.by.of(list, &ranker(list)));
            }
            groups.values().map(|values| values.iter().sum::<f64>() / values.len() as f64).collect::<Vec<f64>>()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let score = measured(&|_| Ranker::default());
        let unseen = measured(&|list| *folds.unseen(list, all));
        let (before, after) = (mean(&score), mean(&unseen));
        let difference = paired_bootstrap(&unseen, &score);
        println!("{embedder:<8} {:<18} score {before:.4}, ranker {after:.4}: {difference}", set.name);
    }
    for (at, ranker) in folds.rankers.iter().enumerate() {
        let weights = ranker.map(|weights| weights.0.map(|weight| format!("{weight:.2}")).join(" "));
        println!("{embedder:<8} weights without fold {at}: {}", weights.join(" · "));
    }
}

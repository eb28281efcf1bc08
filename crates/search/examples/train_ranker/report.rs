//! How sets of searches are ranked by weights that have not seen them.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::{
    fit::{Listed, Ranker, Set, fit},
    metrics::paired_bootstrap,
};

/// For each group of searches, the weights that have not seen it.
pub(crate) struct Folds {
    rankers: Vec<Ranker>,
    fold_of: BTreeMap<String, usize>,
}

const N_FOLDS: usize = 5;

impl Folds {
    pub(crate) fn fitted(sets: &[Set]) -> Self {
        let groups: BTreeSet<&String> = sets.iter().flat_map(|set| &set.lists).map(|list| &list.group).collect();
        let fold_of: BTreeMap<String, usize> =
            groups.into_iter().enumerate().map(|(at, group)| (group.clone(), at % N_FOLDS)).collect();
        let without = |fold: usize| fit(sets, &|group| fold_of.get(group) != Some(&fold));
        let rankers = (0..N_FOLDS).into_par_iter().map(without).collect();
        Self { rankers, fold_of }
    }

    fn unseen(&self, list: &Listed) -> &Ranker {
        &self.rankers[self.fold_of[&list.group]]
    }
}

pub(crate) fn print(sets: &[Set], folds: &Folds, all: &Ranker) {
    for set in sets {
        let measured = |ranker: &dyn Fn(&Listed) -> Ranker| {
            let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for list in &set.lists {
                let weights = &ranker(list)[list.class];
                groups.entry(&list.group).or_default().push(list.measure(set.by, weights));
            }
            groups.values().map(|values| mean(values)).collect::<Vec<f64>>()
        };
        let score = measured(&|_| Ranker::default());
        let unseen = measured(&|list| *folds.unseen(list));
        let adopted = mean(&measured(&|_| *all));
        let (before, after, difference) = (mean(&score), mean(&unseen), paired_bootstrap(&unseen, &score));
        println!(
            "{:<8} {:<18} score {before:.4}, weights of other folds {after:.4}: {difference}; adopted weights {adopted:.4}",
            set.embedder, set.name
        );
    }
    for (at, ranker) in folds.rankers.iter().enumerate() {
        let weights = ranker.map(|weights| weights.0.map(|weight| format!("{weight:.2}")).join(" "));
        println!("weights without fold {at}: {}", weights.join(" · "));
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

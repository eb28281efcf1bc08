//! Fits the weights of the ranker by coordinate ascent on the measures themselves: one weight after another gets the value of a grid with the
//! greatest gain over the order by score, until none gains any more.
//!
//! Every set counts the same, whatever its size, and a loss of a set counts several times as much as a gain. The weights start at 0, which is the
//! order by score, and no value of the grid is negative.

use std::collections::{BTreeMap, BTreeSet};

use search::{
    embedded::Signalled,
    ranker::{CLASSES, Weights, class_of},
    signals::{N_SIGNALS, Signals},
};

/// The searches of one set with one embedder.
pub(crate) struct Set {
    pub(crate) embedder: &'static str,
    pub(crate) name: &'static str,
    pub(crate) by: By,
    pub(crate) lists: Vec<Listed>,
}

/// One search with its judgements.
pub(crate) struct Listed {
    /// What is left out together: a query, or a conversation.
    pub(crate) group: String,
    pub(crate) class: usize,
    pub(crate) n_relevant: usize,
    /// The highest score first.
    candidates: Vec<Candidate>,
}

struct Candidate {
    /// The value without signals.
    value: f32,
    signals: Signals,
    is_relevant: bool,
}

/// The measure of a set, of the first ten places.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Ndcg,
    Mrr,
    Hit,
}

pub(crate) type Ranker = [Weights; CLASSES.len()];

const PLACES: usize = 10;
/// The values that a weight may have; the unit is the best score of a search.
const GRID: [f32; 10] = [0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8];
/// How much more a loss counts than a gain.
const LOSS: f64 = 3.0;
/// A weight moves only for a greater gain, summed over the sets: a smaller one is chance.
const LEAST_GAIN: f64 = 0.002;
const MOST_ROUNDS: usize = 6;

/// More than all signals together: a match is before the others, and a track whose whole name is the message before other matches.
const TIER: f32 = 100.0;

impl Listed {
    pub(crate) fn new(
        group: &str,
        found: &[Signalled],
        is_relevant: impl Fn(&music::Isrc) -> bool,
        n_relevant: usize,
    ) -> Self {
        let best = found.iter().map(|one| one.score).fold(0.0, f32::max);
        let candidate = |one: &Signalled| {
            let tier = 2 * u8::from(one.score >= query::MATCHES_FROM) + u8::from(one.is_name);
            let value = TIER * f32::from(tier) + Weights::default().value(one.score, best, &one.signals);
            Candidate { value, signals: one.signals, is_relevant: is_relevant(&one.isrc) }
        };
        let mut candidates: Vec<Candidate> = found.iter().map(candidate).collect();
        candidates.sort_by(|a, b| b.value.total_cmp(&a.value));
        let class = class_of(found.first().map_or(0, |one| one.n_terms));
        Self { group: group.to_owned(), class, n_relevant, candidates }
    }

    /// The measure of the first places in the order of these weights.
    pub(crate) fn measure(&self, by: By, weights: &Weights) -> f64 {
        let mut first: [(f32, bool); PLACES] = [(f32::NEG_INFINITY, false); PLACES];
        for one in &self.candidates {
            let value = one.value + weights.parts(&one.signals).iter().sum::<f32>();
            if value > first[PLACES - 1].0 {
                let place = first.iter().position(|other| value > other.0).unwrap_or(PLACES - 1);
                first[place..].rotate_right(1);
                first[place] = (value, one.is_relevant);
            }
        }
        let places = first.iter().enumerate().filter(|(_, (_, is_relevant))| *is_relevant).map(|(at, _)| at);
        by.of(places, self.n_relevant)
    }
}

impl By {
    fn of(self, mut relevant_places: impl Iterator<Item = usize>, n_relevant: usize) -> f64 {
        let discount = |place: usize| 1.0 / ((place + 2) as f64).log2();
        match self {
            Self::Ndcg => {
                let ideal: f64 = (0..n_relevant.min(PLACES)).map(discount).sum();
                if ideal > 0.0 { (0.0 + relevant_places.map(discount).sum::<f64>()) / ideal } else { 0.0 }
            }
            Self::Mrr => relevant_places.next().map_or(0.0, |place| 1.0 / (place + 1) as f64),
            Self::Hit => f64::from(u8::from(relevant_places.next().is_some())),
        }
    }
}

/// The lists of one class in one set, with what each counts and its measure by score alone.
struct Part<'s> {
    by: By,
    lists: Vec<(&'s Listed, f64, f64)>,
}

/// The weights for the searches in these groups.
pub(crate) fn fit(sets: &[Set], is_in: &dyn Fn(&str) -> bool) -> Ranker {
    [0, 1, 2].map(|class| fit_class(&sets.iter().map(|set| Part::of(set, class, is_in)).collect::<Vec<_>>()))
}

impl<'s> Part<'s> {
    /// A query, or a conversation, counts once.
    fn of(set: &'s Set, class: usize, is_in: &dyn Fn(&str) -> bool) -> Self {
        let lists: Vec<&Listed> = set.lists.iter().filter(|list| is_in(&list.group)).collect();
        let mut sizes: BTreeMap<&str, f64> = BTreeMap::new();
        lists.iter().for_each(|list| *sizes.entry(&list.group).or_default() += 1.0);
        let n_groups = lists.iter().map(|list| &list.group).collect::<BTreeSet<_>>().len() as f64;
        let of_class = lists.iter().filter(|list| list.class == class);
        let part = |list: &&'s Listed| {
            (*list, 1.0 / (n_groups * sizes[list.group.as_str()]), list.measure(set.by, &Weights::default()))
        };
        Self { by: set.by, lists: of_class.map(part).collect() }
    }

    fn gain(&self, weights: &Weights) -> f64 {
        let gain = |(list, counts, before): &(&Listed, f64, f64)| counts * (list.measure(self.by, weights) - before);
        let gain: f64 = self.lists.iter().map(gain).sum();
        if gain < 0.0 { LOSS * gain } else { gain }
    }
}

fn fit_class(parts: &[Part<'_>]) -> Weights {
    let gain = |weights: &Weights| parts.iter().map(|part| part.gain(weights)).sum::<f64>();
    let (mut fitted, mut best) = (Weights::default(), 0.0);
    for _ in 0..MOST_ROUNDS {
        let before = fitted;
        for signal in 0..N_SIGNALS {
            for value in GRID {
                let mut tried = fitted;
                tried.0[signal] = value;
                let gained = gain(&tried);
                if gained > best + LEAST_GAIN {
                    (fitted, best) = (tried, gained);
                }
            }
        }
        if fitted == before {
            break;
        }
    }
    fitted
}

//! Converts candidates to hits, for both engines: judges the best candidates, merges the wordings, and applies the limits
//! of the whole list.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    Filter, Hit, SearchPlan, SearchResults,
    embed::Votes,
    fuse::{Evidence, LONG_FROM, PER_PAIR, Scored, Yardstick, places, score, score_of_long},
    judge::Judge,
    ranker::{Ranked, Weights, reorder},
    read_track::ReadTrack,
    signals::Signals,
};
use music::Track;

/// The weight of a wording that the user did not type.
const REWORDED: f32 = 0.95;

/// Candidates by each kind of name. An album has about this many tracks.
pub(crate) const NAMED: usize = 30;
/// A query with more words is not a name.
pub(crate) const MOST_NAME_WORDS: usize = 8;

/// The candidates of one wording.
pub(crate) struct Candidates<K> {
    pub(crate) judge: Judge,
    pub(crate) yardstick: Yardstick,
    /// The highest sum of evidence first.
    ranked: Vec<(K, Evidence, f32)>,
    /// Candidates that are judged whatever their sum: one of their names contains all words of the query.
    named: BTreeSet<K>,
}

/// A candidate after its words were compared with the query.
struct Judged<'c, K> {
    key: &'c K,
    similarity: f32,
    sum: f32,
    confidence: f32,
    /// The confidence that decides whether anything matches.
    eased: f32,
    is_name: bool,
    signals: Signals,
}

/// The number of candidates to judge for this number of results.
pub(crate) fn n_judged(limit: usize) -> usize {
    const LEAST: usize = 80;
    (limit + limit / 2).max(LEAST)
}

impl<K: Ord + Clone> Candidates<K> {
    /// `is_across`: the wording is in words that the library does not know, and the similarities come from an embedder
    /// that supports its language. `votes`: what the embedder says about the wording.
    pub(crate) fn new(
        (text, is_across, votes): (&str, bool, Votes),
        yardstick: Yardstick,
        evidence: impl IntoIterator<Item = (K, Evidence)>,
    ) -> Self {
        let judge = Judge::new(text, is_across, votes);
        let n_terms = judge.n_terms();
        let with_sum = evidence.into_iter().map(|(key, evidence)| (key, evidence, yardstick.sum(&evidence, n_terms)));
        let mut ranked: Vec<_> = with_sum.collect();
        ranked.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        Self { judge, yardstick, ranked, named: BTreeSet::new() }
    }

    pub(crate) fn with_named(self, named: BTreeSet<K>) -> Self {
        Self { named, ..self }
    }

    /// What another wording of a message is worth: less if the message is about daily life and the wording does not show it.
    fn trust_beside(&self, message: &Self) -> f32 {
        (message.judge.trust() / self.judge.trust()).min(1.0)
    }

    /// The candidates to judge.
    pub(crate) fn best(&self, limit: usize) -> impl Iterator<Item = &K> {
        self.judged(limit).map(|(key, ..)| key)
    }

    fn judged(&self, limit: usize) -> impl Iterator<Item = &(K, Evidence, f32)> {
        let is_judged = move |at: usize, key: &K| at < n_judged(limit) || self.named.contains(key);
        self.ranked.iter().enumerate().filter(move |(at, (key, ..))| is_judged(*at, key)).map(|(_, one)| one)
    }

    /// The judged candidates with the scores of their places in the order of the ranker.
    fn in_order<'c>(
        &'c self,
        tracks: &'c BTreeMap<K, Arc<ReadTrack>>,
        plan: &SearchPlan,
        is_typed: bool,
    ) -> Vec<Ranked<&'c K>> {
        let mut ranked = self.scored(tracks, plan, is_typed);
        let weights = Weights::of(self.judge.n_terms());
        if !plan.by_score {
            reorder(&mut ranked, weights);
        }
        ranked
    }

    /// The judged candidates with their scores and with the signals of the ranker.
    pub(crate) fn scored<'c>(
        &'c self,
        tracks: &'c BTreeMap<K, Arc<ReadTrack>>,
        plan: &SearchPlan,
        is_typed: bool,
    ) -> Vec<Ranked<&'c K>> {
        let judge = |one: &'c (K, Evidence, f32)| {
            let read = tracks.get(&one.0)?;
            let judged = self.judge_one(one, read, is_typed);
            Some(Judged { signals: judged.signals.tasted(&plan.taste, &read.track.artist), ..judged })
        };
        let judged: Vec<Judged<'c, K>> = self.judged(plan.limit).filter_map(judge).collect();
        let most = |of: fn(&Judged<K>) -> f32| judged.iter().map(of).fold(0.0, f32::max);
        let best_sum = most(|judged| judged.sum);
        // All are lifted alike, so that the order stays and only what is nearly as good as the best matches beside it.
        let (greatest, plain) = (most(|judged| judged.eased), most(|judged| judged.confidence));
        let lift = if plain > 0.0 { greatest / plain } else { 1.0 };
        let is_long = self.judge.n_terms() >= LONG_FROM;
        let scored = |Judged { key, similarity, sum, confidence, is_name, signals, .. }: Judged<'c, K>| {
            let confidence = lift * confidence;
            // Words that others use more often are no evidence against the one with this name.
            let sum = if is_name { best_sum } else { sum };
            let score = if is_long {
                score_of_long(confidence, greatest, sum, best_sum)
            } else {
                score(confidence, sum, best_sum)
            };
            Ranked { scored: Scored { key, score, similarity }, is_name, signals }
        };
        judged.into_iter().map(scored).collect()
    }

    fn judge_one<'c>(
        &self,
        (key, evidence, sum): &'c (K, Evidence, f32),
        read: &ReadTrack,
        is_typed: bool,
    ) -> Judged<'c, K> {
        let (spreads, sound) = (self.yardstick.spreads(evidence.similarity), evidence.sound);
        let found = self.judge.compare(read, is_typed);
        Judged {
            key,
            similarity: evidence.similarity,
            sum: sum + PER_PAIR * found.n_pairs as f32,
            confidence: self.judge.confidence(&found, spreads, sound),
            eased: self.judge.eased_confidence(&found, spreads, sound),
            is_name: found.is_name,
            signals: found.signals,
        }
    }
}

/// The wordings of one message, which the first one is. They are about the same.
pub(crate) fn of_one_message<K>(mut wordings: Vec<Candidates<K>>) -> Vec<Candidates<K>> {
    if let Some((message, others)) = wordings.split_first_mut() {
        others.iter_mut().for_each(|other| other.judge.share_topic_of(&message.judge));
    }
    wordings
}

/// Merges the judged candidates of all wordings. A track has the place of its best wording.
pub(crate) fn merged<'c, K: Ord + Clone + std::hash::Hash>(
    wordings: &'c [Candidates<K>],
    tracks: &'c BTreeMap<K, Arc<ReadTrack>>,
    plan: &SearchPlan,
) -> BTreeMap<&'c K, (Ranked<&'c K>, &'static Weights)> {
    let mut best: BTreeMap<&K, (Ranked<&K>, &Weights)> = BTreeMap::new();
    for (at, wording) in wordings.iter().enumerate() {
        let weight = if at == 0 { 1.0 } else { REWORDED * wording.trust_beside(&wordings[0]) };
        let weights = Weights::of(wording.judge.n_terms());
        for mut ranked in wording.in_order(tracks, plan, at == 0) {
            ranked.scored.score *= weight;
            let known = best.entry(ranked.scored.key).or_insert((ranked, weights));
            let similarity = known.0.scored.similarity.max(ranked.scored.similarity);
            if ranked.scored.score > known.0.scored.score {
                *known = (ranked, weights);
            }
            known.0.scored.similarity = similarity;
        }
    }
    best
}

/// The hits with their explanations, and their number.
pub(crate) fn found<K: Ord + Clone + std::hash::Hash>(
    wordings: &[Candidates<K>],
    tracks: &BTreeMap<K, Arc<ReadTrack>>,
    plan: &SearchPlan,
) -> SearchResults {
    let SearchPlan { filter, limit, .. } = plan;
    let (limit, asked) = (*limit, plan.asked());
    let ranked = merged(wordings, tracks, plan);
    let scored: Vec<Scored<&K>> = ranked.values().map(|(ranked, _)| ranked.scored).collect();
    let total = scored.iter().filter(|scored| scored.score >= Hit::MATCHES_FROM).count();
    let n_candidates = wordings.iter().map(|wording| wording.ranked.len()).max().unwrap_or(0);
    let n_listed = scored.len();
    let mut capped = PerArtist::new(filter);
    let mut hits = Vec::new();
    for place in places(scored, n_listed) {
        let (Some(read), Some((ranked, weights))) = (tracks.get(place.key), ranked.get(place.key)) else { continue };
        if hits.len() < limit && capped.admits(&read.track) {
            let (why, ranked_by) = (asked.why(read), weights.told(&ranked.signals));
            hits.push(Hit { track: read.track.clone(), score: place.score, why, ranked_by });
        }
    }
    SearchResults { hits, total, is_total_exact: n_candidates <= n_judged(limit) || total < n_listed, undecided: 0 }
}

/// Counts the tracks of each artist.
pub(crate) struct PerArtist {
    most: usize,
    counts: HashMap<String, usize>,
}

impl PerArtist {
    pub(crate) fn new(filter: &Filter) -> Self {
        Self { most: filter.at_most_per_artist.unwrap_or(usize::MAX), counts: HashMap::new() }
    }

    pub(crate) fn admits(&mut self, track: &Track) -> bool {
        let count = self.counts.entry(track.artist.to_lowercase()).or_default();
        *count += 1;
        *count <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(n: u32, text: &str) -> (u32, Arc<ReadTrack>) {
        let isrc = format!("ZZSEG26{n:05}").parse().unwrap();
        let mut track = Track::named(isrc, "Untitled".into(), "Nobody".into(), String::new());
        track.interpretation = Some(text.into());
        (n, Arc::new(ReadTrack::of(track)))
    }

    fn scores_of(wording: Candidates<u32>, tracks: &BTreeMap<u32, Arc<ReadTrack>>) -> BTreeMap<u32, f32> {
        let plan = SearchPlan::new("", 10).by_score();
        merged(&[wording], tracks, &plan).into_iter().map(|(key, (ranked, _))| (*key, ranked.scored.score)).collect()
    }

    #[test]
    fn of_two_tracks_with_the_same_words_the_one_with_neighbours_is_first() {
        let tracks = BTreeMap::from([
            track(1, "Drums in a hall, an electric organ with warm strings, and a guitar far behind."),
            track(2, "An electric guitar in a hall with warm strings, an organ and drums far behind."),
        ]);
        for query in ["guitar electric", "electric guitar, warm strings, organ, drums, hall"] {
            let evidence = tracks.keys().map(|key| (*key, Evidence { words: 9.0, similarity: 0.3, sound: 0.0 }));
            let wording = Candidates::new((query, false, Votes::default()), Yardstick::new(&[0.1, 0.2]), evidence);
            let scored = scores_of(wording, &tracks);
            assert!(scored[&2] > scored[&1] + 0.01, "{query}: {scored:?}");
        }
    }

    #[test]
    fn a_message_that_songs_answer_lifts_all_scores_alike() {
        let tracks = BTreeMap::from([track(1, "A sailor waits for rain."), track(2, "A room full of sailors.")]);
        let scores = |vote: f32| {
            let evidence = tracks.keys().map(|key| (*key, Evidence { words: 9.0, similarity: 0.2, sound: 0.0 }));
            let said = ("sailor, rain, lantern", false, Votes { english: Some(vote), across: None });
            let wording = Candidates::new(said, Yardstick::new(&[0.1, 0.2]), evidence);
            scores_of(wording, &tracks).into_values().collect::<Vec<f32>>()
        };
        let (plain, lifted) = (scores(1.0), scores(-3.0));
        assert!(lifted[0] > plain[0] && lifted[0] > Hit::MATCHES_FROM, "{plain:?} {lifted:?}");
        assert!(lifted[1] < Hit::MATCHES_FROM, "a third of the words is no match beside two thirds: {lifted:?}");
    }
}

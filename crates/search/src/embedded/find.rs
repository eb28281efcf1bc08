//! Finding tracks: from a search plan to its wordings, their candidates, and the tracks with their scores and reasons.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tantivy::DocAddress;

use super::{
    super::{
        Hit, IndexError, SearchPlan, SearchResults,
        finish::{self, Candidates},
        fuse::Ranking,
        ranker::Ranked,
        read_track::ReadTrack,
        signals::Signals,
        why::Asked,
    },
    EmbeddedIndex, Shared, at_priority_of, blocking,
    narrow::{Narrowed, narrow},
    search::{Search, Wording},
    snapshot::Snapshot,
    spelling,
};
use crate::embed;
use music::{DocumentId, Isrc, Track};

/// A candidate of a search: its score before the ranker, and its signals.
pub struct Signalled {
    pub isrc: Isrc,
    /// The number of content words of the message.
    pub n_terms: usize,
    pub score: f32,
    /// Whether the message is a whole name of the track.
    pub is_name: bool,
    pub signals: Signals,
}

impl EmbeddedIndex {
    /// The codes of the best tracks by one ranking, for measurements.
    pub async fn rank(&self, query: &str, limit: usize, ranking: Ranking) -> Result<Vec<Isrc>, IndexError> {
        if ranking == Ranking::Hybrid {
            let found = self.look(&SearchPlan::new(query, limit)).await?;
            return Ok(found.hits.into_iter().filter_map(|hit| hit.track.isrc).collect());
        }
        let wording = self.wordings(&SearchPlan::new(query, limit)).await?.remove(0);
        let shared = self.shared.clone();
        blocking(move || {
            let snapshot = shared.current()?;
            let found = shared.search_in(&snapshot).one_sided(&wording, ranking, limit)?;
            let codes = found.into_iter().map(|key| Ok(snapshot.track(&shared.fields, key)?.isrc));
            codes.filter_map(Result::transpose).collect()
        })
        .await
    }

    /// The judged candidates of the first wording, with what the ranker orders them by, for fitting it.
    pub async fn signalled(&self, plan: &SearchPlan) -> Result<Vec<Signalled>, IndexError> {
        let (wordings, plan, shared) = (self.wordings(plan).await?, plan.clone(), self.shared.clone());
        blocking(move || {
            let snapshot = shared.current()?;
            let Some(wording) = wordings.first().filter(|_| !plan.has_no_words()) else { return Ok(Vec::new()) };
            let narrowed = narrow(&shared.fields, &snapshot, &plan)?;
            let found = shared.search_in(&snapshot).candidates(wording, narrowed.as_ref(), &plan)?;
            let read = |key: &DocAddress| Ok((*key, snapshot.read(&shared.fields, &shared.recent, *key)?));
            let tracks: BTreeMap<DocAddress, Arc<ReadTrack>> =
                found.best(plan.limit).map(read).collect::<Result<_, IndexError>>()?;
            let n_terms = found.judge.n_terms();
            let signalled = |Ranked { scored, is_name, signals }: Ranked<&DocAddress>| {
                let isrc = tracks.get(scored.key)?.track.isrc.clone()?;
                Some(Signalled { isrc, n_terms, score: scored.score, is_name, signals })
            };
            Ok(found.scored(&tracks, &plan, true).into_iter().filter_map(signalled).collect())
        })
        .await
    }

    async fn wordings(&self, plan: &SearchPlan) -> Result<Vec<Wording>, IndexError> {
        let across = self.across(plan).await?;
        let embedding = embed::queries(&*self.shared.embedder, &plan.queries, &across);
        let vectors = plan.timings.measure("embeddingDurationMs", embedding).await?;
        let wording = |((text, vector), is_across): ((&String, Vec<f32>), bool)| Wording {
            text: text.clone(),
            votes: self.shared.embedder.votes(&vector),
            vector,
            sounds: plan.sounds_of(text),
            is_across,
        };
        Ok(plan.queries.iter().zip(vectors).zip(across).map(wording).collect())
    }

    /// For each query, whether it is in words that the index does not know. Always false if the embedder supports no other
    /// languages.
    async fn across(&self, plan: &SearchPlan) -> Result<Vec<bool>, IndexError> {
        if !self.shared.embedder.reads_other_languages() {
            return Ok(vec![false; plan.queries.len()]);
        }
        let (shared, queries) = (self.shared.clone(), plan.queries.clone());
        at_priority_of(plan, move || {
            let snapshot = shared.current()?;
            queries.iter().map(|query| spelling::is_in_other_words(&shared.fields, &snapshot, query)).collect()
        })
        .await
    }

    /// Adds the first wording with corrected spelling to the plan, beside the typed one.
    async fn spelled(&self, plan: &SearchPlan) -> Result<SearchPlan, IndexError> {
        let (shared, mut spelled) = (self.shared.clone(), plan.clone());
        at_priority_of(plan, move || {
            let snapshot = shared.current()?;
            let first = spelled.queries.first().map_or("", String::as_str);
            if let Some(corrected) = spelling::corrected(&shared.fields, &snapshot, first)? {
                spelled.queries.push(corrected);
            }
            Ok(spelled)
        })
        .await
    }

    pub(super) async fn look(&self, plan: &SearchPlan) -> Result<SearchResults, IndexError> {
        let plan = self.spelled(plan).await?;
        let wordings = self.wordings(&plan).await?;
        let (shared, asked) = (self.shared.clone(), plan.clone());
        at_priority_of(&plan, move || shared.find(&wordings, &asked)).await
    }
}

impl Shared {
    fn find(&self, wordings: &[Wording], plan: &SearchPlan) -> Result<SearchResults, IndexError> {
        let snapshot = self.current()?;
        let narrowed = narrow(&self.fields, &snapshot, plan)?;
        let undecided = narrowed.as_ref().map_or(0, |narrowed| narrowed.undecided);
        if plan.asks_nothing() {
            return Ok(SearchResults { is_total_exact: true, ..SearchResults::default() });
        }
        if plan.has_no_words() {
            return self.list(&snapshot, narrowed.as_ref(), plan, &plan.asked());
        }
        let search = self.search_in(&snapshot);
        let candidates: Vec<Candidates<DocAddress>> = wordings
            .iter()
            .map(|wording| search.candidates(wording, narrowed.as_ref(), plan))
            .collect::<Result<_, _>>()?;
        let candidates = finish::of_one_message(candidates);
        let keys: BTreeSet<DocAddress> = candidates.iter().flat_map(|found| found.best(plan.limit)).copied().collect();
        let tracks: BTreeMap<DocAddress, Arc<ReadTrack>> = keys
            .into_iter()
            .map(|key| Ok((key, snapshot.read(&self.fields, &self.recent, key)?)))
            .collect::<Result<_, IndexError>>()?;
        let found = finish::found(&candidates, &tracks, plan);
        Ok(SearchResults { undecided, ..found })
    }

    /// The tracks within the filter, if the plan contains nothing else.
    fn list(
        &self,
        snapshot: &Snapshot,
        narrowed: Option<&Narrowed>,
        plan: &SearchPlan,
        asked: &Asked,
    ) -> Result<SearchResults, IndexError> {
        let listed = self.search_in(snapshot).all(narrowed, &plan.sounds_of(""))?;
        let total = listed.iter().filter(|scored| scored.score >= Hit::MATCHES_FROM).count();
        let mut capped = finish::PerArtist::new(&plan.filter);
        let mut hits = Vec::new();
        for scored in listed {
            if hits.len() == plan.limit {
                break;
            }
            let read = snapshot.read(&self.fields, &self.recent, scored.key)?;
            if capped.admits(&read.track) {
                let why = asked.why(&read);
                hits.push(Hit { why, score: scored.score, ranked_by: Vec::new(), track: read.track.clone() });
            }
        }
        Ok(SearchResults {
            hits,
            total,
            is_total_exact: true,
            undecided: narrowed.map_or(0, |narrowed| narrowed.undecided),
        })
    }

    fn search_in<'a>(&'a self, snapshot: &'a Snapshot) -> Search<'a> {
        Search { fields: &self.fields, snapshot, vectors: &self.vectors, reads_prose: self.embedder.reads_prose() }
    }

    pub(super) fn get(&self, ids: &[DocumentId]) -> Result<Vec<Track>, IndexError> {
        let snapshot = self.current()?;
        let mut tracks = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(address) = snapshot.find(&self.fields, *id)? {
                tracks.push(snapshot.track(&self.fields, address)?);
            }
        }
        Ok(tracks)
    }

    pub(super) fn contains(&self, ids: Vec<DocumentId>) -> Result<BTreeSet<DocumentId>, IndexError> {
        let snapshot = self.current()?;
        let mut found = BTreeSet::new();
        for id in ids {
            if snapshot.find(&self.fields, id)?.is_some() {
                found.insert(id);
            }
        }
        Ok(found)
    }
}

//! A parsed query as a search: its limits, the tracks that it names as seeds, and the caller's own library.

use engine::UserId;

use super::Library;
use crate::Error;
use music::{
    Track,
    scope::{self, Scope},
};
use query::{
    Plan, TrackLimits,
    plan::{AppliedKind, NumberRange, Seed, Shift, YearRange},
};
use search::{Filter, SearchPlan};

/// A search for a parsed query.
pub(crate) struct SearchRequest {
    /// The parsed query. Seeds that match no track in scope are search words again.
    pub(crate) plan: Plan,
    pub(crate) search: SearchPlan,
    /// Whether the results should resemble a track: then the search words come from that track and not from the caller.
    pub(crate) is_like: bool,
}

impl Library {
    /// The search for a plan. `limit` is the number of results to fetch, independent of the number that the plan shows.
    pub(crate) async fn search_request(
        &self,
        owner: &UserId,
        mut plan: Plan,
        limit: usize,
    ) -> Result<SearchRequest, Error> {
        let seeds = self.seeds(owner, &mut plan).await?;
        if let Some(seed) = seeds.first() {
            let shifted = shifted(&plan.shifts, seed);
            plan.limit_to(&shifted);
        }
        let fetched = Plan { limits: TrackLimits { at_most: None, ..plan.limits.clone() }, ..plan.clone() };
        let mut search = match seeds.first() {
            Some(seed) => SearchPlan::like(seed, &fetched, limit),
            None => SearchPlan::of(&fetched, limit),
        };
        search.filter.not_tracks.extend(seeds.iter().map(|seed| seed.id));
        match plan.limits.in_library {
            Some(true) => search.filter.mark = Some(scope::reader(owner.as_str())),
            Some(false) => search.filter.not_mark = Some(scope::reader(owner.as_str())),
            None => {}
        }
        Ok(SearchRequest { plan, search, is_like: !seeds.is_empty() })
    }

    /// The tracks that the seeds refer to. A seed without a track becomes a search word again.
    async fn seeds(&self, owner: &UserId, plan: &mut Plan) -> Result<Vec<Track>, Error> {
        if plan.seeds.is_empty() {
            return Ok(Vec::new());
        }
        let scope = self.scope(owner).await?;
        let (mut tracks, mut told) = (Vec::new(), plan.applied.clone().into_iter());
        for seed in std::mem::take(&mut plan.seeds) {
            let found = match &seed {
                Seed::Named(name) => self.named(&scope, name).await?,
                // Only a conversation can resolve a reference to earlier results.
                Seed::Shown | Seed::Place(_) => Vec::new(),
            };
            let told = told.find(|applied| applied.kind == AppliedKind::Seed);
            if !found.is_empty() {
                plan.seeds.push(seed);
                tracks.extend(found);
                continue;
            }
            let words = match (&seed, &told) {
                (Seed::Named(name), _) => name.clone(),
                (_, told) => told.as_ref().map(|told| told.text.clone()).unwrap_or_default(),
            };
            plan.words = format!("{words} {}", plan.words).trim().to_owned();
            plan.applied.retain(|applied| Some(applied) != told.as_ref());
        }
        Ok(tracks)
    }

    /// The tracks in scope that a name refers to: a title, a title and its artist, or an artist.
    async fn named(&self, scope: &Scope, name: &str) -> Result<Vec<Track>, Error> {
        let of_artist = [" by ", " von ", " de "].into_iter().find_map(|by| name.rsplit_once(by));
        for (title, artist) in [Some((name, "")), of_artist].into_iter().flatten() {
            let found = self.store.visible_named(scope, title, artist).await?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        const MOST: usize = 50;
        let by = Filter { artist: Some(name.to_owned()), ..Filter::default() };
        let hits = self.index.search(&SearchPlan::new("", MOST).only(by).within(scope.clone())).await?;
        Ok(hits.into_iter().map(|hit| hit.track).collect())
    }
}

/// "Older" or "longer" than a track, as limits. An unknown value of the track adds no limit.
fn shifted(shifts: &[Shift], seed: &Track) -> TrackLimits {
    let mut limits = TrackLimits::default();
    for shift in shifts {
        match (shift, seed.year(), seed.duration) {
            (Shift::Older, Some(year), _) => limits.years = Some(YearRange { from: None, to: Some(year - 1) }),
            (Shift::Newer, Some(year), _) => limits.years = Some(YearRange { from: Some(year + 1), to: None }),
            (Shift::Longer, _, Some(seconds)) => {
                limits.duration = Some(NumberRange { min: Some(seconds.next_up()), max: None });
            }
            (Shift::Shorter, _, Some(seconds)) => {
                limits.duration = Some(NumberRange { min: None, max: Some(seconds.next_down()) });
            }
            _ => {}
        }
    }
    limits
}

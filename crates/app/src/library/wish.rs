//! A wish as a search: what the words and fields limit, the tracks they name to start from, the caller's own library.

use engine::UserId;

use super::Library;
use crate::Error;
use music::{
    Track,
    scope::{self, Scope},
};
use query::{
    Limits, Plan,
    plan::{AppliedKind, NumberRange, Seed, Shift, YearRange},
};
use search::{Filter, SearchPlan};

/// A wish, ready to be searched for.
pub(crate) struct Wish {
    /// What was understood. Seeds that nothing in scope is called by are words again.
    pub(crate) plan: Plan,
    pub(crate) search: SearchPlan,
    /// Whether the results are to resemble a track, so that the words are the track's and not the caller's.
    pub(crate) is_like: bool,
}

impl Library {
    /// The search for a plan; `limit` is how many results are fetched, whatever the plan says of the number shown.
    pub(crate) async fn wish(&self, owner: &UserId, mut plan: Plan, limit: usize) -> Result<Wish, Error> {
        let seeds = self.seeds(owner, &mut plan).await?;
        if let Some(seed) = seeds.first() {
            let shifted = shifted(&plan.shifts, seed);
            plan.limit_to(&shifted);
        }
        let fetched = Plan { limits: Limits { at_most: None, ..plan.limits.clone() }, ..plan.clone() };
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
        Ok(Wish { plan, search, is_like: !seeds.is_empty() })
    }

    /// The tracks that the seeds name. What names none goes back to the words.
    async fn seeds(&self, owner: &UserId, plan: &mut Plan) -> Result<Vec<Track>, Error> {
        if plan.seeds.is_empty() {
            return Ok(Vec::new());
        }
        let scope = self.scope(owner).await?;
        let (mut tracks, mut told) = (Vec::new(), plan.applied.clone().into_iter());
        for seed in std::mem::take(&mut plan.seeds) {
            let found = match &seed {
                Seed::Named(name) => self.named(&scope, name).await?,
                // Only a conversation knows what was shown.
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

    /// The tracks in scope that a name means: a title, a title and its artist, or an artist.
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

/// "Older", "longer" than a track, as limits. What is not known of it limits nothing.
fn shifted(shifts: &[Shift], seed: &Track) -> Limits {
    let mut limits = Limits::default();
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

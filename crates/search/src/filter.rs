//! Filters: what a track must be. Both engines apply them to candidates, never to scores.

use std::collections::BTreeSet;

use music::Isrc;
use query::{
    Feature, FeatureRange, Limits,
    gloss::english,
    plan::{NumberRange, YearRange},
    words::words,
};

/// What a track must be; an empty filter lets every track through. A track that lacks the data for a limit is outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    pub features: Vec<FeatureRange>,
    /// One of these recordings: a library, a playlist.
    pub isrcs: Option<BTreeSet<Isrc>>,
    /// None of these: what the user owns already, or the seed of a search.
    pub not_isrcs: BTreeSet<Isrc>,
    /// Every word must be in the artist's name; likewise the others.
    pub artist: Option<String>,
    pub title: Option<String>,
    pub album: Option<String>,
    pub years: Option<YearRange>,
    /// Seconds.
    pub duration: Option<NumberRange>,
    /// ISO 639-1.
    pub language: Option<String>,
    pub languages_denied: Vec<String>,
    pub instrumental: Option<bool>,
    pub explicit: Option<bool>,
    /// A track whose names, tags, description or interpretation have all words of one of these is outside.
    pub denied: Vec<String>,
    /// Applied after ranking: the best of each artist stay.
    pub at_most_per_artist: Option<usize>,
}

impl Filter {
    /// The limits of a plan, but for what only the caller knows: the library, and how many results are wanted.
    pub fn of(limits: &Limits) -> Self {
        let mut features = Vec::new();
        let mut within =
            |feature, min: Option<f64>, max: Option<f64>| features.push(FeatureRange { feature, min, max });
        if let Some(tempo) = limits.tempo {
            within(Feature::Tempo, tempo.min, tempo.max);
        }
        if let Some(tonic) = limits.key.and_then(|key| key.tonic) {
            within(Feature::Key, Some(f64::from(tonic)), Some(f64::from(tonic)));
        }
        if let Some(minor) = limits.key.and_then(|key| key.minor) {
            let mode = if minor { 0.0 } else { 1.0 };
            within(Feature::Mode, Some(mode), Some(mode));
        }
        Self {
            features,
            artist: limits.artist.clone(),
            album: limits.album.clone(),
            years: limits.years,
            duration: limits.duration,
            language: limits.language.clone(),
            languages_denied: limits.languages_denied.clone(),
            instrumental: limits.instrumental,
            explicit: limits.explicit,
            denied: limits.denied.clone(),
            at_most_per_artist: limits.at_most_per_artist,
            ..Self::default()
        }
    }

    /// The terms of each denied phrase.
    pub(crate) fn denied_terms(&self) -> Vec<Vec<String>> {
        let terms = |phrase: &str| words(phrase).into_iter().map(|word| word.term).collect::<Vec<_>>();
        // "Ohne Schlagzeug" excludes drums too: most of what is written about tracks is English.
        let glossed = self.denied.iter().filter_map(|phrase| english(phrase));
        let glossed = glossed.flat_map(|gloss| gloss.split(' ').map(terms).collect::<Vec<_>>());
        self.denied.iter().map(|phrase| terms(phrase)).chain(glossed).filter(|terms| !terms.is_empty()).collect()
    }

    /// Whether a track can be outside for lack of data.
    pub(crate) fn needs_data(&self) -> bool {
        !self.features.is_empty()
            || self.years.is_some()
            || self.duration.is_some()
            || self.language.is_some()
            || !self.languages_denied.is_empty()
            || self.instrumental.is_some()
            || self.explicit.is_some()
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The best tracks first, as many as were asked for.
    pub hits: Vec<super::Hit>,
    /// How many tracks match: within the limits, and scored [`super::Hit::MATCHES_FROM`] or more.
    pub total: usize,
    /// False when there were more candidates than are scored, so that `total` is a lower bound.
    pub is_total_exact: bool,
    /// How many tracks were left out because nothing tells whether they meet a limit.
    pub undecided: usize,
}

//! Filters: conditions on tracks. Both engines apply them to the candidates and not to the scores.

use std::collections::BTreeSet;

use music::TrackId;
use query::{
    Feature, FeatureRange, TrackLimits,
    gloss::english,
    plan::{NumberRange, YearRange},
    words::words,
};

/// Conditions that a track must fulfil. An empty filter accepts every track. A track without the data for a condition is
/// excluded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    pub features: Vec<FeatureRange>,
    /// Only these recordings, for example of a library or a playlist.
    pub tracks: Option<BTreeSet<TrackId>>,
    /// Not these recordings, for example the seed of a search.
    pub not_tracks: BTreeSet<TrackId>,
    /// Only documents with this mark of [`super::scope`]: the caller owns them.
    pub mark: Option<String>,
    /// Only documents without this mark: the caller does not own them.
    pub not_mark: Option<String>,
    /// The artist's name must contain every word. The same applies to the other names.
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
    /// Excludes a track whose names, tags, description or interpretation contain all words of one of these phrases.
    pub denied: Vec<String>,
    /// Applied after the ranking: only the best tracks of each artist remain.
    pub at_most_per_artist: Option<usize>,
}

impl Filter {
    /// The limits of a plan, except those that only the caller can apply: the library and the number of results.
    pub fn of(limits: &TrackLimits) -> Self {
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
        // "Ohne Schlagzeug" also excludes "drums", because most descriptions are English.
        let glossed = self.denied.iter().filter_map(|phrase| english(phrase));
        let glossed = glossed.flat_map(|gloss| gloss.split(' ').map(terms).collect::<Vec<_>>());
        self.denied.iter().map(|phrase| terms(phrase)).chain(glossed).filter(|terms| !terms.is_empty()).collect()
    }

    /// Whether a track can be excluded because its data is missing.
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

/// The results of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// Best tracks first, at most as many as requested.
    pub hits: Vec<super::Hit>,
    /// The number of tracks within the limits with a score of at least [`super::Hit::MATCHES_FROM`].
    pub total: usize,
    /// False if there were more candidates than are scored. Then `total` is a lower bound.
    pub is_total_exact: bool,
    /// The number of tracks that are excluded only because their data does not say whether they meet a limit.
    pub undecided: usize,
}

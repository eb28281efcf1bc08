//! A filter in Qdrant's words.

use std::collections::BTreeSet;

use qdrant_client::qdrant::{Condition, Filter as Asked, Range};

use music::TrackId;
use query::words::words;

use super::{
    super::{Filter, Scope},
    points::{DURATION, EXPLICIT, INSTRUMENTAL, LANGUAGE, READERS, RECORDING, TERMS, YEAR, is_first_chunk, is_track},
};

pub(super) struct Narrowed {
    must: Vec<Condition>,
    /// The same, but letting through what lacks the data.
    lenient: Vec<Condition>,
    must_not: Vec<Condition>,
}

impl Narrowed {
    pub(super) fn new(filter: &Filter, scope: &Scope) -> Self {
        let mut narrowed = Self { must: vec![is_track()], lenient: vec![is_track()], must_not: Vec::new() };
        narrowed.add_scope(scope);
        narrowed.add_facts(filter);
        narrowed.add_names(filter);
        narrowed.add_denials(filter);
        narrowed
    }

    /// Tracks within the filter, and within one more condition.
    pub(super) fn with(&self, more: impl IntoIterator<Item = Condition>) -> Asked {
        let must = self.must.iter().cloned().chain(more).collect();
        Asked { must, must_not: self.must_not.clone(), ..Asked::default() }
    }

    pub(super) fn tracks(&self) -> Asked {
        self.with([is_first_chunk()])
    }

    /// Tracks that nothing but missing data can keep out.
    pub(super) fn lenient_tracks(&self) -> Asked {
        let must = self.lenient.iter().cloned().chain([is_first_chunk()]).collect();
        Asked { must, must_not: self.must_not.clone(), ..Asked::default() }
    }

    fn needs(&mut self, field: &str, condition: Condition) {
        self.must.push(condition.clone());
        self.lenient.push(Asked::should([condition, Condition::is_empty(field)]).into());
    }

    fn always(&mut self, condition: Condition) {
        self.must.push(condition.clone());
        self.lenient.push(condition);
    }

    /// For what lacks data too: how much another user has is not told either.
    fn add_scope(&mut self, scope: &Scope) {
        let Scope::Marked { any, none } = scope else { return };
        self.always(Condition::matches(READERS, any.clone()));
        self.must_not.push(Condition::matches(READERS, none.clone()));
    }

    fn add_facts(&mut self, filter: &Filter) {
        for range in &filter.features {
            let name = range.feature.name();
            self.needs(name, between(name, range.min, range.max));
        }
        if let Some(years) = filter.years {
            self.needs(YEAR, between(YEAR, years.from.map(f64::from), years.to.map(f64::from)));
        }
        if let Some(seconds) = filter.duration {
            self.needs(DURATION, between(DURATION, seconds.min, seconds.max));
        }
        if let Some(language) = &filter.language {
            self.needs(LANGUAGE, Condition::matches(LANGUAGE, language.clone()));
        }
        if !filter.languages_denied.is_empty() {
            self.needs(LANGUAGE, Asked::must_not([Condition::is_empty(LANGUAGE)]).into());
        }
        for (is, field) in [(filter.instrumental, INSTRUMENTAL), (filter.explicit, EXPLICIT)] {
            if let Some(is) = is {
                self.needs(field, Condition::matches(field, is));
            }
        }
    }

    fn add_names(&mut self, filter: &Filter) {
        if let Some(tracks) = &filter.tracks {
            self.always(is_recording(tracks));
        }
        if let Some(mark) = &filter.mark {
            self.always(Condition::matches(READERS, mark.clone()));
        }
        for (field, text) in [("artist", &filter.artist), ("title", &filter.title), ("album", &filter.album)] {
            for word in words(text.as_deref().unwrap_or_default()) {
                self.always(Condition::matches(field, word.term));
            }
        }
    }

    fn add_denials(&mut self, filter: &Filter) {
        if !filter.not_tracks.is_empty() {
            self.must_not.push(is_recording(&filter.not_tracks));
        }
        self.must_not.extend(filter.not_mark.iter().map(|mark| Condition::matches(READERS, mark.clone())));
        let languages = filter.languages_denied.iter();
        self.must_not.extend(languages.map(|code| Condition::matches(LANGUAGE, code.clone())));
        for terms in filter.denied_terms() {
            let all = terms.into_iter().map(|term| Condition::matches(TERMS, term));
            self.must_not.push(Asked::must(all).into());
        }
    }
}

fn is_recording(tracks: &BTreeSet<TrackId>) -> Condition {
    Condition::matches(RECORDING, tracks.iter().map(TrackId::to_string).collect::<Vec<_>>())
}

fn between(field: &str, min: Option<f64>, max: Option<f64>) -> Condition {
    Condition::range(field, Range { gte: min, lte: max, ..Range::default() })
}

//! Limits that a caller passes as fields. They are applied and reported like the limits in words.

use super::{
    Applied, AppliedKind, Plan, TrackLimits, label,
    languages::{language, language_name},
    types::Limit,
};
use music::identity::fold;

impl Plan {
    /// Adds limits. Two ranges of one kind are intersected. A limit that is also in the words is reported once.
    pub fn limit_to(&mut self, given: &TrackLimits) {
        let limits = [
            given.years.map(Limit::Years),
            given.tempo.map(Limit::Tempo),
            given.duration.map(Limit::Duration),
            given.key.map(Limit::Key),
            given.instrumental.map(Limit::Instrumental),
            given.explicit.map(Limit::Explicit),
            given.in_library.map(Limit::InLibrary),
            given.artist.clone().map(Limit::Artist),
            given.album.clone().map(Limit::Album),
            given.at_most.map(Limit::AtMost),
            given.at_most_per_artist.map(Limit::PerArtist),
        ];
        for limit in limits.into_iter().flatten() {
            let (kind, label) = label::limit(&limit);
            self.report(kind, label);
            self.limits.add(limit);
        }
        if let Some(code) = &given.language {
            self.report(AppliedKind::Language, format!("in {}", language_name(code)));
            self.limits.language = Some(code.clone());
        }
        for code in &given.languages_denied {
            self.report(AppliedKind::Language, format!("not in {}", language_name(code)));
            self.limits.languages_denied.push(code.clone());
        }
        for phrase in &given.denied {
            self.report(AppliedKind::Without, format!("without {phrase}"));
            self.limits.denied.push(phrase.clone());
        }
    }

    fn report(&mut self, kind: AppliedKind, label: String) {
        if self.applied.iter().all(|known| (known.kind, &known.label) != (kind, &label)) {
            self.applied.push(Applied { kind, label, text: String::new() });
        }
    }
}

/// The ISO 639-1 code of a text that is a code or the name of a language.
pub fn language_code(text: &str) -> Option<String> {
    let text = fold(text);
    let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_code { Some(text) } else { language(&text).map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{YearRange, parse};

    #[test]
    fn limits_in_fields_and_in_words_are_combined_and_reported_once() {
        let mut plan = parse("the sea from the 90s", 2026);
        let years = Some(YearRange { from: Some(1990), to: Some(1999) });
        let given = TrackLimits {
            years,
            language: language_code("French"),
            denied: vec!["drums".into()],
            ..TrackLimits::default()
        };
        plan.limit_to(&given);
        let labels: Vec<_> = plan.applied.iter().map(|applied| applied.label.as_str()).collect();
        assert_eq!(labels, ["1990–1999", "in French", "without drums"]);
        assert_eq!((plan.limits.years, plan.limits.language.as_deref()), (years, Some("fr")));
        plan.limit_to(&TrackLimits { years: Some(YearRange { from: Some(1995), to: None }), ..TrackLimits::default() });
        assert_eq!(plan.limits.years, Some(YearRange { from: Some(1995), to: Some(1999) }));
        assert_eq!((language_code("DE").as_deref(), language_code("klingonisch")), (Some("de"), None));
    }
}

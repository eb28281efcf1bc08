//! Labels: each understood limit in plain English, for a chip.

use super::{
    languages::language_name,
    types::{AppliedKind, Key, Limit, NumberRange, Seed, YearRange},
};
use crate::features::{Side, SoundPreference};

pub(super) fn limit(limit: &Limit) -> (AppliedKind, String) {
    match limit {
        Limit::Years(range) => (AppliedKind::Years, years(*range)),
        Limit::Tempo(range) => (AppliedKind::Tempo, format!("{} BPM", number_range(*range, |bpm| format!("{bpm:.0}")))),
        Limit::Duration(range) => (AppliedKind::Duration, number_range(*range, clock)),
        Limit::Key(key) => (AppliedKind::Key, key_name(*key)),
        Limit::Language(code) => (AppliedKind::Language, format!("in {}", language_name(code))),
        Limit::NotLanguage(code) => (AppliedKind::Language, format!("not in {}", language_name(code))),
        Limit::Instrumental(true) => (AppliedKind::Vocals, "instrumental".into()),
        Limit::Instrumental(false) => (AppliedKind::Vocals, "with vocals".into()),
        Limit::Explicit(true) => (AppliedKind::Explicit, "explicit".into()),
        Limit::Explicit(false) => (AppliedKind::Explicit, "not explicit".into()),
        Limit::InLibrary(true) => (AppliedKind::Library, "in your library".into()),
        Limit::InLibrary(false) => (AppliedKind::Library, "not in your library".into()),
        Limit::Artist(name) => (AppliedKind::Artist, format!("by {name}")),
        Limit::Album(name) => (AppliedKind::Album, format!("album {name}")),
        Limit::AtMost(n) => (AppliedKind::AtMost, format!("at most {n}")),
        Limit::PerArtist(n) => (AppliedKind::PerArtist, format!("at most {n} per artist")),
    }
}

pub(super) fn seed(seed: &Seed) -> String {
    match seed {
        Seed::Named(name) => format!("like {name}"),
        Seed::Shown => "like what was shown".into(),
        Seed::Place(place) => format!("like number {place}"),
    }
}

pub(super) fn sound(preference: &SoundPreference) -> String {
    let side = match preference.side {
        Side::Low => "lower",
        Side::High => "higher",
    };
    format!("{side} {}", preference.feature.name())
}

fn years(range: YearRange) -> String {
    match (range.from, range.to) {
        (Some(from), Some(to)) if from == to => from.to_string(),
        (Some(from), Some(to)) => format!("{from}–{to}"),
        (Some(from), None) => format!("from {from}"),
        (None, Some(to)) => format!("until {to}"),
        (None, None) => "any year".into(),
    }
}

fn number_range(range: NumberRange, written: impl Fn(f64) -> String) -> String {
    // "Under 180" is stored as the largest number below 180, and shown as "under 180".
    let is_strict = |end: f64| end.fract() != 0.0 && (end - end.round()).abs() < 1e-6;
    match (range.min, range.max) {
        (Some(min), Some(max)) => format!("{}–{}", written(min), written(max)),
        (Some(min), None) => format!("{} {}", if is_strict(min) { "over" } else { "at least" }, written(min.round())),
        (None, Some(max)) => format!("{} {}", if is_strict(max) { "under" } else { "at most" }, written(max.round())),
        (None, None) => "any".into(),
    }
}

fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn key_name(key: Key) -> String {
    const NAMES: [&str; 12] = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"];
    let tonic = key.tonic.and_then(|tonic| NAMES.get(usize::from(tonic))).copied();
    let mode = key.minor.map(|minor| if minor { "minor" } else { "major" });
    let parts: Vec<&str> = tonic.into_iter().chain(mode).collect();
    format!("key {}", parts.join(" "))
}

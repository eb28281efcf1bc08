//! The grammar: which words mean which limit, in English, German, French and Spanish. Words are lower case without accents.

mod library;
mod limit;
mod measures;
mod music;
mod years;

pub(crate) use self::{
    library::{COUNTED, COUNTING, PER_ARTIST},
    limit::limit,
    measures::{AFTER_MEASURE, COMPARING},
};

/// The meaning of a pattern. Its values come from the slots, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    YearsBetween,
    YearsSince,
    YearsAfter,
    YearsUntil,
    YearsBefore,
    YearsIn,
    Decade,
    DecadesBetween,
    OlderThanYears,
    NewerThanYears,
    Most,
    Below,
    Least,
    Above,
    Between,
    Around,
    Exactly,
    Key,
    MinorKey,
    MajorKey,
    Language,
    NotLanguage,
    Instrumental,
    Vocal,
    Clean,
    Explicit,
    Owned,
    New,
    AtMost,
    PerArtist,
    OnePerArtist,
}

/// The phrases of each rule.
type Phrases = &'static [(Rule, &'static [&'static str])];

/// Phrases with their values. Of two matches of the same length, the first in this order counts.
pub(crate) const LIMITS: &[Phrases] = &[years::YEARS, music::MUSIC, library::LIBRARY];

//! The plan: what a message asks for, as types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::SoundPreference;

/// The request in a message. Limits are kept exactly; everything else only affects the ranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub limits: TrackLimits,
    /// The message without its limits, denials and seeds.
    pub words: String,
    /// Preferences about sound, with their direction.
    pub sounds: Vec<SoundPreference>,
    pub seeds: Vec<Seed>,
    /// "older", "longer": relative to the results that were shown before.
    pub shifts: Vec<Shift>,
    /// The understood parts, in the order of the message.
    pub applied: Vec<Applied>,
}

/// What a track must be. `None` and empty mean that anything is accepted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TrackLimits {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub years: Option<YearRange>,
    /// Beats per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tempo: Option<NumberRange>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<NumberRange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// ISO 639-1 code of the language that is sung.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Languages that must not be sung.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages_denied: Vec<String>,
    /// True: no singing. False: with singing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrumental: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explicit: Option<bool>,
    /// True: only what the user owns. False: only what the user does not own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_library: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artist: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub album: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most_per_artist: Option<usize>,
    /// Words or phrases that must not describe the track.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

/// Both ends are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct YearRange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<i32>,
}

/// Both ends are included; "under 3 minutes" ends at the last number below 180.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NumberRange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// Half tones above C, 0 to 11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tonic: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor: Option<bool>,
}

/// The track or artist that the results should resemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seed {
    /// A title, or an artist.
    Named(String),
    /// The tracks shown last.
    Shown,
    /// One of the tracks shown last, from 1.
    Place(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Older,
    Newer,
    Longer,
    Shorter,
}

/// One thing that was understood, for a chip that can be removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Applied {
    pub kind: AppliedKind,
    /// In plain English: `1990–1999`, `without drums`.
    pub label: String,
    /// The words of the message it was read from: without them the limit is gone. Empty: it was given as a field.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AppliedKind {
    Years,
    Tempo,
    Duration,
    Key,
    Language,
    Vocals,
    Explicit,
    Library,
    Artist,
    Album,
    AtMost,
    PerArtist,
    Without,
    Seed,
    Sound,
}

/// One parsed limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Limit {
    Years(YearRange),
    Tempo(NumberRange),
    Duration(NumberRange),
    Key(Key),
    Language(&'static str),
    NotLanguage(&'static str),
    Instrumental(bool),
    Explicit(bool),
    InLibrary(bool),
    Artist(String),
    Album(String),
    AtMost(usize),
    PerArtist(usize),
}

impl TrackLimits {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a limit. Two ranges of one kind are intersected.
    pub(crate) fn add(&mut self, limit: Limit) {
        match limit {
            Limit::Years(range) => self.years = Some(self.years.unwrap_or_default().and(range)),
            Limit::Tempo(range) => self.tempo = Some(self.tempo.unwrap_or_default().and(range)),
            Limit::Duration(range) => self.duration = Some(self.duration.unwrap_or_default().and(range)),
            Limit::Key(key) => self.key = Some(key),
            Limit::Language(code) => self.language = Some(code.to_owned()),
            Limit::NotLanguage(code) => self.languages_denied.push(code.to_owned()),
            Limit::Instrumental(is) => self.instrumental = Some(is),
            Limit::Explicit(is) => self.explicit = Some(is),
            Limit::InLibrary(is) => self.in_library = Some(is),
            Limit::Artist(name) => self.artist = Some(name),
            Limit::Album(name) => self.album = Some(name),
            Limit::AtMost(n) => self.at_most = Some(n),
            Limit::PerArtist(n) => self.at_most_per_artist = Some(n),
        }
    }
}

impl YearRange {
    fn and(self, other: Self) -> Self {
        let from = self.from.into_iter().chain(other.from).max();
        Self { from, to: self.to.into_iter().chain(other.to).min() }
    }
}

impl NumberRange {
    fn and(self, other: Self) -> Self {
        let min = self.min.into_iter().chain(other.min).reduce(f64::max);
        Self { min, max: self.max.into_iter().chain(other.max).reduce(f64::min) }
    }
}

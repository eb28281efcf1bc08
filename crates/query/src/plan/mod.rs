//! Parses a message into a plan: limits that are kept exactly, preferences that affect the ranking, and seeds.
//!
//! Pure. It supports English, German, French and Spanish. Text in quotes is a title or a name and is not parsed.

mod deny;
mod given;
mod grammar;
mod label;
mod languages;
mod names;
mod numbers;
mod pattern;
mod remarks;
mod rules;
mod seeds;
mod tokens;
mod types;

pub use given::language_code;
pub use types::{Applied, AppliedKind, Key, NumberRange, Plan, Seed, Shift, TrackLimits, YearRange};

use self::{
    names::MUSIC_NOUNS,
    remarks::Remarks,
    tokens::{Kind, Token, tokens},
    types::Limit,
};
use crate::features::{SoundPreference, sound_word};

/// Parses a message. `this_year` is the reference for "older than 20 years".
pub fn parse(text: &str, this_year: i32) -> Plan {
    let text = &*crate::emoji::spelled(text);
    let mut reader = Reader {
        text,
        tokens: tokens(text),
        this_year,
        plan: Plan::default(),
        is_kept: Vec::new(),
        is_told: Vec::new(),
    };
    let Remarks { is_remark, is_told } = Remarks::of(&reader.tokens, text);
    reader.is_kept = is_remark.iter().map(|is_remark| !is_remark).collect();
    reader.is_told = is_told;
    reader.read();
    reader.plan
}

struct Reader<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    this_year: i32,
    plan: Plan,
    /// Which tokens remain in the words for the ranking.
    is_kept: Vec<bool>,
    /// Which tokens tell of earlier results.
    is_told: Vec<bool>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            at += if self.is_kept[at] { self.step(at).unwrap_or(1) } else { 1 };
        }
        self.read_sounds();
        self.read_shifts();
        self.plan.words = self.kept_words();
    }

    /// Parses the part that starts at a token, and returns its number of tokens.
    fn step(&mut self, at: usize) -> Option<usize> {
        let text = self.text;
        if let Some((seed, taken)) = seeds::read(&self.tokens, at, text) {
            self.apply(AppliedKind::Seed, label::seed(&seed), at, taken);
            self.plan.seeds.push(seed);
            return Some(taken);
        }
        if self.tokens[at].kind == Kind::Quoted {
            return None;
        }
        let limit = rules::read_limit(&self.tokens, at, text, self.this_year).map(|(_, limit, taken)| (limit, taken));
        let limit = limit
            .or_else(|| names::album(&self.tokens, at, text).map(|(name, taken)| (Limit::Album(name), taken)))
            .or_else(|| self.artist(at).map(|(name, taken)| (Limit::Artist(name), taken)));
        if let Some((limit, taken)) = limit {
            let (kind, label) = label::limit(&limit);
            self.apply(kind, label, at, taken);
            self.plan.limits.add(limit);
            return Some(taken);
        }
        let denial = deny::read(&self.tokens, at, text, |word| sound_word(word).is_some())?;
        self.deny(&denial, at);
        Some(denial.taken)
    }

    fn artist(&self, at: usize) -> Option<(String, usize)> {
        if self.is_told[at] { None } else { names::artist(&self.tokens, at, self.text) }
    }

    fn apply(&mut self, kind: AppliedKind, label: String, at: usize, taken: usize) {
        let text = self.text[self.tokens[at].start..self.tokens[at + taken - 1].end].to_owned();
        self.plan.applied.push(Applied { kind, label, text });
        self.is_kept[at..at + taken].fill(false);
    }

    /// Removes a denied phrase from the words. A preference about sound is reversed; an absolute denial excludes tracks.
    fn deny(&mut self, denial: &deny::Denial, at: usize) {
        let denied = &self.tokens[at..at + denial.taken];
        let flipped: Vec<SoundPreference> = denied
            .iter()
            .filter_map(|token| sound_word(&token.word))
            .map(|preference| SoundPreference { side: preference.side.flipped(), ..preference })
            .collect();
        let label = if denial.is_soft { "not too" } else { "without" };
        self.apply(AppliedKind::Without, format!("{label} {}", denial.phrases.join(", ")), at, denial.taken);
        flipped.into_iter().for_each(|preference| self.prefer(preference));
        if !denial.is_soft {
            self.plan.limits.denied.extend(denial.phrases.iter().cloned());
        }
    }

    fn prefer(&mut self, preference: SoundPreference) {
        if self.plan.sounds.iter().all(|other| other.feature != preference.feature) {
            self.plan.sounds.push(preference);
        }
    }

    /// Reads words about sound that are not denied. After a seed, a comparative such as "calmer" is not a search word.
    fn read_sounds(&mut self) {
        for at in 0..self.tokens.len() {
            if !self.is_kept[at] || self.tokens[at].kind == Kind::Quoted {
                continue;
            }
            let Some(mut preference) = sound_word(&self.tokens[at].word) else { continue };
            let degree = at.checked_sub(1).filter(|before| self.is_kept[*before]);
            let degree = degree.map_or("", |before| self.tokens[before].word.as_str());
            let is_less = matches!(degree, "less" | "weniger" | "moins" | "menos");
            let is_more = matches!(degree, "more" | "plus" | "mas" | "mehr");
            if is_less {
                preference.side = preference.side.flipped();
            }
            preference.is_relative |= is_less || is_more;
            if is_less || preference.is_relative && !self.plan.seeds.is_empty() {
                let from = if is_less || is_more { at - 1 } else { at };
                self.apply(AppliedKind::Sound, label::sound(&preference), from, at + 1 - from);
            }
            self.prefer(preference);
        }
    }

    /// Reads "older", "longer": relative to a seed or to the results shown before, not to another word of the message.
    fn read_shifts(&mut self) {
        let says_little =
            |word: &str| MUSIC_NOUNS.contains(&word) || DANGLING.contains(&word) || FILLERS.contains(&word);
        for at in 0..self.tokens.len() {
            let shift = match self.tokens[at].word.as_str() {
                "older" | "alter" | "altere" | "alteres" => Shift::Older,
                "newer" | "neuer" | "neueres" | "neuere" => Shift::Newer,
                "longer" | "langer" | "langere" => Shift::Longer,
                "shorter" | "kurzer" | "kurzere" => Shift::Shorter,
                _ => continue,
            };
            let others = self.tokens.iter().enumerate().filter(|(other, _)| *other != at && self.is_kept[*other]);
            let stands_alone =
                others.into_iter().all(|(_, token)| says_little(&token.word) || sound_word(&token.word).is_some());
            if self.is_kept[at] && stands_alone {
                self.is_kept[at] = false;
                self.plan.shifts.push(shift);
            }
        }
    }

    /// The remaining words in order, without connectives whose following phrase was removed.
    fn kept_words(&self) -> String {
        let mut pieces: Vec<&str> = Vec::new();
        let places: Vec<usize> = (0..self.tokens.len()).collect();
        for run in places.chunk_by(|a, b| self.is_kept[*a] == self.is_kept[*b]) {
            let (mut from, mut to) = (run[0], run[run.len() - 1] + 1);
            if !self.is_kept[from] {
                continue;
            }
            while to < self.tokens.len() && to > from && self.dangles(to - 1) {
                to -= 1;
            }
            while from > 0 && from < to && self.dangles(from) {
                from += 1;
            }
            if from < to {
                pieces.push(&self.text[self.tokens[from].start..self.tokens[to - 1].end]);
            }
        }
        pieces.join(" ")
    }

    fn dangles(&self, at: usize) -> bool {
        self.tokens[at].kind != Kind::Quoted && DANGLING.contains(&self.tokens[at].word.as_str())
    }
}

/// Connectives without a meaning after their phrase was removed.
const DANGLING: &[&str] = &[
    "and", "but", "or", "that", "which", "are", "is", "from", "in", "the", "by", "with", "und", "aber", "oder", "die",
    "das", "sind", "mit", "et", "mais", "ou", "qui", "que", "sont", "des", "de", "y", "pero", "o", "son", "just",
    "please", "only", "were",
];
const FILLERS: &[&str] =
    &["no", "make", "it", "them", "a", "bit", "little", "much", "some", "bitte", "etwas", "nein", "rather"];

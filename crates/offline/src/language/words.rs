//! Known words by their role (`grammar/words.txt`).

use std::collections::{HashMap, HashSet};

use super::text::{Likeness, Word, fold, folded, likeness};

/// The languages of the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lang {
    En,
    De,
    Fr,
    Es,
}

impl Lang {
    pub(crate) const ALL: [Self; 4] = [Self::En, Self::De, Self::Fr, Self::Es];

    pub(crate) fn parse(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::En),
            "de" => Some(Self::De),
            "fr" => Some(Self::Fr),
            "es" => Some(Self::Es),
            _ => None,
        }
    }
}

pub(crate) struct Words {
    heads: Vec<Vec<String>>,
    tails: Vec<Vec<String>>,
    leads: Vec<Vec<String>>,
    languages: HashMap<Lang, HashSet<String>>,
    sets: HashMap<&'static str, HashSet<String>>,
    values: HashMap<&'static str, HashMap<String, &'static str>>,
}

impl Words {
    pub(crate) fn new(data: &'static str) -> Self {
        let mut words = Self {
            heads: Vec::new(),
            tails: Vec::new(),
            leads: Vec::new(),
            languages: HashMap::new(),
            sets: HashMap::new(),
            values: HashMap::new(),
        };
        for line in data.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, list)) = line.split_once(": ") else { continue };
            let (name, lang) = name.split_once(' ').map_or((name, None), |(name, code)| (name, Lang::parse(code)));
            words.learn(name, lang, list.split(", "));
        }
        for phrases in [&mut words.heads, &mut words.tails, &mut words.leads] {
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
        }
        words
    }

    fn learn(&mut self, name: &'static str, lang: Option<Lang>, list: impl Iterator<Item = &'static str>) {
        match (name, lang) {
            ("head", _) => self.heads.extend(list.map(folded)),
            ("tail", _) => self.tails.extend(list.map(folded)),
            ("lead", _) => self.leads.extend(list.map(folded)),
            ("lang", Some(lang)) => self.languages.entry(lang).or_default().extend(list.map(fold)),
            ("lemma" | "number" | "place", _) => {
                let pairs = list.filter_map(|pair| pair.split_once('=')).map(|(word, value)| (fold(word), value));
                self.values.entry(name).or_default().extend(pairs);
            }
            (name, _) => self.sets.entry(name).or_default().extend(list.map(|phrase| folded(phrase).join(" "))),
        }
    }

    pub(crate) fn is(&self, set: &str, word: &str) -> bool {
        self.sets.get(set).is_some_and(|words| words.contains(word))
    }

    /// The same, with a typo allowed.
    pub(crate) fn is_nearly(&self, set: &str, word: &str) -> bool {
        let alike = |known: &String| likeness(known, word) >= Likeness::Near;
        self.is(set, word) || word.len() >= 5 && self.sets.get(set).is_some_and(|words| words.iter().any(alike))
    }

    /// The basic form of a verb: "bought" becomes "buy".
    pub(crate) fn lemma<'a>(&'a self, word: &'a str) -> &'a str {
        self.value("lemma", word).unwrap_or(word)
    }

    pub(crate) fn is_past(&self, word: &str) -> bool {
        self.value("lemma", word).is_some()
    }

    pub(crate) fn number(&self, word: &str) -> Option<usize> {
        if let Ok(number) = word.parse() {
            return Some(number);
        }
        self.value("number", word).and_then(|number| number.parse().ok())
    }

    /// A position in a list: "second" is 2, "last" is -1, "3rd" is 3.
    pub(crate) fn place(&self, word: &str) -> Option<i64> {
        if let Some(place) = self.value("place", word) {
            return place.parse().ok();
        }
        let digits = word.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let suffix = &word[digits.len()..];
        matches!(suffix, "st" | "nd" | "rd" | "th" | "e" | "er" | "eme" | "re" | "o" | "a")
            .then(|| digits.parse().ok())
            .flatten()
    }

    fn value(&self, map: &str, word: &str) -> Option<&'static str> {
        self.values.get(map).and_then(|values| values.get(word)).copied()
    }

    /// The words without "please", "could you" and greetings around them. At least one word remains.
    pub(crate) fn bare<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        let words = without_heads(words, &self.heads);
        without_tails(words, &self.tails)
    }

    /// The search words without "some", "a few" and "good" before them.
    pub(crate) fn without_leads<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        without_heads(words, &self.leads)
    }

    /// The probable language of a text, if its function words show it.
    pub(crate) fn lang(&self, words: &[Word]) -> Option<Lang> {
        let votes = |lang: Lang| {
            let known = self.languages.get(&lang);
            words.iter().filter(|word| known.is_some_and(|known| known.contains(&word.folded))).count()
        };
        let most = Lang::ALL.into_iter().rev().max_by_key(|lang| votes(*lang))?;
        (votes(most) > 0).then_some(most)
    }
}

fn without_heads<'w>(mut words: &'w [Word], phrases: &[Vec<String>]) -> &'w [Word] {
    let starts = |words: &[Word], phrase: &[String]| {
        words.len() > phrase.len() && phrase.iter().zip(words).all(|(known, word)| *known == word.folded)
    };
    while let Some(phrase) = phrases.iter().find(|phrase| starts(words, phrase)) {
        words = &words[phrase.len()..];
    }
    words
}

fn without_tails<'w>(mut words: &'w [Word], phrases: &[Vec<String>]) -> &'w [Word] {
    let ends = |words: &[Word], phrase: &[String]| {
        words.len() > phrase.len()
            && phrase.iter().rev().zip(words.iter().rev()).all(|(known, word)| *known == word.folded)
    };
    while let Some(phrase) = phrases.iter().find(|phrase| ends(words, phrase)) {
        words = &words[..words.len() - phrase.len()];
    }
    words
}

//! German, French and Spanish words with their English meaning, from `assets/lexicon.txt`.
//!
//! A line has an English meaning and the forms of each language, with `|` between them: lower case without accents, `-`
//! between the words of a longer form. `!` marks a form that is also an English word: it says nothing about the language.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use frostem::{Algorithm, Stemmer};

use crate::stop::TextLanguage;

/// The languages of the file, in its order.
pub(crate) const LANGUAGES: [TextLanguage; 3] = [TextLanguage::German, TextLanguage::French, TextLanguage::Spanish];
/// The largest number of words in one form ("mot de passe").
pub(crate) const LONGEST_FORM: usize = 3;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(include_str!("../assets/lexicon.txt")));

struct Lexicon {
    english: HashSet<&'static str>,
    languages: [Forms; 3],
}

struct Forms {
    exact: HashMap<String, Entry>,
    stems: HashMap<String, &'static str>,
    stemmer: Stemmer,
}

#[derive(Clone, Copy)]
struct Entry {
    meaning: &'static str,
    is_english_too: bool,
}

impl Lexicon {
    fn read(file: &'static str) -> Self {
        let algorithms = [Algorithm::German, Algorithm::French, Algorithm::Spanish];
        let mut languages = algorithms.map(|algorithm| Forms {
            exact: HashMap::new(),
            stems: HashMap::new(),
            stemmer: Stemmer::new(algorithm),
        });
        let mut english = HashSet::new();
        for line in file.lines() {
            let mut columns = line.split('|');
            let meaning = columns.next().unwrap_or_default();
            english.extend(meaning.split(' '));
            for (forms, column) in languages.iter_mut().zip(columns) {
                column.split_whitespace().for_each(|form| forms.add(form, meaning));
            }
        }
        Self { english, languages }
    }
}

impl Forms {
    fn add(&mut self, marked: &str, meaning: &'static str) {
        let form = marked.trim_start_matches('!').replace('-', " ");
        let is_english_too = marked.starts_with('!');
        if !is_english_too && form.len() >= SHORTEST_STEMMED && !form.contains(' ') {
            self.stems.entry(self.stemmer.stem(&form).into_owned()).or_insert(meaning);
        }
        self.exact.entry(form).or_insert(Entry { meaning, is_english_too });
    }

    fn meaning(&self, word: &str) -> Option<&'static str> {
        let of_stem = || self.stems.get(&*self.stemmer.stem(word)).copied().filter(|_| word.len() >= SHORTEST_STEMMED);
        self.exact.get(word).map(|entry| entry.meaning).or_else(of_stem)
    }
}

const SHORTEST_STEMMED: usize = 4;

/// Whether a word, lower case without accents, is the English meaning of another.
pub(crate) fn is_english(word: &str) -> bool {
    LEXICON.english.contains(word)
}

/// Whether a word is known in a language and is not spelled like an English word.
pub(crate) fn is_surely(language: usize, word: &str) -> bool {
    let entry = LEXICON.languages[language].exact.get(word);
    entry.is_some_and(|entry| !entry.is_english_too && !is_english(word))
}

/// The stem of a word of a language.
pub(crate) fn stem(language: usize, word: &str) -> Cow<'_, str> {
    LEXICON.languages[language].stemmer.stem(word)
}

/// The English meaning of a form of several words.
pub(crate) fn phrase(language: usize, form: &str) -> Option<&'static str> {
    LEXICON.languages[language].exact.get(form).map(|entry| entry.meaning)
}

/// The English meaning of a word in a language. Of a German compound, that of its parts: "Kartoffelsuppe" is a potato soup.
pub(crate) fn meaning(language: usize, word: &str) -> Option<Cow<'static, str>> {
    let forms = &LEXICON.languages[language];
    let known = forms.meaning(word).map(Cow::Borrowed);
    known.or_else(|| if LANGUAGES[language] == TextLanguage::German { of_compound(forms, word) } else { None })
}

/// The longest known end decides. The first part may have a letter between it and the end ("Geburtstag-s-lied").
fn of_compound(forms: &Forms, word: &str) -> Option<Cow<'static, str>> {
    const SHORTEST_FIRST: usize = 3;
    const SHORTEST_END: usize = 5;
    let is_cut = |at: &usize| word.is_char_boundary(*at) && word.len() - at >= SHORTEST_END;
    let (at, end) = (SHORTEST_FIRST..word.len()).filter(is_cut).find_map(|at| {
        let end = forms.exact.get(&word[at..]).filter(|entry| !entry.is_english_too)?;
        Some((at, end.meaning))
    })?;
    let first = &word[..at];
    let bare = ["en", "es", "s", "n"].iter().find_map(|between| first.strip_suffix(between));
    match forms.meaning(first).or_else(|| forms.meaning(bare?)) {
        Some(first) => Some(format!("{first} {end}").into()),
        None => Some(end.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::is_listed;

    #[test]
    fn words_are_found_by_form_by_stem_and_by_parts() {
        let [de, fr, es] = [0, 1, 2];
        for (language, form, expected) in [
            (de, "regen", Some("rain")),
            (de, "kartoffelsuppe", Some("potato soup")),
            (de, "geburtstagskuchen", Some("birthday cake")),
            (de, "staubige", None),
            (fr, "dansait", Some("dance")),
            (es, "guitarra", Some("guitar")),
            (es, "xyz", None),
        ] {
            assert_eq!(meaning(language, form).as_deref(), expected, "{form}");
        }
        assert_eq!((phrase(fr, "mot de passe"), phrase(de, "regen am fenster")), (Some("password"), None));
        assert!(is_surely(de, "regen") && !is_surely(de, "brief") && !is_surely(fr, "piano"));
    }

    #[test]
    fn every_line_has_a_meaning_and_a_column_for_each_language() {
        for line in include_str!("../assets/lexicon.txt").lines() {
            assert!(line.split('|').count() == 1 + LANGUAGES.len() && !line.starts_with('|'), "{line}");
            // A denied word excludes each word of its meaning.
            let is_function_word = |word: &str| is_listed(TextLanguage::English, word);
            assert!(!line.split('|').next().is_some_and(|meaning| meaning.split(' ').any(is_function_word)), "{line}");
            assert!(line.is_ascii() && line.to_lowercase() == line, "{line}: lower case without accents");
        }
    }
}

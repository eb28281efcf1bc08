//! Words: converts text in any script into the terms for BM25.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::stop::content_words;
use frostem::{Algorithm, Stemmer};
use text::fold;
pub use text::is_unspaced;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// One term and its position in the original text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub term: String,
    pub start: usize,
    pub end: usize,
}

/// Every word of a text, folded (`Björk` → `bjork`) and stemmed by script. Chinese and Japanese text becomes overlapping
/// pairs of characters.
pub fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    for (start, run) in runs(text) {
        let Some(first) = run.chars().next() else { continue };
        if is_unspaced(first) {
            pairs(start, run, &mut found);
        } else if folded_initial(first).is_some() {
            found.push(Word { term: term(run), start, end: start + run.len() });
        }
    }
    found
}

/// The content words of a query; all words if it has only function words (`The The`).
pub fn telling_words(text: &str) -> Vec<Word> {
    let telling: Vec<Word> = content_words(text).into_iter().map(|content| content.word).collect();
    if telling.is_empty() { words(text) } else { telling }
}

/// The terms that a query is searched by, with their weights. A term that is said four times counts twice as much as one that is
/// said once: repetition stresses a word, and a list of wishes repeats the noun of each.
pub fn weighted_terms(text: &str) -> BTreeMap<String, f32> {
    let mut counts: BTreeMap<String, f32> = BTreeMap::new();
    for word in telling_words(text) {
        *counts.entry(word.term).or_default() += 1.0;
    }
    counts.values_mut().for_each(|count| *count = count.sqrt());
    counts
}

/// Whether a word of a text, as it is written there, has this folded form.
pub fn has_form(written: &str, form: &str) -> bool {
    written.eq_ignore_ascii_case(form) || !written.is_ascii() && fold(written) == form
}

pub fn is_stop_word(term: &str) -> bool {
    STOP_WORDS.binary_search(&term).is_ok()
}

/// In the stemmed form of [`words`], in byte order. Negations are not stop words: "no drums" is not "drums".
const STOP_WORDS: [&str; 31] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "of", "on", "or",
    "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];

/// Runs of letters and digits. A run never mixes a script without spaces with other scripts. An apostrophe between
/// letters is part of the run (`don't`).
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(is_word_char)?;
        let unspaced = text[start..].chars().next().is_some_and(is_unspaced);
        let inside = |c: char| {
            is_word_char(c) && (c.is_ascii() && !unspaced || is_unspaced(c) == unspaced || is_combining_mark(c))
        };
        let end = text[start..].find(|c| !inside(c)).map_or(text.len(), |at| start + at);
        rest = end;
        Some((start, &text[start..end]))
    })
}

/// ASCII first: most letters are, and the tables of Unicode take several times as long.
fn is_word_char(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() || is_combining_mark(c) }
}

fn folded_initial(c: char) -> Option<char> {
    if c.is_ascii() { Some(c.to_ascii_lowercase()) } else { text::fold_char(c).next() }
}

fn pairs(start: usize, run: &str, found: &mut Vec<Word>) {
    let places: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    let last = places.len() - 1;
    for (first, &from) in places[..last].iter().enumerate() {
        let to = places[(first + 2).min(last)];
        if first > 0 && first + 1 == last {
            break;
        }
        found.push(Word { term: run[from..to].nfkc().collect(), start: start + from, end: start + to });
    }
}

fn term(run: &str) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));
    static RUSSIAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::Russian));
    let folded = fold(run);
    match folded.chars().next() {
        Some('a'..='z') => english(&ENGLISH, &folded),
        Some('\u{400}'..='\u{52f}') => RUSSIAN.stem(&folded).into_owned(),
        _ => folded,
    }
}

/// The stemmer changes `cosy` to `cosi`, which is also the folded form of `così`. Here a final `y` stays `y`, and a final
/// `i` stays `i`.
fn english(stemmer: &Stemmer, folded: &str) -> String {
    let stem = stemmer.stem(folded);
    match stem.strip_suffix('i') {
        Some(_) if folded.ends_with('i') || folded.ends_with("is") => stem.into_owned(),
        Some(root) => format!("{root}y"),
        None => stem.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> String {
        words(text).into_iter().map(|word| word.term).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_spellings_of_a_word_become_one_term_in_every_script() {
        for (text, expected) in [
            ("Björk BJÖRK Bjo\u{308}rk", "bjork bjork bjork"),
            ("Running, runs — run!", "run run run"),
            ("Кино и песни; песня", "кин и песн песн"),
            ("宇多田ヒカル", "宇多 多田 田ヒ ヒカ カル"),
            ("海", "海"),
            ("夜に駆けるfeat.YOASOBI2", "夜に に駆 駆け ける feat yoasobi2"),
            ("東京é 東京é東 東京e\u{301}tude 海Ærø", "東京 e 東京 e 東 東京 etud 海 aero"),
            ("소녀시대 노래", "소녀시대 노래"),
            ("Sigur Rós – Ágætis byrjun", "sigur ros agaeti byrjun"),
            ("cosy cosies così happy happiness taxi taxis", "cosy cosy cosi happy happy taxi taxi"),
            ("Straße 80s ＡＢＣ", "strass 80s abc"),
            ("", ""),
            ("!!!", ""),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn a_word_has_its_position_in_the_text() {
        for text in ["Så länge – Кино!", "宇多田 sang", "a-b c"] {
            for word in words(text) {
                assert!(!text[word.start..word.end].contains([' ', '–', '!', '-']), "{word:?} in {text}");
            }
        }
    }

    #[test]
    fn stop_words_are_used_only_if_there_are_no_other_words() {
        let told = |text| telling_words(text).into_iter().map(|word| word.term).collect::<Vec<_>>().join(" ");
        assert_eq!(told("the sound of the sea"), "sea");
        assert_eq!(told("The The"), "the the");
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn a_word_said_four_times_weighs_twice_as_much() {
        let weighted = weighted_terms("electric guitar, guitars, guitar solo, the guitar");
        let weight = |term: &str| weighted.get(term).copied();
        assert_eq!((weight("guitar"), weight("solo"), weight("the")), (Some(2.0), Some(1.0), None));
    }

    #[test]
    fn case_and_accents_are_no_other_form() {
        assert!(has_form("Haunting", "haunting") && has_form("BJÖRK", "bjork") && has_form("Straße", "strasse"));
        assert!(!has_form("haunted", "haunting") && !has_form("Björks", "bjork"));
    }
}

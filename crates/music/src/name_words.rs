//! The words by which a track is found in a list: each word of a query must begin a word of its names.
//!
//! The words of a track are stored sorted, each after a space. The words of a query are sorted too, so that one LIKE
//! pattern finds all of them: `% bjo% jog%`.

use std::collections::BTreeSet;

use text::{fold, is_unspaced};

/// Longer words are cut, in names and in queries. The databases limit the size of an index entry.
const MAX_LETTERS: usize = 32;
/// More words of one name are ignored: a title may have thousands.
const MAX_NAME_WORDS: usize = 100;
/// More words of one query are ignored.
const MAX_QUERY_WORDS: usize = 16;

/// The words of these names, sorted, each after a space; one space if there are none. Chinese and Japanese are written without spaces, so that a
/// word may begin at every character of them.
pub fn stored_words(names: &[&str]) -> String {
    let mut words = BTreeSet::new();
    for name in names {
        words.extend(runs(name).iter().flat_map(|run| beginnings(run)).take(MAX_NAME_WORDS));
    }
    format!(" {}", words.into_iter().collect::<Vec<_>>().join(" "))
}

/// A LIKE pattern that finds the stored words of the tracks in which every word of the query begins a word. It has no
/// special characters but `%`. `None` if the query has no words.
pub fn words_pattern(query: &str) -> Option<String> {
    let words: BTreeSet<String> = runs(query).iter().map(|run| cut(run)).collect();
    let words: Vec<String> = words.into_iter().collect();
    // A word that begins the next one is found with it.
    let next = words.iter().skip(1).map(Some).chain([None]);
    let needed = words.iter().zip(next).filter(|(word, next)| next.is_none_or(|next| !next.starts_with(*word)));
    let patterns: Vec<String> = needed.take(MAX_QUERY_WORDS).map(|(word, _)| format!("% {word}%")).collect();
    (!patterns.is_empty()).then(|| patterns.concat().replace("%%", "%"))
}

fn beginnings(run: &str) -> impl Iterator<Item = String> {
    let n_beginnings = if run.starts_with(is_unspaced) { usize::MAX } else { 1 };
    run.char_indices().take(n_beginnings).map(|(at, _)| cut(&run[at..]))
}

fn cut(word: &str) -> String {
    word.chars().take(MAX_LETTERS).collect()
}

/// Folded runs of letters and digits; a run does not mix scripts with and without spaces. A name without letters and
/// digits ("÷", "?!") has its symbols, in a form that has no meaning in a query language.
fn runs(name: &str) -> Vec<String> {
    let folded = fold(&name.replace('&', " and ").replace(['\'', '’', '‘'], ""));
    let mut runs: Vec<String> = Vec::new();
    let mut last = None;
    for c in folded.chars() {
        let kind = c.is_alphanumeric().then(|| is_unspaced(c));
        match (kind, runs.last_mut()) {
            (Some(_), Some(run)) if kind == last => run.push(c),
            (Some(_), _) => runs.push(c.to_string()),
            (None, _) => {}
        }
        last = kind;
    }
    if runs.is_empty() {
        let symbols: String = folded.chars().filter(|c| !c.is_whitespace() && !c.is_control()).map(wide).collect();
        runs.extend((!symbols.is_empty()).then_some(symbols));
    }
    runs
}

/// The full-width form of an ASCII symbol.
fn wide(c: char) -> char {
    if c.is_ascii() { char::from_u32(c as u32 + 0xfee0).unwrap_or(c) } else { c }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_stored_sorted_and_folded_in_every_script() {
        for (names, expected) in [
            (vec!["Jóga", "Björk", "Homogenic"], " bjork homogenic joga"),
            (vec!["Don't Go", "The Quays & Sons", ""], " and dont go quays sons the"),
            (vec!["東京tower"], " tower 京 東京"),
            (vec!["?!", "÷"], " ÷ ？！"),
            (vec!["Straße", "Møl"], " mol strasse"),
            (vec!["", ""], " "),
        ] {
            assert_eq!(stored_words(&names), expected);
        }
    }

    #[test]
    fn a_name_of_any_length_has_a_limited_number_of_words() {
        for name in ["夜に駆ける".repeat(1000), (0..1000).map(|n| format!("w{n} ")).collect()] {
            assert_eq!(stored_words(&[&name]).split_whitespace().count(), if name.is_ascii() { 100 } else { 5 });
        }
    }

    #[test]
    fn a_pattern_has_every_word_of_the_query_once() {
        for (query, expected) in [
            ("jóg BJÖ", Some("% bjo% jog%")),
            ("lo low low", Some("% low%")),
            ("100% _", Some("% 100%")),
            ("?", Some("% ？%")),
            ("東京", Some("% 東京%")),
            ("  ", None),
        ] {
            assert_eq!(words_pattern(query).as_deref(), expected, "{query}");
        }
    }

    /// What `LIKE` does with a pattern whose only special character is `%`.
    fn is_like(text: &str, pattern: &str) -> bool {
        let mut rest = Some(text);
        for part in pattern.split('%').filter(|part| !part.is_empty()) {
            rest = rest.and_then(|rest| rest.split_once(part)).map(|(_, after)| after);
        }
        rest.is_some()
    }

    proptest! {
        #[test]
        fn a_pattern_finds_a_name_if_each_word_of_the_query_begins_a_word(
            name in "[ab ]{0,12}", query in "[ab ]{0,8}"
        ) {
            let begins = |word: &str| name.split_whitespace().any(|of_name| of_name.starts_with(word));
            let expected = query.split_whitespace().all(begins);
            let pattern = words_pattern(&query);
            prop_assert_eq!(pattern.is_none_or(|pattern| is_like(&stored_words(&[&name]), &pattern)), expected);
        }

        #[test]
        fn a_pattern_has_no_characters_with_a_meaning(query in "\\PC{0,20}") {
            let pattern = words_pattern(&query).unwrap_or_default();
            prop_assert!(!pattern.contains(['_', '\\', '\'', '"', '*', '(', ':', '-']), "{}", pattern);
            prop_assert!(pattern.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric() || c == ' ' || c == '%'));
        }
    }
}

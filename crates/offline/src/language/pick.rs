//! Resolves references: positions in a list, "it", and titles typed from memory.

use super::{
    Language,
    text::{Likeness, fold, folded, likeness},
};

/// The items to which some words refer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pick {
    /// Certain, by index.
    These(Vec<usize>),
    /// Ambiguous: one of these.
    Which(Vec<usize>),
    /// This one, if one or two letters are mistyped.
    Mistyped(usize),
    /// A similar one.
    Perhaps(usize),
    Nothing,
}

/// A position counted from 1, or from the end (-1 is the last).
type Place = i64;

/// The positions in "the second one", "#3", "1 and 3", "2-4", "the first two", if the text contains nothing else.
pub(crate) fn places(language: &Language, text: &str) -> Option<Vec<Place>> {
    let words = folded(&with_ranges_spelled(text));
    let number_at = |at: usize| words.get(at).and_then(|_| number(language, &words, at));
    let mut places: Vec<Place> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let place = language.words.place(word);
        let next_number = number_at(at + 1);
        at += 1;
        match (place.or_else(|| number_at(at - 1)), next_number, places.last()) {
            (Some(1), Some(n), _) if place.is_some() => {
                places.extend(1..=n.min(MOST_PLACES));
                at += 1;
            }
            (Some(-1), Some(n), _) => {
                places.extend(-n.min(MOST_PLACES)..=-1);
                at += 1;
            }
            (Some(_), _, _)
                if place.is_none() && words.get(at).is_some_and(|next| language.words.is("counted", next)) =>
            {
                return None;
            }
            (Some(place), _, _) => places.push(place),
            (None, Some(to), Some(&from)) if language.words.is("through", word) && from > 0 => {
                places.extend(from + 1..=to.min(from + MOST_PLACES));
                at += 1;
            }
            (None, _, _) if language.words.is("pointing", word) => {}
            (None, _, _) => return None,
        }
    }
    (!places.is_empty() && !places.contains(&0)).then_some(places)
}

/// Maximum length of a range.
const MOST_PLACES: Place = 200;

/// "one" is a number only where a number is required: "number one", "one and three", not "the second one" or "one of
/// them".
fn number(language: &Language, words: &[String], at: usize) -> Option<Place> {
    let is_joint = |at: usize| words.get(at).is_some_and(|word| language.words.is("numbered", word));
    let is_article = matches!(words[at].as_str(), "one" | "uno" | "eins" | "un" | "une" | "una");
    if is_article && !is_joint(at + 1) && !at.checked_sub(1).is_some_and(is_joint) {
        return None;
    }
    language.words.number(&words[at]).and_then(|number| Place::try_from(number).ok())
}

/// Replaces "2-4" by "2 thru 4", because words are split at hyphens.
fn with_ranges_spelled(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let between_digits = spelled.ends_with(|before: char| before.is_ascii_digit())
            && letters.peek().is_some_and(|after| after.is_ascii_digit());
        match letter {
            '-' | '–' if between_digits => spelled.push_str(" thru "),
            letter => spelled.push(letter),
        }
    }
    spelled
}

/// The index of a position in a list of `n` items.
pub(crate) fn index(place: Place, n: usize) -> Option<usize> {
    let n = Place::try_from(n).ok()?;
    let index = if place < 0 { n + place } else { place - 1 };
    usize::try_from(index).ok().filter(|_| index < n)
}

/// How well the words match a title, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    /// The same words.
    Full,
    /// The title contains every word.
    Part,
    /// The title contains every word, some with a typo.
    Typo,
    /// The title contains at least half of the words.
    Half,
}

/// The title to which some words refer.
pub(crate) fn by_title<'a>(language: &Language, text: &str, titles: impl Iterator<Item = &'a str>) -> Pick {
    let wanted = content(language, text);
    if wanted.is_empty() {
        return Pick::Nothing;
    }
    let tiers = titles.enumerate().filter_map(|(at, title)| Some((tier(language, text, &wanted, title)?, at)));
    let tiers: Vec<_> = tiers.collect();
    let Some(best) = tiers.iter().map(|(tier, _)| *tier).min() else { return Pick::Nothing };
    let found: Vec<_> = tiers.into_iter().filter(|(tier, _)| *tier == best).map(|(_, at)| at).collect();
    match (best, found.as_slice()) {
        (Tier::Full | Tier::Part, [_]) => Pick::These(found),
        (Tier::Typo, [only]) => Pick::Mistyped(*only),
        (Tier::Half, [only]) => Pick::Perhaps(*only),
        _ => Pick::Which(found),
    }
}

fn tier(language: &Language, text: &str, wanted: &[String], title: &str) -> Option<Tier> {
    if fold(text) == fold(title) {
        return Some(Tier::Full);
    }
    let title = content(language, title);
    let likenesses: Vec<_> = wanted.iter().map(|word| best_likeness(word, &title)).collect();
    let n_same = likenesses.iter().filter(|likeness| **likeness == Likeness::Same).count();
    let n_alike = likenesses.iter().filter(|likeness| **likeness != Likeness::Different).count();
    let covers_title = title.iter().all(|word| best_likeness(word, wanted) == Likeness::Same);
    if n_same == wanted.len() {
        return Some(if covers_title { Tier::Full } else { Tier::Part });
    }
    if n_alike == wanted.len() {
        return Some(Tier::Typo);
    }
    (n_alike * 2 >= wanted.len()).then_some(Tier::Half)
}

fn best_likeness(word: &str, others: &[String]) -> Likeness {
    others.iter().map(|other| likeness(word, other)).max().unwrap_or(Likeness::Different)
}

/// The content words in their basic form; all words if there are only function words.
pub(crate) fn content(language: &Language, text: &str) -> Vec<String> {
    let all = folded(text);
    let telling: Vec<_> = all.iter().filter(|word| !language.words.is("small", word)).cloned().collect();
    let kept = if telling.is_empty() { all } else { telling };
    kept.into_iter().map(|word| language.words.lemma(&word).to_owned()).collect()
}

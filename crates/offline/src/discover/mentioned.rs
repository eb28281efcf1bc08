//! Titles that the user has put in quotes.

use super::COMPARED;
use crate::{language::text::folded, scene::Scene};

/// Titles that the user has put in quotes before, in order. If no list was shown, "these songs" refers to them.
pub(super) fn mentioned(scene: &Scene) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    for exchange in &scene.earlier {
        for title in quoted(&exchange.message) {
            if !titles.iter().any(|known| folded(known) == folded(title)) {
                titles.push(title.to_owned());
            }
        }
    }
    titles.truncate(COMPARED);
    titles
}

/// Whether "these" refers to titles of the user and not to the last list.
pub(super) fn says_i_mentioned(scene: &Scene) -> bool {
    let words = folded(&scene.now.message).join(" ");
    ["i mentioned", "i named", "i listed"].iter().any(|own| words.contains(own))
}

/// The texts in quotes. An apostrophe inside a word is not a quote.
fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((at, open)) = rest.char_indices().find(|(at, letter)| {
        let is_inside = rest[..*at].chars().next_back().is_some_and(char::is_alphanumeric);
        matches!(letter, '"' | '“' | '„' | '«' | '‘') || *letter == '\'' && !is_inside
    }) {
        let inner = &rest[at + open.len_utf8()..];
        let closes = |(at, letter): &(usize, char)| match open {
            '\'' | '‘' => {
                let goes_on = inner[at + letter.len_utf8()..].chars().next().is_some_and(char::is_alphanumeric);
                matches!(letter, '\'' | '’') && !goes_on
            }
            _ => matches!(letter, '"' | '”' | '“' | '»'),
        };
        let Some((end, letter)) = inner.char_indices().find(closes) else { break };
        found.extend(Some(inner[..end].trim()).filter(|title| !title.is_empty()));
        rest = &inner[end + letter.len_utf8()..];
    }
    found
}

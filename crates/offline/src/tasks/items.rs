//! Splits the text after "add" into tasks.

use std::ops::Range;

use super::commands::Command;
use crate::language::{
    Language, cut,
    text::{Word, folded, trimmed, words},
};

/// The tasks in the text after "add". A part without a verb belongs to the part with a verb before it ("buy milk, eggs and
/// bread"). Without such a part, it is a separate task ("milk, eggs and bread").
pub(crate) fn items(language: &Language, text: &str) -> Vec<Command> {
    let quoted = quoted(text);
    if !quoted.is_empty() {
        return quoted.into_iter().map(add).collect();
    }
    let words = words(text);
    if language.words.is("blank", &folded(text).join(" ")) {
        return vec![Command::AddWhat];
    }
    let mut items: Vec<(Range<usize>, bool)> = Vec::new();
    for part in parts(text, &words) {
        let has_verb = language.words.is("verb", &words[part.start].folded);
        match items.last_mut() {
            Some((item, true)) if !has_verb => item.end = part.end,
            _ => items.push((part, has_verb)),
        }
    }
    items.into_iter().map(|(item, _)| add(cut(text, &words[item]))).collect()
}

/// The quoted parts of `"a"` or `"a" and "b"`, if the text contains nothing else.
fn quoted(text: &str) -> Vec<&str> {
    let pieces: Vec<_> = text.split(['"', '“', '”', '„', '«', '»']).collect();
    let is_glue = |piece: &&str| words(piece).iter().all(|word| is_and(&word.folded));
    if pieces.len() < 3 || !pieces.iter().step_by(2).all(is_glue) {
        return Vec::new();
    }
    pieces.into_iter().skip(1).step_by(2).filter(|piece| !words(piece).is_empty()).collect()
}

/// The groups of words between commas and "and".
pub(crate) fn parts(text: &str, words: &[Word]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut from = 0;
    for at in 0..words.len() {
        let is_break = at > 0 && text[words[at - 1].start..words[at].start].contains([',', ';', '&', '+', '\n']);
        if is_break {
            parts.push(from..at);
            from = at;
        }
        if is_and(&words[at].folded) {
            parts.push(from..at);
            from = at + 1;
        }
    }
    parts.push(from..words.len());
    parts.retain(|part| !part.is_empty());
    parts
}

/// In characters. `app` checks that these are the limits of its tool, which this crate does not know.
pub const LONGEST_TITLE: usize = 200;
pub const LONGEST_DESCRIPTION: usize = 2000;

/// A text that is too long for a title is also stored as the description.
pub(crate) fn add(text: &str) -> Command {
    let text = trimmed(text);
    // « rappelle-moi d'acheter »: the elided "de" belongs to the verb before it.
    let text = text.strip_prefix("d'").or_else(|| text.strip_prefix("d’")).unwrap_or(text);
    if let Some((title, description)) = split_note(text) {
        return Command::Add { title: title.to_owned(), description: Some(description.to_owned()) };
    }
    if text.chars().count() <= LONGEST_TITLE {
        return Command::Add { title: text.to_owned(), description: None };
    }
    let title = text::shortened_at_word(text, LONGEST_TITLE);
    Command::Add { title, description: Some(text::cut(text, LONGEST_DESCRIPTION).to_owned()) }
}

/// "buy milk with the note: oat, not soy".
fn split_note(text: &str) -> Option<(&str, &str)> {
    let words = words(text);
    let is_note =
        |word: &str| matches!(word, "note" | "description" | "comment" | "details" | "notiz" | "beschreibung");
    let note = words.iter().position(|word| is_note(&word.folded))?;
    let with =
        words[..note].iter().rposition(|word| matches!(word.folded.as_str(), "with" | "mit" | "avec" | "con"))?;
    let (title, description) = (cut(text, &words[..with]), cut(text, &words[note + 1..]));
    (note - with <= 2 && !title.is_empty() && !description.is_empty()).then_some((title, description))
}

pub(crate) fn is_and(word: &str) -> bool {
    matches!(word, "and" | "then" | "und" | "dann" | "et" | "puis" | "y" | "luego")
}

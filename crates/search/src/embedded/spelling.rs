//! Spelling correction: replaces a word that the library does not contain by the most similar known word, and joins two
//! words that the library writes as one.

use query::{
    gloss,
    stop::content_words,
    words::{Word, telling_words, words},
};
use tantivy::{Term, query::FuzzyTermQuery, schema::Field};

use super::{
    super::{IndexError, embed::Votes, topic::Topic},
    schema::Fields,
    snapshot::Snapshot,
};

/// The corrected wording; `None` if all words are known, or if no similar word is known. A German, French or Spanish word of
/// a message in that language is right, even if the library does not contain it.
pub(super) fn corrected(fields: &Fields, snapshot: &Snapshot, text: &str) -> Result<Option<String>, IndexError> {
    let said = words(text);
    let telling = telling_words(text);
    let is_of_its_language = gloss::knows(text);
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    for pair in said.windows(2) {
        if let Some(joined) = joined(fields, snapshot, text, pair)? {
            changes.push((pair[0].start, pair[1].end, joined));
        }
    }
    for word in &telling {
        let is_joined = changes.iter().any(|(from, to, _)| (*from..*to).contains(&word.start));
        let is_right = is_joined || is_of_its_language(&text[word.start..word.end]);
        if !is_right && let Some(near) = nearest(fields, snapshot, &word.term)? {
            changes.push((word.start, word.end, near));
        }
    }
    // A message that is surely about daily life is not corrected: it could look like a query about music then.
    if changes.is_empty() || Topic::of(text, Votes::default()).errand >= 1.0 {
        return Ok(None);
    }
    changes.sort_unstable();
    let (mut corrected, mut at) = (String::new(), 0);
    for (from, to, word) in changes {
        if from >= at {
            corrected.push_str(&text[at..from]);
            corrected.push_str(&word);
            at = to;
        }
    }
    corrected.push_str(&text[at..]);
    Ok(Some(corrected))
}

/// Whether a wording is in another language: by its words, or because most of its content words occur in no name, tag or
/// description.
pub(super) fn is_in_other_words(fields: &Fields, snapshot: &Snapshot, text: &str) -> Result<bool, IndexError> {
    if gloss::is_foreign(text) {
        return Ok(true);
    }
    let content = content_words(text);
    let mut n_known = 0;
    for word in content.iter().map(|content| &content.word) {
        let term = Term::from_field_text(fields.meaning, &word.term);
        n_known += usize::from(snapshot.searcher.doc_freq(&term)? > 0);
    }
    Ok(2 * n_known < content.len())
}

/// Joins two words, such as "back street" for "Backstreet", if the joined word has at least six letters and occurs in a
/// name.
fn joined(fields: &Fields, snapshot: &Snapshot, text: &str, pair: &[Word]) -> Result<Option<String>, IndexError> {
    const SHORTEST: usize = 6;
    let between = text.get(pair[0].end..pair[1].start).unwrap_or_default();
    let written = format!("{}{}", &text[pair[0].start..pair[0].end], &text[pair[1].start..pair[1].end]);
    if between != " " || written.chars().count() < SHORTEST {
        return Ok(None);
    }
    let Some(term) = words(&written).into_iter().next().map(|word| word.term) else { return Ok(None) };
    let is_name = snapshot.searcher.doc_freq(&Term::from_field_text(fields.names, &term))? > 0;
    Ok(is_name.then_some(written))
}

/// Maximum number of wrong letters in a word; none in a short word, because it would match unrelated words.
fn tolerance(term: &str) -> u8 {
    match term.chars().count() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// The known word with the fewest changed letters and the same first letter; the most frequent one if several are
/// equal.
fn nearest(fields: &Fields, snapshot: &Snapshot, term: &str) -> Result<Option<String>, IndexError> {
    let searched = [fields.names, fields.meaning, fields.lyrics];
    for field in searched {
        if snapshot.searcher.doc_freq(&Term::from_field_text(field, term))? > 0 {
            return Ok(None);
        }
    }
    let has_digit = term.chars().any(|c| c.is_ascii_digit());
    for distance in 1..=tolerance(term) {
        let mut best: Option<(u64, String)> = None;
        for field in searched.into_iter().filter(|_| !has_digit) {
            for (known, n_docs) in within(snapshot, field, term, distance)? {
                let is_better = best.as_ref().is_none_or(|(most, _)| n_docs > *most);
                // A word whose stem is different would be searched by another term.
                if is_better && words(&known).first().is_some_and(|word| word.term == known) {
                    best = Some((n_docs, known));
                }
            }
        }
        if let Some((_, known)) = best {
            return Ok(Some(known));
        }
    }
    Ok(None)
}

/// The words of a field with at most this many changed letters, and the number of documents of each.
fn within(snapshot: &Snapshot, field: Field, term: &str, distance: u8) -> Result<Vec<(String, u64)>, IndexError> {
    let query = FuzzyTermQuery::new(Term::from_field_text(field, term), distance, true);
    let initial = term.chars().next();
    let mut found = Vec::new();
    for reader in snapshot.searcher.segment_readers() {
        let index = reader.inverted_index(field)?;
        let mut near = index.terms().search(query.automaton()?).into_stream()?;
        while near.advance() {
            if let Ok(known) = std::str::from_utf8(near.key())
                && known.chars().next() == initial
            {
                found.push((known.to_owned(), u64::from(near.value().doc_freq)));
            }
        }
    }
    Ok(found)
}

//! Transliterates names to Latin letters: the query "kino" finds `Кино`, and "Металлика" finds `Metallica`.

/// The text in Latin letters; `None` if it contains no letters of another script.
pub fn latin(text: &str) -> Option<String> {
    if !text.chars().any(is_other_script) {
        return None;
    }
    let spelled: String = text.chars().map(letter).collect();
    let spelled = spelled.split_whitespace().collect::<Vec<_>>().join(" ");
    (!spelled.is_empty()).then_some(spelled)
}

/// The text, followed by its Latin spelling if it has one.
pub fn with_latin(text: &str) -> String {
    match latin(text) {
        Some(spelled) => format!("{text} {spelled}"),
        None => text.to_owned(),
    }
}

/// Scripts whose letters stand for sounds. Chinese characters are excluded, because their reading depends on the
/// language.
fn is_other_script(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{58f}' | '\u{5d0}'..='\u{64a}' | '\u{10a0}'..='\u{10ff}' | '\u{1f00}'..='\u{1fff}'
        | '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Without apostrophes, which would split a word: `ь` is transliterated as `'`.
fn letter(c: char) -> String {
    if c.is_ascii() || !is_other_script(c) {
        return c.to_string();
    }
    any_ascii::any_ascii_char(c).chars().filter(|c| c.is_ascii_alphanumeric() || *c == ' ').collect()
}

//! Names in other scripts as Latin letters: `Кино` is found by "kino", and `Metallica` by "Металлика".

/// A text in Latin letters, or `None` when it is written in them already (or has no letters).
pub fn latin(text: &str) -> Option<String> {
    if !text.chars().any(is_other_script) {
        return None;
    }
    let spelled: String = text.chars().map(letter).collect();
    let spelled = spelled.split_whitespace().collect::<Vec<_>>().join(" ");
    (!spelled.is_empty()).then_some(spelled)
}

/// A text with its Latin spelling after it, where it has another script.
pub fn with_latin(text: &str) -> String {
    match latin(text) {
        Some(spelled) => format!("{text} {spelled}"),
        None => text.to_owned(),
    }
}

/// Scripts with letters for sounds. Chinese characters are read differently by language, so that no table helps.
fn is_other_script(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{58f}' | '\u{5d0}'..='\u{64a}' | '\u{10a0}'..='\u{10ff}' | '\u{1f00}'..='\u{1fff}'
        | '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Apostrophes would cut a word in two: `ь` is written `'`.
fn letter(c: char) -> String {
    if c.is_ascii() || !is_other_script(c) {
        return c.to_string();
    }
    any_ascii::any_ascii_char(c).chars().filter(|c| c.is_ascii_alphanumeric() || *c == ' ').collect()
}

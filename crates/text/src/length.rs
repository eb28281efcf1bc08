//! Truncation.

/// The first `max_chars` characters, without a mark.
pub fn cut(text: &str, max_chars: usize) -> &str {
    text.char_indices().nth(max_chars).map_or(text, |(end, _)| &text[..end])
}

/// The text if it has at most `max_chars` characters; otherwise its start and "…", together at most as long.
pub fn shortened(text: &str, max_chars: usize) -> String {
    if cut(text, max_chars).len() == text.len() {
        return text.to_owned();
    }
    format!("{}…", cut(text, max_chars.saturating_sub(1)).trim_end())
}

/// Like [`shortened`], but ends after a whole word, unless that loses more than half.
pub fn shortened_at_word(text: &str, max_chars: usize) -> String {
    if cut(text, max_chars).len() == text.len() {
        return text.to_owned();
    }
    let start = cut(text, max_chars.saturating_sub(1));
    let end = start.rfind(' ').filter(|end| *end > start.len() / 2).unwrap_or(start.len());
    format!("{}…", start[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_the_mark_counts() {
        assert_eq!([cut("äöü", 2), cut("äöü", 3), cut("", 1), cut("äöü", 0)], ["äö", "äöü", "", ""]);
        assert_eq!([shortened("äöü", 3), shortened("äöüä", 3), shortened("a bcd", 3)], ["äöü", "äö…", "a…"]);
        let at_word = [("one two", 7), ("one two three", 9), ("one threefour", 12), ("wordwithoutend", 5)];
        let expected = ["one two", "one two…", "one threefo…", "word…"];
        assert_eq!(at_word.map(|(text, max_chars)| shortened_at_word(text, max_chars)), expected);
    }
}

//! Folding: different spellings of a word become equal.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Lower case without accents, so that `BJÖRK`, `Björk` and `bjork` are equal. Punctuation stays.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(fold_char).collect()
}

/// The folded form of one character: none for an accent, several for a ligature.
pub fn fold_char(c: char) -> impl Iterator<Item = char> {
    c.nfkc().flat_map(char::to_lowercase).flat_map(without_accent).filter(|c| !is_combining_mark(*c))
}

/// Chinese and Japanese are written without spaces; Korean puts spaces between words.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

fn without_accent(c: char) -> impl Iterator<Item = char> {
    // Letters without a Unicode decomposition that are often written as plain letters.
    let (first, second) = match c {
        'ß' => ('s', Some('s')),
        'æ' => ('a', Some('e')),
        'œ' => ('o', Some('e')),
        'ø' => ('o', None),
        'đ' | 'ð' => ('d', None),
        'ł' => ('l', None),
        'ı' => ('i', None),
        // These have a decomposition, but `й` is a separate letter and Hangul syllables are not letters with marks.
        'й' | '\u{ac00}'..='\u{d7a3}' => (c, None),
        _ => (base(c), None),
    };
    std::iter::once(first).chain(second)
}

fn base(c: char) -> char {
    if c.is_ascii() { c } else { std::iter::once(c).nfd().next().unwrap_or(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_word_are_equal_and_other_letters_stay() {
        for (text, expected) in [
            ("Björk BJÖRK Bjo\u{308}rk", "bjork bjork bjork"),
            ("Straße, Ægir & œuvre", "strasse, aegir & oeuvre"),
            ("Łódź · Ｆｕｌｌ ﬁn", "lodz · full fin"),
            ("Йод 한국 が", "йод 한국 か"),
        ] {
            assert_eq!(fold(text), expected, "{text}");
        }
    }
}

//! Letters in the form that is compared: lower case, without accents, in any script.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Chinese and Japanese are written without spaces; Korean puts spaces between words.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

/// Lower case without accents, so that `BJÖRK`, `Björk` and `bjork` are one word.
pub fn fold(run: &str) -> String {
    if run.is_ascii() {
        return run.to_ascii_lowercase();
    }
    run.nfkc().flat_map(folded_char).collect()
}

pub fn folded_char(c: char) -> impl Iterator<Item = char> {
    c.nfkc().flat_map(char::to_lowercase).flat_map(without_accent).filter(|c| !is_combining_mark(*c))
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

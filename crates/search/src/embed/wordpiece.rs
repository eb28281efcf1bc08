//! WordPiece: the tokenizer of the built-in models.

use std::{collections::HashMap, sync::LazyLock};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The number of each piece. Read when the first text is embedded, so that a server starts quickly.
static IDS: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut ids = HashMap::with_capacity(vocabulary().count());
    ids.extend(vocabulary().zip(0..));
    ids
});

const UNKNOWN: u32 = 100;
pub const START: u32 = 101;
pub const END: u32 = 102;
/// A longer word is one unknown piece, as in the reference implementation.
const MAX_WORD_CHARS: usize = 100;

/// Every piece of the vocabulary of BERT uncased, in the order of its number. MiniLM and the table distilled from it
/// share the vocabulary.
pub fn vocabulary() -> impl Iterator<Item = &'static str> {
    include_str!("../../assets/embedder/vocab.txt").lines()
}

/// Whether a word is one piece.
pub(crate) fn is_piece(word: &str) -> bool {
    IDS.contains_key(word)
}

/// The pieces of a text, without the special tokens around it.
pub fn encode(text: &str) -> Vec<u32> {
    let mut pieces = Vec::new();
    for word in split(text) {
        cut(&word, &mut pieces);
    }
    pieces
}

/// Takes the longest known prefix, then the longest known continuation, and so on. If a part is unknown, the
/// whole word is.
fn cut(word: &str, pieces: &mut Vec<u32>) {
    let before = pieces.len();
    let mut rest = word;
    let mut candidate = String::new();
    if word.chars().count() > MAX_WORD_CHARS {
        return pieces.push(UNKNOWN);
    }
    while !rest.is_empty() {
        let prefix = if rest.len() == word.len() { "" } else { "##" };
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
        let longest = ends.into_iter().find_map(|end| {
            candidate.clear();
            candidate.push_str(prefix);
            candidate.push_str(&rest[..end]);
            IDS.get(candidate.as_str()).map(|id| (*id, end))
        });
        let Some((id, end)) = longest else {
            pieces.truncate(before);
            return pieces.push(UNKNOWN);
        };
        pieces.push(id);
        rest = &rest[end..];
    }
}

/// Lower-case words without accents. Each punctuation mark and each Chinese character is a separate word.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let clean = text.chars().filter(|c| !is_dropped(*c)).flat_map(char::to_lowercase).nfd();
    for c in clean.filter(|c| !is_combining_mark(*c)) {
        let alone = is_punctuation(c) || is_chinese(c);
        if (alone || c.is_whitespace()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if alone {
            words.push(c.to_string());
        } else if !c.is_whitespace() {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The published tokenizer defines these characters, so they are not those of the crate `text`.
fn is_dropped(c: char) -> bool {
    c == '\u{fffd}' || (c.is_control() && !c.is_whitespace()) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}')
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}'
            | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}'
            | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff3d}')
            && !matches!(c, '\u{2044}' | '\u{2052}')
}

fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected ids come from the model's reference tokenizer.
    #[test]
    fn pieces_are_those_of_the_reference_tokenizer() {
        for (text, expected) in REFERENCE {
            assert_eq!(encode(text), expected, "{text}");
        }
    }

    const REFERENCE: [(&str, &[u32]); 12] = [
        ("Hello, world! It's a rainy night", &[7592, 1010, 2088, 999, 2009, 1005, 1055, 1037, 16373, 2305]),
        (
            "Björk & Sigur Rós — Ágætis byrjun",
            &[1038, 5558, 8024, 1004, 9033, 27390, 20996, 2015, 1517, 12943, 29667, 7315, 2011, 2099, 19792],
        ),
        ("宇多田ヒカル「初恋」", &[1819, 100, 1911, 1719, 30226, 30259, 1641, 100, 100, 1642]),
        (
            "Кино: группа крови",
            &[1189, 10325, 18947, 14150, 1024, 1183, 16856, 29748, 29746, 29746, 10260, 1189, 16856, 19259, 10325],
        ),
        ("4-on-the-floor kick, 120bpm", &[1018, 1011, 2006, 1011, 1996, 1011, 2723, 5926, 1010, 6036, 2497, 9737]),
        ("unaffable thrumming lo-fi", &[14477, 20961, 3468, 27046, 25057, 8840, 1011, 10882]),
        ("naïve café… “quoted”", &[15743, 7668, 1529, 1523, 9339, 1524]),
        (
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            &[100],
        ),
        ("", &[]),
        ("한국어 노래", &[1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 1456, 30011, 29994, 30007]),
        ("ｆｕｌｌ　ｗｉｄｔｈ", &[100, 100]),
        ("a\u{200b}b tab\there", &[11113, 21628, 2182]),
    ];
}

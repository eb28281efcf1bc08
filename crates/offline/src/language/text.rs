//! Typed words: folding, small typos, numbers.

/// One word of a text: its position and its folded form.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) folded: String,
}

/// The words of a text. Pieces without a letter or digit are skipped.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    for piece in text.split(is_gap) {
        let folded = fold(piece);
        if !folded.is_empty() {
            words.push(Word { start: at, end: at + piece.len(), folded });
        }
        // Every separator is one `char`, so its width is the gap between the pieces.
        at += piece.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    words
}

/// Words end at spaces and hyphens: "to-do" and "montre-moi" are two words each.
fn is_gap(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '-' | '‐' | '–' | '—')
}

/// Lower case, without accents, apostrophes, hyphens or other marks: "Café's" and "cafes" are equal.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = text::fold(text);
    folded.retain(char::is_alphanumeric);
    folded
}

/// The words of a text in folded form.
pub(crate) fn folded(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.folded).collect()
}

/// A text without the quotes and marks around it.
pub(crate) fn trimmed(text: &str) -> &str {
    let is_wrapping = |letter: char| {
        letter.is_whitespace()
            || matches!(letter, '"' | '“' | '”' | '„' | '«' | '»' | '‘' | ',' | ';' | ':' | '`' | '*')
    };
    let text = text.trim_matches(is_wrapping);
    let text = text.trim_end_matches(['.', '!', '?', '…']).trim_matches(is_wrapping);
    // A single quote may be an apostrophe, so it is removed only as a pair around the whole text.
    text.strip_prefix(['\'', '’']).and_then(|rest| rest.strip_suffix(['\'', '’'])).unwrap_or(text)
}

/// The similarity of two folded words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    Different,
    /// Probably a typo, possibly another word: "Jane" and "Jake".
    Near,
    /// The same word: equal, a plural, or two letters swapped.
    Same,
}

pub(crate) fn likeness(a: &str, b: &str) -> Likeness {
    if a == b || is_plural(a, b) || is_plural(b, a) {
        return Likeness::Same;
    }
    // Most pairs end here, without an allocation.
    if a.len().abs_diff(b.len()) > 8 || !starts_alike(a, b) {
        return Likeness::Different;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let longer = a.len().max(b.len());
    if longer < 4 || a.len().abs_diff(b.len()) > 2 || a.iter().chain(&b).any(|letter| letter.is_numeric()) {
        return Likeness::Different;
    }
    if is_swap(&a, &b) {
        return Likeness::Same;
    }
    // Too many words are similar to a short word.
    let allowed = if longer >= 8 { 2 } else { 1 };
    if a[0] == b[0] && distance(&a, &b) <= allowed { Likeness::Near } else { Likeness::Different }
}

/// Whether the first letters are equal or the first two are swapped. Typos later in a word are far more common.
fn starts_alike(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.chars(), b.chars());
    let (a, b) = ((a.next(), a.next()), (b.next(), b.next()));
    a.0 == b.0 || (a.0 == b.1 && a.1 == b.0)
}

fn is_plural(one: &str, many: &str) -> bool {
    one.len() >= 3 && many.strip_prefix(one).is_some_and(|rest| matches!(rest, "s" | "es"))
}

/// Two neighbouring letters swapped, nothing else.
fn is_swap(a: &[char], b: &[char]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut differing = (0..a.len()).filter(|&i| a[i] != b[i]);
    let (Some(i), Some(j), None) = (differing.next(), differing.next(), differing.next()) else { return false };
    j == i + 1 && a[i] == b[j] && a[j] == b[i]
}

/// Letters to insert, drop, change or swap (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_distinguished_from_other_words() {
        let table = [
            ("milk", "mlik", Likeness::Same),
            ("plant", "plants", Likeness::Same),
            ("jane", "jake", Likeness::Near),
            ("dentist", "dentits", Likeness::Same),
            ("groceries", "grocerys", Likeness::Near),
            ("book", "cook", Likeness::Different),
            ("mum", "mom", Likeness::Different),
            ("2024", "2025", Likeness::Different),
        ];
        for (a, b, expected) in table {
            assert_eq!(likeness(a, b), expected, "{a} and {b}");
        }
    }

    #[test]
    fn words_have_their_position_in_the_text() {
        let text = "  Füge „Müsli\u{3000}kaufen“ hinzu!";
        let found: Vec<_> =
            words(text).into_iter().map(|word| (text[word.start..word.end].to_owned(), word.folded)).collect();
        let expected = [("Füge", "fuge"), ("„Müsli", "musli"), ("kaufen“", "kaufen"), ("hinzu!", "hinzu")];
        assert_eq!(found, expected.map(|(raw, folded)| (raw.to_owned(), folded.to_owned())));
        assert_eq!(trimmed("„Müsli kaufen“."), "Müsli kaufen");
    }
}

//! Tokens: the words of a message with their positions. Text in quotes is one token, which no rule parses.

use text::fold;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Lower case without accents; empty for text in quotes.
    pub(crate) word: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
    /// A comma, a full stop or a similar mark comes before it.
    pub(crate) after_break: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    /// Starts with a capital letter.
    Capital,
    /// A title or name in quotes; `start..end` includes the quotes.
    Quoted,
    /// A dash between two numbers.
    Dash,
}

impl Token {
    pub(crate) fn is(&self, word: &str) -> bool {
        self.kind != Kind::Quoted && self.word == word
    }

    /// The text between the quotes.
    pub(crate) fn inside<'t>(&self, text: &'t str) -> &'t str {
        text[self.start..self.end].trim_matches(|c: char| is_quote(c) || c.is_whitespace())
    }
}

const QUOTES: [(char, &[char]); 6] = [
    ('"', &['"', '”']),
    ('“', &['”', '“', '"']),
    ('„', &['“', '”', '"']),
    ('«', &['»']),
    ('‘', &['’']),
    ('\'', &['\'']),
];

fn is_quote(c: char) -> bool {
    QUOTES.iter().any(|(open, close)| *open == c || close.contains(&c))
}

pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut after_break = false;
    while let Some(c) = text[at..].chars().next() {
        let before = text[..at].chars().next_back();
        let end = if let Some(end) = quoted_end(text, at, c, before) {
            found.push(Token { word: String::new(), start: at, end, kind: Kind::Quoted, after_break });
            end
        } else if c.is_alphanumeric() {
            let end = word_end(text, at);
            found.push(word(text, at, end, after_break));
            end
        } else {
            let next = at + c.len_utf8();
            if is_range_dash(text, at, next) {
                found.push(Token { word: "-".into(), start: at, end: next, kind: Kind::Dash, after_break: false });
            }
            after_break = after_break || matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | '(' | ')' | '\n');
            at = next;
            continue;
        };
        after_break = false;
        at = end;
    }
    found
}

fn word(text: &str, start: usize, end: usize, after_break: bool) -> Token {
    let is_capital = text[start..].chars().next().is_some_and(char::is_uppercase);
    let kind = if is_capital { Kind::Capital } else { Kind::Word };
    Token { word: fold(&text[start..end]), start, end, kind, after_break }
}

/// Letters and digits. A comma, point or colon between digits is part of the number, a sharp is part of the note.
fn word_end(text: &str, start: usize) -> usize {
    let mut end = start;
    let mut chars = text[start..].chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_digit = chars.peek().is_some_and(char::is_ascii_digit);
        let last_is_digit = text[start..end].ends_with(|c: char| c.is_ascii_digit());
        let is_inside = c.is_alphanumeric()
            || unicode_normalization::char::is_combining_mark(c)
            || matches!(c, '.' | ',' | ':') && last_is_digit && next_is_digit
            || matches!(c, '#' | '♯' | '♭') && end - start == 1;
        if !is_inside {
            break;
        }
        end += c.len_utf8();
    }
    end
}

/// The end of the quotation that starts here. An apostrophe opens a quotation only after a space, and closes it only
/// before a space.
fn quoted_end(text: &str, at: usize, c: char, before: Option<char>) -> Option<usize> {
    let (_, closing) = QUOTES.iter().find(|(open, _)| *open == c)?;
    if before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let from = at + c.len_utf8();
    let ends = |(close, next): (usize, char)| {
        let after = text[from + close + next.len_utf8()..].chars().next();
        closing.contains(&next) && close > 0 && !after.is_some_and(char::is_alphanumeric)
    };
    let (close, last) = text[from..].char_indices().find(|place| ends(*place))?;
    Some(from + close + last.len_utf8())
}

fn is_range_dash(text: &str, at: usize, next: usize) -> bool {
    let c = &text[at..next];
    let left = text[..at].trim_end().ends_with(|c: char| c.is_ascii_digit());
    let right = text[next..].trim_start().starts_with(|c: char| c.is_ascii_digit());
    matches!(c, "-" | "–" | "—") && left && right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_one_token_and_an_apostrophe_is_not_a_quote() {
        let kinds = |text: &str| {
            tokens(text)
                .iter()
                .map(|token| if token.kind == Kind::Quoted { "Q".into() } else { token.word.clone() })
                .collect::<Vec<String>>()
                .join(" ")
        };
        assert_eq!(kinds("songs like \"Summer of '69\" but calmer"), "songs like Q but calmer");
        assert_eq!(kinds("the '90s and don't stop"), "the 90s and don t stop");
        assert_eq!(kinds("„Über den Wolken“, 3:30"), "Q 3:30");
        assert_eq!(kinds("1994-1997 or 100 – 120 bpm, F# minor"), "1994 - 1997 or 100 - 120 bpm f# minor");
    }
}

//! Patterns: compiles a line such as `from {year} to|until {year}` into a matcher of tokens.

use super::{
    languages,
    numbers::{self, Read},
    tokens::{Kind, Token},
    types::{Key, YearRange},
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Year(i32),
    Decade(YearRange),
    Seconds(f64),
    Tempo(f64),
    Key(Key),
    Language(&'static str),
}

pub(crate) struct Pattern {
    parts: Vec<Part>,
}

struct Part {
    what: What,
    is_optional: bool,
}

enum What {
    /// One of these words.
    Words(Vec<String>),
    Slot(Slot),
}

#[derive(Clone, Copy)]
enum Slot {
    Number,
    Year,
    Decade,
    Time,
    Tempo,
    Key,
    BareKey,
    Language,
}

impl Pattern {
    /// Spaces separate words, `|` separates alternatives, and `?` after a part makes it optional.
    pub(crate) fn new(line: &str) -> Self {
        let part = |text: &str| {
            let (text, is_optional) = text.strip_suffix('?').map_or((text, false), |text| (text, true));
            let what = match text {
                "{n}" => What::Slot(Slot::Number),
                "{year}" => What::Slot(Slot::Year),
                "{decade}" => What::Slot(Slot::Decade),
                "{time}" => What::Slot(Slot::Time),
                "{bpm}" => What::Slot(Slot::Tempo),
                "{key}" => What::Slot(Slot::Key),
                "{tonic}" => What::Slot(Slot::BareKey),
                "{language}" => What::Slot(Slot::Language),
                words => What::Words(words.split('|').map(str::to_owned).collect()),
            };
            Part { what, is_optional }
        };
        Self { parts: line.split_whitespace().map(part).collect() }
    }

    /// Matches the start of the tokens. Returns the values of the slots and the number of tokens.
    pub(crate) fn read(&self, tokens: &[Token], text: &str) -> Read<Vec<Value>> {
        read(&self.parts, tokens, text)
    }
}

fn read(parts: &[Part], tokens: &[Token], text: &str) -> Read<Vec<Value>> {
    let Some((part, rest)) = parts.split_first() else { return Some((Vec::new(), 0)) };
    let (value, taken) = match part.what.read(tokens, text) {
        Some(read) => read,
        None if part.is_optional => (None, 0),
        None => return None,
    };
    // A limit contains no quotation and no end of a sentence.
    let is_broken = taken > 0 && tokens[1..taken].iter().any(|token| token.after_break);
    let next_is_broken = taken > 0 && !rest.is_empty() && tokens.get(taken).is_some_and(|next| next.after_break);
    if is_broken || next_is_broken && rest.iter().any(|part| !part.is_optional) {
        return None;
    }
    let after = if next_is_broken { &[] } else { &tokens[taken..] };
    let read_rest = read(rest, after, text);
    let Some((values, taken_after)) = read_rest else {
        return if part.is_optional && taken > 0 { read(rest, tokens, text) } else { None };
    };
    Some((value.into_iter().chain(values).collect(), taken + taken_after))
}

impl What {
    fn read(&self, tokens: &[Token], text: &str) -> Read<Option<Value>> {
        let first = tokens.first().filter(|token| token.kind != Kind::Quoted)?;
        match self {
            Self::Words(words) => words.iter().any(|word| first.is(word)).then_some((None, 1)),
            Self::Slot(slot) => slot.read(tokens, text).map(|(value, taken)| (Some(value), taken)),
        }
    }
}

impl Slot {
    fn read(self, tokens: &[Token], text: &str) -> Read<Value> {
        match self {
            Self::Number => numbers::number(tokens).map(|(n, taken)| (Value::Number(n), taken)),
            Self::Year => numbers::year(tokens).map(|(year, taken)| (Value::Year(year), taken)),
            Self::Decade => numbers::decade(tokens).map(|(decade, taken)| (Value::Decade(decade), taken)),
            Self::Time => numbers::time(tokens).map(|(seconds, taken)| (Value::Seconds(seconds), taken)),
            Self::Tempo => numbers::tempo(tokens).map(|(bpm, taken)| (Value::Tempo(bpm), taken)),
            Self::Key => numbers::key(tokens, text).map(|(key, taken)| (Value::Key(key), taken)),
            Self::BareKey => numbers::bare_key(tokens, text).map(|(key, taken)| (Value::Key(key), taken)),
            Self::Language => languages::language(&tokens.first()?.word).map(|code| (Value::Language(code), 1)),
        }
    }
}

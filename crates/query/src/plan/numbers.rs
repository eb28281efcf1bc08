//! Numbers in words: counts, years, decades, lengths, keys and languages, in English, German, French and Spanish.

use super::{
    tokens::Token,
    types::{Key, YearRange},
};

/// A value and its number of tokens.
pub(crate) type Read<T> = Option<(T, usize)>;

pub(crate) fn number(tokens: &[Token]) -> Read<f64> {
    let first = &tokens.first()?.word;
    if first.starts_with(|c: char| c.is_ascii_digit()) {
        let plain = first.replace(',', ".");
        return plain.parse().ok().map(|value| (value, 1));
    }
    let tens = f64::from(number_word(first)?);
    match tokens.get(1).and_then(|next| number_word(&next.word)) {
        Some(ones) if tens >= 20.0 && tens % 10.0 == 0.0 && (1..10).contains(&ones) => {
            Some((tens + f64::from(ones), 2))
        }
        _ => Some((tens, 1)),
    }
}

const NUMBER_WORDS: &[(u8, &str)] = &[
    (1, "one ein eine einen un une uno una"),
    (2, "two zwei deux dos"),
    (3, "three drei trois tres"),
    (4, "four vier quatre cuatro"),
    (5, "five funf cinq cinco"),
    (6, "six sechs seis"),
    (7, "seven sieben sept siete"),
    (8, "eight acht huit ocho"),
    (9, "nine neun neuf nueve"),
    (10, "ten zehn dix diez"),
    (11, "eleven"),
    (12, "twelve dozen zwolf douze doce"),
    (15, "fifteen quinze"),
    (20, "twenty zwanzig vingt veinte"),
    (30, "thirty dreissig trente treinta"),
    (40, "forty"),
    (50, "fifty"),
    (60, "sixty"),
    (70, "seventy"),
    (80, "eighty"),
    (90, "ninety"),
];

fn number_word(word: &str) -> Option<u8> {
    NUMBER_WORDS.iter().find(|(_, words)| words.split(' ').any(|known| known == word)).map(|(value, _)| *value)
}

pub(crate) fn year(tokens: &[Token]) -> Read<i32> {
    let word = &tokens.first()?.word;
    let year: i32 = if word.len() == 4 { word.parse().ok()? } else { return None };
    (1900..=2099).contains(&year).then_some((year, 1))
}

/// "90s", "1990s", "nineties", "90er Jahre", "années 90", "años noventa"; with "early", "mid" and "late".
pub(crate) fn decade(tokens: &[Token]) -> Read<YearRange> {
    let part = tokens.first().and_then(|token| PARTS.iter().find(|(words, ..)| words.contains(&token.word.as_str())));
    let skipped = usize::from(part.is_some());
    let (start, taken) = whole_decade(&tokens[skipped..])?;
    let (from, to) = part.map_or((0, 9), |(_, from, to)| (*from, *to));
    Some((YearRange { from: Some(start + from), to: Some(start + to) }, skipped + taken))
}

const PARTS: &[(&[&str], i32, i32)] = &[
    (&["early", "fruhe", "fruhen", "debut"], 0, 3),
    (&["mid", "middle", "mitte"], 4, 6),
    (&["late", "spate", "spaten", "fin"], 7, 9),
];

fn whole_decade(tokens: &[Token]) -> Read<i32> {
    let first = tokens.first()?.word.as_str();
    let next = tokens.get(1).map_or("", |token| token.word.as_str());
    let with_noun = |taken: usize| {
        let noun = tokens.get(taken).map_or("", |token| token.word.as_str());
        if matches!(noun, "jahre" | "jahren" | "jahrzehnt") { taken + 1 } else { taken }
    };
    if let Some(start) = DECADE_WORDS.iter().find(|(words, _)| words.contains(&first)).map(|(_, start)| *start) {
        return Some((start, with_noun(1)));
    }
    if let Some(start) = numbered(first, &["s", "er", "ern"]) {
        return Some((start, with_noun(1)));
    }
    if next == "s" && tokens[1].start == tokens[0].end + 1 {
        return Some((century(first)?, 2));
    }
    let is_years = matches!(first, "annees" | "annee" | "anos" | "ans");
    if is_years {
        let after = &tokens[1..];
        return century(next).map(|start| (start, 2)).or_else(|| romance(after).map(|(start, n)| (start, n + 1)));
    }
    let is_plural = matches!(first, "los")
        && !tokens.get(2).is_some_and(|token| matches!(token.word.as_str(), "bpm" | "segundos" | "minutos" | "grados"));
    if is_plural {
        let after = &tokens[1..];
        return century(next)
            .filter(|_| next.len() == 2)
            .map(|start| (start, 2))
            .or_else(|| romance(after).map(|(start, n)| (start, n + 1)));
    }
    None
}

fn numbered(word: &str, endings: &[&str]) -> Option<i32> {
    endings.iter().find_map(|ending| century(word.strip_suffix(ending)?))
}

/// 90 and 1990 mean the nineties; 00, 10 and 20 mean decades of this century.
fn century(digits: &str) -> Option<i32> {
    let start: i32 = digits.parse().ok()?;
    match (digits.len(), start) {
        (_, start) if start % 10 != 0 => None,
        (2, 0..=20) => Some(2000 + start),
        (2, _) => Some(1900 + start),
        (4, 1900..=2090) => Some(start),
        _ => None,
    }
}

fn romance(tokens: &[Token]) -> Read<i32> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    match (word(0), word(1), word(2)) {
        ("quatre", "vingt", "dix") => Some((1990, 3)),
        ("quatre", "vingt" | "vingts", _) => Some((1980, 2)),
        ("soixante", "dix", _) => Some((1970, 2)),
        ("soixante" | "sesenta", ..) => Some((1960, 1)),
        ("cinquante" | "cincuenta", ..) => Some((1950, 1)),
        ("setenta", ..) => Some((1970, 1)),
        ("ochenta", ..) => Some((1980, 1)),
        ("noventa", ..) => Some((1990, 1)),
        ("quarante" | "cuarenta", ..) => Some((1940, 1)),
        ("trente" | "treinta", ..) => Some((1930, 1)),
        ("vingt" | "veinte", ..) => Some((1920, 1)),
        _ => None,
    }
}

const DECADE_WORDS: &[(&[&str], i32)] = &[
    (&["twenties", "zwanziger"], 1920),
    (&["thirties", "dreissiger"], 1930),
    (&["forties", "vierziger"], 1940),
    (&["fifties", "funfziger"], 1950),
    (&["sixties", "sechziger"], 1960),
    (&["seventies", "siebziger"], 1970),
    (&["eighties", "achtziger", "achtzigern"], 1980),
    (&["nineties", "neunziger", "neunzigern"], 1990),
    (&["noughties", "nuller"], 2000),
];

/// A length in seconds: "3 minutes", "3:30", "90 seconds", "two and a half minutes", "4 min 20".
pub(crate) fn time(tokens: &[Token]) -> Read<f64> {
    let first = &tokens.first()?.word;
    if let Some((minutes, seconds)) = first.split_once(':') {
        let (minutes, seconds): (f64, f64) = (minutes.parse().ok()?, seconds.parse().ok()?);
        let unit = tokens.get(1).filter(|token| per_unit(&token.word) == Some(60.0));
        return (seconds < 60.0).then_some((60.0 * minutes + seconds, 1 + usize::from(unit.is_some())));
    }
    if let Some(joined) = first.strip_suffix("min").and_then(|digits| digits.parse::<f64>().ok()) {
        return Some((60.0 * joined, 1));
    }
    let (value, taken) = number(tokens)?;
    let (half, taken) = half_after(tokens, taken);
    let unit = per_unit(&tokens.get(taken)?.word)?;
    let (half, taken) = if half > 0.0 { (half, taken + 1) } else { half_after(tokens, taken + 1) };
    let more = tokens.get(taken).filter(|_| unit == 60.0 && half == 0.0).and_then(|_| number(&tokens[taken..]));
    let (more, taken) = match more {
        Some((seconds, n)) if tokens.get(taken + n).is_some_and(|unit| per_unit(&unit.word) == Some(1.0)) => {
            (seconds, taken + n + 1)
        }
        _ => (0.0, taken),
    };
    Some((unit * (value + half) + more, taken))
}

/// "and a half", "einhalb", "et demie", "y medio".
fn half_after(tokens: &[Token], at: usize) -> (f64, usize) {
    let word = |n: usize| tokens.get(at + n).map_or("", |token| token.word.as_str());
    match (word(0), word(1), word(2)) {
        ("and", "a", "half") => (0.5, at + 3),
        ("et", "demie" | "demi", _) | ("y", "medio" | "media", _) => (0.5, at + 2),
        _ => (0.0, at),
    }
}

fn per_unit(word: &str) -> Option<f64> {
    match word {
        "minute" | "minutes" | "min" | "mins" | "minuten" | "minuto" | "minutos" => Some(60.0),
        "second" | "seconds" | "sec" | "secs" | "sekunde" | "sekunden" | "sek" | "seconde" | "secondes" | "segundo"
        | "segundos" => Some(1.0),
        _ => None,
    }
}

/// A tempo: a number with its unit.
pub(crate) fn tempo(tokens: &[Token]) -> Read<f64> {
    if let Some(joined) = tokens.first()?.word.strip_suffix("bpm").and_then(|digits| digits.parse().ok()) {
        return Some((joined, 1));
    }
    let (value, taken) = number(tokens)?;
    let word = |n: usize| tokens.get(taken + n).map_or("", |token| token.word.as_str());
    match (word(0), word(1), word(2)) {
        ("bpm", ..) => Some((value, taken + 1)),
        ("beats", "per" | "a", "minute") | ("battements", "par", "minute") | ("pulsaciones", "por", "minuto") => {
            Some((value, taken + 3))
        }
        ("schlage", "pro", "minute") | ("schlagen", "pro", "minute") => Some((value, taken + 3)),
        _ => None,
    }
}

/// "A minor", "F# major", "fis-Moll", "la mineur", "do mayor"; without a mode only after "the key of".
pub(crate) fn key(tokens: &[Token], text: &str) -> Read<Key> {
    let first = tokens.first()?;
    let (mut tonic, mut taken) = (note(&first.word)?, 1);
    if let Some(step) = tokens.get(1).and_then(|token| accidental(&token.word)) {
        (tonic, taken) = ((tonic + step).rem_euclid(12), 2);
    }
    let minor = tokens.get(taken).and_then(|token| is_minor(&token.word))?;
    let letter = &text[first.start..first.end];
    let is_article = letter == "a" && tokens.get(taken + 1).is_some_and(|next| !next.after_break);
    (!is_article).then_some((Key { tonic: Some(tonic as u8), minor: Some(minor) }, taken + 1))
}

pub(crate) fn bare_key(tokens: &[Token], text: &str) -> Read<Key> {
    let plain = || {
        let tonic = note(&tokens.first()?.word)?;
        let step = tokens.get(1).and_then(|token| accidental(&token.word));
        let tonic = (tonic + step.unwrap_or(0)).rem_euclid(12) as u8;
        Some((Key { tonic: Some(tonic), minor: None }, 1 + usize::from(step.is_some())))
    };
    key(tokens, text).or_else(plain)
}

fn note(word: &str) -> Option<i32> {
    /// The names of each note, by half tones above C.
    const NOTES: [&str; 12] = [
        "c do",
        "c# c♯ cis db d♭ des",
        "d re",
        "d# d♯ dis eb e♭ es",
        "e mi",
        "f fa",
        "f# f♯ fis gb g♭ ges",
        "g sol",
        "g# g♯ gis ab a♭ as",
        "a la",
        "a# a♯ ais bb b♭",
        "b h si",
    ];
    let is_named = |names: &str| names.split(' ').any(|name| name == word);
    NOTES.iter().position(|names| is_named(names)).map(|tonic| tonic as i32)
}

fn accidental(word: &str) -> Option<i32> {
    match word {
        "sharp" | "diese" | "sostenido" => Some(1),
        "flat" | "bemol" => Some(-1),
        _ => None,
    }
}

pub(crate) fn is_minor(word: &str) -> Option<bool> {
    match word {
        "minor" | "moll" | "mineur" | "menor" => Some(true),
        "major" | "dur" | "majeur" | "mayor" => Some(false),
        _ => None,
    }
}

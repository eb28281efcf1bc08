//! Denials: "no drums", "not too loud", "sans guitare", "rather than sad".

use super::{
    names::{MUSIC_NOUNS, is_boundary},
    tokens::{Kind, Token},
};

pub(super) struct Denial {
    /// As they were written.
    pub(super) phrases: Vec<String>,
    /// "Not too loud": a degree, so the sound preference is reversed and no track is excluded.
    pub(super) is_soft: bool,
    pub(super) taken: usize,
}

const LONGEST_PHRASE: usize = 3;

/// The denial that starts at a token. Titles and idioms ("no king beneath the hill", "with or without you") are not
/// denials.
pub(super) fn read(tokens: &[Token], at: usize, text: &str, is_sound: impl Fn(&str) -> bool) -> Option<Denial> {
    let lead = lead(tokens, at)?;
    let mut from = at + lead;
    let mut is_soft = false;
    while let Some(word) = tokens.get(from).filter(|token| !token.after_break).map(|token| token.word.as_str()) {
        let is_degree = DEGREES.contains(&word);
        if !is_degree && !FILLERS.contains(&word) {
            break;
        }
        is_soft = is_soft || is_degree;
        from += 1;
    }
    let first = tokens.get(from).filter(|first| !first.after_break && !PRONOUNS.contains(&first.word.as_str()))?;
    if first.kind == Kind::Quoted {
        return Some(Denial { phrases: vec![first.inside(text).to_owned()], is_soft, taken: from + 1 - at });
    }
    if tokens[at].is("nothing") && !is_soft && !is_sound(&first.word) {
        return None;
    }
    let mut phrases = Vec::new();
    loop {
        let n_words = phrase_length(&tokens[from..])?;
        let words = &tokens[from..from + n_words];
        phrases.extend(phrase(words, text));
        from += n_words;
        let joins = tokens.get(from).is_some_and(|token| goes_on(token, &tokens[at]));
        let next_is_plain =
            tokens.get(from + 1).is_some_and(|next| next.kind != Kind::Quoted && !is_boundary(&next.word));
        if !joins || !next_is_plain || phrase_length(&tokens[from + 1..]).is_none() {
            break;
        }
        from += 1;
    }
    let opens_idiom =
        tokens.get(from).is_some_and(|next| !next.after_break && matches!(next.word.as_str(), "to" | "like" | "on"));
    (!phrases.is_empty() && !opens_idiom).then_some(Denial { phrases, is_soft, taken: from - at })
}

/// The number of tokens before the denied phrase ("without", "no").
fn lead(tokens: &[Token], at: usize) -> Option<usize> {
    let word = |n: usize| {
        tokens.get(at + n).filter(|token| n == 0 || !token.after_break).map_or("", |token| token.word.as_str())
    };
    let before = |n: usize| at.checked_sub(n).map_or("", |at| tokens[at].word.as_str());
    match (word(0), word(1)) {
        ("rather", "than")
        | ("instead", "of")
        | ("anything" | "everything", "but")
        | ("other", "than")
        | ("plutot", "que")
        | ("nada", "de")
        | ("en", "vez") => Some(2),
        ("anstatt" | "statt", _) => Some(1),
        ("not" | "nicht", _) => is_free_standing(before(1), before(2)).then_some(1),
        ("without" | "ohne" | "sans" | "sin", _) => (before(1) != "or" && before(1) != "oder").then_some(1),
        (
            "no" | "kein" | "keine" | "keinen" | "keiner" | "except" | "excluding" | "minus" | "nothing" | "nichts"
            | "ausser" | "sauf" | "excepto" | "salvo" | "pas" | "aucun" | "aucune" | "ningun" | "ninguna",
            _,
        ) => Some(1),
        _ => None,
    }
}

/// "I am not afraid" is a line of a song; "songs that are not sad" is a denial.
fn is_free_standing(before: &str, before_that: &str) -> bool {
    const VERBS: &[&str] = &[
        "am", "is", "are", "was", "were", "do", "does", "did", "can", "will", "would", "could", "should", "m", "re",
        "s", "bin", "ist", "sind", "habe", "kann", "will", "must",
    ];
    const SUBJECTS: &[&str] =
        &["i", "you", "we", "he", "she", "it", "they", "ich", "du", "wir", "er", "sie", "es", "why"];
    let is_relative = matches!(before_that, "that" | "which" | "songs" | "tracks" | "die" | "das");
    !SUBJECTS.contains(&before) && (!VERBS.contains(&before) || is_relative)
}

/// Words between a denial and what is denied.
const FILLERS: &[&str] = &[
    "any", "the", "a", "an", "of", "des", "de", "d", "du", "la", "le", "les", "about", "with", "mit", "avec", "con",
    "more", "el", "los", "las",
];
/// The same, with which the denial is soft: "not too loud".
const DEGREES: &[&str] = &[
    "too",
    "so",
    "very",
    "really",
    "allzu",
    "zu",
    "sehr",
    "trop",
    "tres",
    "tan",
    "demasiado",
    "muy",
    "that",
    "as",
    "overly",
];
const PRONOUNS: &[&str] = &[
    "you", "me", "her", "him", "us", "them", "it", "myself", "yourself", "dich", "mich", "ihn", "dir", "mir", "toi",
    "moi", "elle", "lui", "ti", "mi", "ella", "i", "be", "one", "matter", "end", "only", "just", "nur", "longer",
    "more", "less", "ya", "plus", "problem", "idea", "way", "else", "ever",
];

/// The number of words up to the next part of the message, if they are few and not a clause.
fn phrase_length(tokens: &[Token]) -> Option<usize> {
    const CLAUSE: &[&str] = &[
        "the", "a", "an", "my", "your", "his", "beneath", "below", "above", "inside", "through", "into", "of", "au",
        "aux", "am", "im", "al", "del", "can", "could", "will", "knows", "has", "have", "me", "you", "i", "der", "dem",
        "den", "mein", "la", "le", "el",
    ];
    let ends = |(at, token): (usize, &Token)| {
        at > 0 && token.after_break || token.kind == Kind::Quoted || is_boundary(&token.word)
    };
    let n = tokens.iter().enumerate().position(ends).unwrap_or(tokens.len());
    let ends_in_of = tokens.get(n).is_some_and(|next| !next.after_break && CLAUSE.contains(&next.word.as_str()));
    let is_clause = tokens[..n].iter().any(|token| CLAUSE.contains(&token.word.as_str()));
    (n > 0 && n <= LONGEST_PHRASE && !is_clause && !ends_in_of).then_some(n)
}

/// The denied phrase, without general words for music.
fn phrase(words: &[Token], text: &str) -> Option<String> {
    let said: Vec<&str> = words
        .iter()
        .filter(|word| !MUSIC_NOUNS.contains(&word.word.as_str()))
        .map(|word| &text[word.start..word.end])
        .collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Whether the next phrase is denied too: "no drums or bass", "without drums and bass".
fn goes_on(token: &Token, lead: &Token) -> bool {
    let both = matches!(
        lead.word.as_str(),
        "without" | "ohne" | "sans" | "sin" | "except" | "ausser" | "sauf" | "salvo" | "excepto"
    );
    match token.word.as_str() {
        "or" | "nor" | "oder" | "ou" | "o" | "ni" | "u" => true,
        "and" | "und" | "et" | "y" => both,
        _ => false,
    }
}

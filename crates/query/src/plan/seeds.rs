//! Seeds: "like X but calmer", "more like the second", "more of that".

use super::{
    names::{capitals, until_boundary},
    tokens::{Kind, Token},
    types::Seed,
};

/// The seed that starts at a token, and its number of tokens.
pub(super) fn read(tokens: &[Token], at: usize, text: &str) -> Option<(Seed, usize)> {
    let (lead, is_sure) = lead(tokens, at)?;
    let rest = &tokens[at + lead..];
    let first = rest.first().filter(|first| !first.after_break)?;
    if let Some((seed, taken)) = shown(rest) {
        return Some((seed, lead + taken));
    }
    let turn = rest
        .iter()
        .position(|token| matches!(token.word.as_str(), "but" | "aber" | "mais" | "pero" | "nur" | "only" | "just"));
    let (name, taken) = match first.kind {
        Kind::Quoted => (first.inside(text).to_owned(), 1),
        // "Like Negative Split but calmer": the name extends to "but".
        _ if turn.is_some_and(|turn| (1..=6).contains(&turn)) => {
            let turn = turn.unwrap_or_default();
            (text[first.start..rest[turn - 1].end].to_owned(), turn)
        }
        Kind::Capital => capitals(rest, text)?,
        Kind::Word if is_sure && !ARTICLES.contains(&first.word.as_str()) => until_boundary(rest, text, 4)?,
        _ => return None,
    };
    Some((Seed::Named(name), lead + taken))
}

const ARTICLES: &[&str] = &[
    "the", "a", "an", "my", "your", "home", "rain", "ein", "eine", "der", "die", "das", "un", "une", "le", "la", "el",
    "una", "that", "to", "you", "i", "we", "nobody",
];

/// The number of words before the seed, and whether they can only introduce a seed. "Feels like home" has no seed.
fn lead(tokens: &[Token], at: usize) -> Option<(usize, bool)> {
    let word = |n: usize| tokens.get(at + n).map_or("", |token| token.word.as_str());
    let is_first = at == 0 || tokens[at].after_break;
    match (word(0), word(1), word(2)) {
        ("in", "the", "style") if word(3) == "of" => Some((4, true)),
        ("im", "stil", "von") | ("dans", "style", "de") | ("al", "estilo", "de") => Some((3, true)),
        ("dans", "le", "style") if word(3) == "de" => Some((4, true)),
        ("something" | "songs" | "music" | "tracks" | "anything", "similar", "to") => Some((3, true)),
        ("similar", "to", _)
        | ("ahnlich", "wie", _)
        | ("semblable", "a", _)
        | ("parecido" | "parecida" | "similar", "a", _) => Some((2, true)),
        ("more" | "songs" | "tracks" | "music", "like", _) | ("mehr" | "lieder" | "songs" | "musik", "wie", _) => {
            Some((2, true))
        }
        ("chansons" | "musique", "comme", _) | ("canciones" | "musica" | "mas", "como", _) => Some((2, true)),
        ("something" | "anything", "like", _)
        | ("etwas" | "was", "wie", _)
        | ("quelque", "chose", "comme")
        | ("algo", "como", _) => Some((if word(2) == "comme" { 3 } else { 2 }, false)),
        ("more", "of", "that" | "these" | "this" | "those" | "them") | ("mehr", "davon" | "von", _) => {
            Some((if word(1) == "davon" { 1 } else { 2 }, true))
        }
        ("plus", "de", "ca" | "cela") | ("mas", "de", "eso" | "esto") => Some((2, true)),
        ("like" | "wie" | "comme" | "como", _, _) if is_first => Some((1, false)),
        _ => None,
    }
}

/// "that", "these", "the second one".
fn shown(tokens: &[Token]) -> Option<(Seed, usize)> {
    let word =
        |n: usize| tokens.get(n).filter(|token| n == 0 || !token.after_break).map_or("", |token| token.word.as_str());
    let from = usize::from(matches!(word(0), "the" | "der" | "die" | "das" | "dem" | "le" | "la" | "el" | "number"));
    if let Some(place) = place(word(from)) {
        let noun = usize::from(matches!(word(from + 1), "one" | "song" | "track" | "lied" | "chanson" | "cancion"));
        return Some((Seed::Place(place), from + 1 + noun));
    }
    let is_shown = matches!(
        word(0),
        "that"
            | "this"
            | "these"
            | "those"
            | "them"
            | "davon"
            | "dies"
            | "diese"
            | "das"
            | "ca"
            | "cela"
            | "eso"
            | "esto"
            | "estas"
    );
    let ends = tokens.get(1).is_none_or(|next| {
        next.after_break || matches!(next.word.as_str(), "but" | "aber" | "mais" | "pero" | "one" | "ones")
    });
    let noun = usize::from(matches!(word(1), "one" | "ones"));
    (is_shown && ends).then_some((Seed::Shown, 1 + noun))
}

fn place(word: &str) -> Option<usize> {
    const PLACES: &[&[&str]] = &[
        &["first", "erste", "ersten", "premier", "premiere", "primera", "primero", "1st", "1"],
        &["second", "zweite", "zweiten", "deuxieme", "segunda", "segundo", "2nd", "2"],
        &["third", "dritte", "dritten", "troisieme", "tercera", "tercero", "3rd", "3"],
        &["fourth", "vierte", "vierten", "quatrieme", "cuarta", "cuarto", "4th", "4"],
        &["fifth", "funfte", "funften", "cinquieme", "quinta", "quinto", "5th", "5"],
    ];
    PLACES.iter().position(|words| words.contains(&word)).map(|at| at + 1)
}

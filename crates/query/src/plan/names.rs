//! Names after "by", "from the album" and "like": finds where they start and end.

use super::tokens::{Kind, Token};

/// General words for music, which express no preference.
pub(crate) const MUSIC_NOUNS: &[&str] = &[
    "song",
    "songs",
    "track",
    "tracks",
    "music",
    "tune",
    "tunes",
    "piece",
    "pieces",
    "something",
    "anything",
    "stuff",
    "hits",
    "hit",
    "ones",
    "one",
    "titles",
    "recordings",
    "everything",
    "lied",
    "lieder",
    "musik",
    "stuck",
    "stucke",
    "titel",
    "etwas",
    "was",
    "alles",
    "chanson",
    "chansons",
    "musique",
    "morceau",
    "morceaux",
    "titres",
    "cancion",
    "canciones",
    "musica",
    "temas",
    "tema",
    "pistas",
    "algo",
    "more",
    "mehr",
    "plus",
    "mas",
];

/// Words that end a name or a denied phrase, because they start another part of the message.
pub(crate) fn is_boundary(word: &str) -> bool {
    BOUNDARIES.contains(&word)
}

const BOUNDARIES: &[&str] = &[
    "and", "or", "but", "from", "in", "under", "over", "with", "without", "about", "that", "which", "who", "for", "to",
    "between", "since", "before", "after", "around", "at", "not", "no", "nor", "please", "like", "by", "on", "older",
    "newer", "longer", "shorter", "faster", "slower", "sung", "is", "are", "than", "instead", "rather", "only", "und",
    "oder", "aber", "aus", "auf", "unter", "uber", "mit", "ohne", "die", "das", "der", "fur", "zwischen", "seit",
    "vor", "nach", "um", "nicht", "kein", "keine", "bitte", "wie", "von", "et", "ou", "mais", "dans", "en", "sous",
    "avec", "sans", "que", "qui", "pour", "entre", "depuis", "avant", "apres", "pas", "svp", "comme", "de", "du",
    "des", "sur", "y", "o", "pero", "con", "sin", "para", "desde", "antes", "despues", "sobre", "como", "ni",
];

/// Words that may occur inside a name between two capitalised words: "Florence and the Machine".
const INSIDE: &[&str] =
    &["and", "the", "of", "de", "van", "von", "der", "und", "et", "y", "la", "le", "los", "las", "du"];

/// Words after "by" that are not an artist: "by candlelight", "by the sea".
const NOT_BY: &[&str] = &[
    "the",
    "a",
    "an",
    "my",
    "your",
    "our",
    "his",
    "her",
    "its",
    "me",
    "you",
    "us",
    "myself",
    "yourself",
    "night",
    "day",
    "candlelight",
    "heart",
    "hand",
    "foot",
    "car",
    "train",
    "bike",
    "boat",
    "moonlight",
    "firelight",
    "chance",
    "accident",
    "side",
    "now",
    "then",
    "far",
    "myself",
    "ear",
    "artist",
    "artists",
    "band",
    "bands",
    "singers",
    "people",
    "someone",
    "somebody",
    "anyone",
];

/// Nouns after German "von" and French or Spanish "de" that are themes, not names.
const THEMES: &[&str] = &[
    "liebe",
    "freiheit",
    "heimat",
    "meer",
    "hoffnung",
    "tod",
    "leben",
    "sehnsucht",
    "abschied",
    "freundschaft",
    "trauer",
    "freude",
    "sommer",
    "winter",
    "herbst",
    "fruhling",
    "nacht",
    "regen",
    "krieg",
    "frieden",
    "gluck",
    "weihnachten",
    "amour",
    "noel",
    "amor",
    "navidad",
    "herzschmerz",
    "fernweh",
    "heimweh",
];

/// The name that starts at a token, and its number of tokens.
pub(super) fn artist(tokens: &[Token], at: usize, text: &str) -> Option<(String, usize)> {
    let lead = tokens.get(at)?;
    let before = at.checked_sub(1).map_or("", |at| tokens[at].word.as_str());
    let after_music = MUSIC_NOUNS.contains(&before) && !lead.after_break;
    let first = tokens.get(at + 1)?;
    let lead_is = |words: &[&str]| words.iter().any(|word| lead.is(word));
    let name = match first.kind {
        _ if first.after_break => None,
        Kind::Quoted if lead_is(&["by"]) || after_music && lead_is(&["von", "de"]) => {
            Some((first.inside(text).to_owned(), 1))
        }
        Kind::Capital if lead_is(&["by"]) => capitals(&tokens[at + 1..], text),
        Kind::Capital if after_music && lead_is(&["von", "de"]) && !THEMES.contains(&first.word.as_str()) => {
            capitals(&tokens[at + 1..], text)
        }
        Kind::Word if after_music && lead_is(&["by"]) && !NOT_BY.contains(&first.word.as_str()) => {
            until_boundary(&tokens[at + 1..], text, 4)
        }
        _ => None,
    };
    name.map(|(name, taken)| (name, taken + 1))
}

/// "from the album X", "auf dem Album X", "de l'album X", "del álbum X".
pub(super) fn album(tokens: &[Token], at: usize, text: &str) -> Option<(String, usize)> {
    let lead = tokens[at..]
        .iter()
        .take(4)
        .position(|token| token.word == "album" || token.word == "platte" || token.word == "disco")?;
    let is_lead = |token: &Token| {
        matches!(
            token.word.as_str(),
            "from"
                | "on"
                | "off"
                | "of"
                | "the"
                | "auf"
                | "aus"
                | "vom"
                | "dem"
                | "von"
                | "de"
                | "l"
                | "del"
                | "sur"
                | "en"
                | "el"
        )
    };
    if !tokens[at..at + lead].iter().all(is_lead) {
        return None;
    }
    let rest = &tokens[at + lead + 1..];
    let first = rest.first().filter(|first| !first.after_break)?;
    let (name, taken) = match first.kind {
        Kind::Quoted => (first.inside(text).to_owned(), 1),
        Kind::Capital if lead > 0 => capitals(rest, text)?,
        _ => return None,
    };
    Some((name, lead + 1 + taken))
}

/// Capitalised words, and the small words between them.
pub(super) fn capitals(tokens: &[Token], text: &str) -> Option<(String, usize)> {
    let is_name = |token: &Token| token.kind == Kind::Capital || token.word.starts_with(|c: char| c.is_ascii_digit());
    let mut taken = 0;
    let mut at = 0;
    while let Some(token) = tokens.get(at).filter(|token| at == 0 || !token.after_break) {
        if is_name(token) {
            taken = at + 1;
        } else if token.kind == Kind::Quoted || at > taken + 1 || !INSIDE.contains(&token.word.as_str()) {
            break;
        }
        at += 1;
    }
    let last = tokens.get(taken.checked_sub(1)?)?;
    Some((text[tokens[0].start..last.end].to_owned(), taken))
}

/// Words in lower case up to the next part of the message.
pub(super) fn until_boundary(tokens: &[Token], text: &str, most: usize) -> Option<(String, usize)> {
    let ends = |(at, token): (usize, &Token)| {
        at > 0 && token.after_break || token.kind == Kind::Quoted || is_boundary(&token.word)
    };
    let taken = tokens.iter().enumerate().position(ends).unwrap_or(tokens.len());
    let last = tokens.get(taken.checked_sub(1)?)?;
    (taken <= most).then(|| (text[tokens[0].start..last.end].to_owned(), taken))
}

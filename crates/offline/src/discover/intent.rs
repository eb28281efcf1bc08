//! Parses a message to the Discover agent into one intent.

use super::edit::Edit;
use crate::language::{
    Heard, Language, MusicVerb, Talk,
    pick::places,
    sentences,
    text::{fold, folded, trimmed, words},
};
use music::Isrc;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Intent {
    /// A mood, a theme or an occasion, to search in the index.
    Mood {
        query: String,
        limit: Option<usize>,
        whose: Whose,
    },
    /// A mood, to search in the catalogue.
    MoodOnTidal {
        query: String,
        limit: Option<usize>,
    },
    /// A name, to search in the catalogue.
    Name {
        query: String,
        kind: Kind,
        limit: Option<usize>,
    },
    /// A mood by an artist, or music like an artist's, to search in both.
    Mix {
        query: String,
        name: String,
    },
    AlbumTracks(String),
    More,
    MoreLike(String),
    /// By their names or positions.
    Compare(Vec<String>),
    CompareThese,
    Details {
        which: String,
        aspect: Aspect,
    },
    Playlist {
        about: String,
        title: Option<String>,
        limit: Option<usize>,
    },
    PlaylistOfThese,
    Own(String),
    OwnThese,
    Playlists,
    LibrarySize,
    /// A change of an existing playlist.
    Edit(Edit),
    /// The same, without a clear change.
    ToPlaylist,
    /// A change to the last search: "something louder", "without the sad ones".
    Refine(String),
    Vague,
    Player,
    ChangeLibrary,
    Talk(Talk),
}

/// The tracks to search among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Any,
    Mine,
    NotMine,
}

/// The kind of result from the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tracks,
    Albums,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aspect {
    Everything,
    Lyrics,
}

/// The intent in the last sentence with a request. "Hi!" and "thanks" count only if there is no other sentence.
pub(crate) fn intent(language: &Language, message: &str) -> Intent {
    let mut sentences = sentences(message);
    let all = sentences.len();
    sentences.retain(|sentence| !language.talk(sentence).is_some_and(|heard| is_passing(heard.meaning)));
    if sentences.is_empty() {
        let talk = language.talk(message).map(|heard| heard.meaning);
        return talk.map_or(if all == 0 { Intent::Vague } else { Intent::Talk(Talk::Greet) }, Intent::Talk);
    }
    let intents: Vec<_> = sentences.iter().map(|sentence| one(language, sentence, NESTING)).collect();
    // "I just moved out. Something about home?": the first sentence is context, the last one is the request.
    let plain = intents.iter().rposition(|intent| !matches!(intent, Intent::Vague | Intent::Talk(_)));
    intents.into_iter().nth(plain.unwrap_or(0)).unwrap_or(Intent::Vague)
}

fn is_passing(talk: Talk) -> bool {
    matches!(talk, Talk::Greet | Talk::Thanks | Talk::Bye)
}

/// Maximum nesting of a intent: "find me | 5 | happy songs about | summer".
const NESTING: usize = 4;

fn one(language: &Language, sentence: &str, nesting: usize) -> Intent {
    if sentence.starts_with(QUOTES) {
        return plain(language, sentence, nesting);
    }
    let heard = language.music(sentence);
    if let Some(talk) = language.talk(sentence)
        && (!matches!(talk.meaning, Talk::Offtopic | Talk::Errand)
            || heard.as_ref().is_none_or(|heard| heard.meaning == MusicVerb::Search))
    {
        return Intent::Talk(talk.meaning);
    }
    match heard {
        Some(heard) => from_verb(language, heard, nesting),
        None => plain(language, language.bare(sentence), nesting),
    }
}

fn from_verb(language: &Language, heard: Heard<MusicVerb>, nesting: usize) -> Intent {
    let Heard { meaning, x: raw, y, .. } = heard;
    let (x, y) = (trimmed(&raw).to_owned(), trimmed(&y).to_owned());
    match meaning {
        MusicVerb::Search => inner(language, &raw, nesting),
        MusicVerb::AboutTheme => theme(language, &x),
        MusicVerb::ImFeeling => Intent::Mood { query: x, limit: None, whose: Whose::Any },
        MusicVerb::Artist => by_artist(language, &x),
        MusicVerb::Name => inner(language, &raw, nesting),
        MusicVerb::OnTidal => on_tidal(inner(language, &raw, nesting)),
        MusicVerb::Song => Intent::Name { query: x, kind: Kind::Tracks, limit: None },
        MusicVerb::SongBy => song_by(language, &x, &y),
        MusicVerb::Album => Intent::Name { query: x, kind: Kind::Albums, limit: None },
        MusicVerb::AlbumsBy => Intent::Name { query: x, kind: Kind::Albums, limit: None },
        MusicVerb::AlbumTracks => Intent::AlbumTracks(x),
        MusicVerb::More => Intent::More,
        MusicVerb::MoreLike => more_like(language, &x, nesting),
        MusicVerb::Compare => Intent::Compare([x, y].into_iter().filter(|name| !name.is_empty()).collect()),
        MusicVerb::CompareThese => Intent::CompareThese,
        MusicVerb::Details => Intent::Details { which: x, aspect: Aspect::Everything },
        MusicVerb::Lyrics => Intent::Details { which: x, aspect: Aspect::Lyrics },
        MusicVerb::Playlist | MusicVerb::PlaylistMixed => playlist(language, &x, None),
        MusicVerb::PlaylistSized => match playlist(language, &x, None) {
            Intent::Playlist { about, title, .. } => {
                Intent::Playlist { about, title, limit: language.words.number(&fold(&y)) }
            }
            other => other,
        },
        MusicVerb::PlaylistCalled => playlist(language, &x, Some(y)),
        MusicVerb::PlaylistThese => Intent::PlaylistOfThese,
        MusicVerb::Own => Intent::Own(x),
        MusicVerb::Mine => among(Whose::Mine, inner(language, &raw, nesting)),
        MusicVerb::Unowned => among(Whose::NotMine, inner(language, &raw, nesting)),
        MusicVerb::Vague => Intent::Vague,
        MusicVerb::MakeSound => Intent::Player,
        MusicVerb::Remove => Intent::ChangeLibrary,
        MusicVerb::PlaylistAdd => Intent::Edit(Edit::Add { which: x, list: named(y) }),
        MusicVerb::PlaylistDrop => Intent::Edit(Edit::Remove { which: x, list: named(y) }),
        MusicVerb::PlaylistFirst => Intent::Edit(Edit::Move { which: x, to: 1, list: named(y) }),
        MusicVerb::PlaylistLast => Intent::Edit(Edit::Move { which: x, to: -1, list: named(y) }),
        MusicVerb::PlaylistMove => match place(language, &y) {
            Some(to) => Intent::Edit(Edit::Move { which: x, to, list: None }),
            None => Intent::ToPlaylist,
        },
        MusicVerb::PlaylistRename => Intent::Edit(Edit::Rename { list: named(x), title: y }),
        MusicVerb::PlaylistOpen => Intent::Edit(Edit::Open { list: named(x) }),
        MusicVerb::Playlists => Intent::Playlists,
        MusicVerb::LibrarySize => Intent::LibrarySize,
        MusicVerb::OwnThese => Intent::OwnThese,
    }
}

fn named(name: String) -> Option<String> {
    Some(name).filter(|name| !name.is_empty())
}

/// "3", "third", "the last".
fn place(language: &Language, text: &str) -> Option<i64> {
    match places(language, text)?.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// Parses the text after "find me": another intent, or plain words.
fn inner(language: &Language, raw: &str, nesting: usize) -> Intent {
    let (limit, rest) = counted(language, raw);
    let is_shell = nesting > 0 && language.music(rest).is_some_and(|heard| heard.meaning != MusicVerb::Search);
    let intent = if is_shell { one(language, rest, nesting - 1) } else { plain(language, rest, nesting) };
    match intent {
        Intent::Mood { query, whose, limit: inside } => Intent::Mood { query, whose, limit: limit.or(inside) },
        Intent::Name { query, kind, limit: inside } => Intent::Name { query, kind, limit: limit.or(inside) },
        other => other,
    }
}

fn among(whose: Whose, intent: Intent) -> Intent {
    match intent {
        Intent::Mood { query, limit, .. } => Intent::Mood { query, limit, whose },
        // "running" may be a name; among the user's own songs it is a mood.
        Intent::Name { query, limit, kind: Kind::Both } => Intent::Mood { query, limit, whose },
        other => other,
    }
}

/// A message that mentions the catalogue is a search of the catalogue.
fn on_tidal(intent: Intent) -> Intent {
    match intent {
        Intent::Mood { query, limit, .. } => Intent::MoodOnTidal { query, limit },
        Intent::Mix { name, .. } => Intent::Name { query: name, kind: Kind::Tracks, limit: None },
        other => other,
    }
}

const QUOTES: [char; 5] = ['"', '“', '„', '«', '\''];

/// Words without a verb: a mood if one of them is a known mood, else the name of an artist or a track.
fn plain(language: &Language, text: &str, nesting: usize) -> Intent {
    const LONGEST_NAME: usize = 5;
    let (limit, rest) = counted(language, text);
    if rest.len() < text.len() && nesting > 0 && language.music(rest).is_some() {
        return inner(language, text, nesting - 1);
    }
    let folded = folded(rest);
    let says_something =
        folded.iter().any(|word| !language.words.is("music", word) && !language.words.is("small", word));
    if !says_something {
        return Intent::Vague;
    }
    let is_quoted = rest.starts_with(QUOTES);
    let is_mood = |word: &String| language.words.is_nearly("mood", word) || language.words.is("music", word);
    if is_quoted || folded.len() <= LONGEST_NAME && !folded.iter().any(is_mood) {
        return Intent::Name { query: trimmed(rest).to_owned(), kind: Kind::Both, limit };
    }
    Intent::Mood { query: trimmed(rest).to_owned(), limit, whose: Whose::Any }
}

/// Splits "five songs …", "some good …" into the number and the rest.
fn counted<'t>(language: &Language, text: &'t str) -> (Option<usize>, &'t str) {
    const MOST: usize = 50;
    let words = words(text);
    let rest = language.words.without_leads(&words);
    let number = rest.first().filter(|_| rest.len() > 1).and_then(|word| language.words.number(&word.folded));
    let limit = number.filter(|number| (1..=MOST).contains(number));
    let rest = if limit.is_some() { language.words.without_leads(&rest[1..]) } else { rest };
    // Quotes are kept, because they distinguish names from moods.
    let from = rest.first().map_or(0, |word| word.start);
    let to = rest.last().map_or(text.len(), |word| word.end);
    (limit, &text[from..to])
}

fn theme(language: &Language, x: &str) -> Intent {
    let (limit, query) = counted(language, x);
    if folded(query).iter().all(|word| language.words.is("music", word)) {
        return Intent::Vague;
    }
    Intent::Mood { query: trimmed(query).to_owned(), limit, whose: Whose::Any }
}

/// "songs by X". After "of" and "from" a mood may follow too: "songs of hope", "something from the eighties".
fn by_artist(language: &Language, x: &str) -> Intent {
    let is_lower = !x.chars().any(char::is_uppercase);
    if is_lower && folded(x).iter().any(|word| language.words.is("mood", word)) {
        return Intent::Mood { query: x.to_owned(), limit: None, whose: Whose::Any };
    }
    Intent::Name { query: x.to_owned(), kind: Kind::Tracks, limit: None }
}

/// "X by Y": a song or a mood by an artist.
fn song_by(language: &Language, x: &str, y: &str) -> Intent {
    let (limit, x) = counted(language, x);
    let words = folded(x);
    let (query, name) = (format!("{} {y}", trimmed(x)), y.to_owned());
    if words.iter().all(|word| language.words.is("music", word)) {
        return Intent::Name { query: name, kind: Kind::Tracks, limit };
    }
    if words.iter().any(|word| language.words.is("music", word)) {
        return Intent::Mix { query, name };
    }
    Intent::Name { query, kind: Kind::Tracks, limit }
}

/// "something like X": X is a song or an artist, unless it is a long description of a mood.
fn more_like(language: &Language, x: &str, nesting: usize) -> Intent {
    let turn = [" but ", " aber ", " mais ", " pero "].into_iter().find_map(|turn| x.split_once(turn));
    let (which, _) = turn.unwrap_or((x, ""));
    match plain(language, which, nesting) {
        Intent::Mood { query, limit, whose } if places(language, which).is_none() && query.split(' ').count() > 4 => {
            Intent::Mood { query, limit, whose }
        }
        _ => Intent::MoreLike(which.to_owned()),
    }
}

fn playlist(language: &Language, x: &str, title: Option<String>) -> Intent {
    // "Add that to the road trip playlist" refers to an existing playlist and does not create one.
    const EDITS: [&str; 16] = [
        "add", "put", "save", "remove", "delete", "move", "rename", "take", "fuge", "loesche", "losche", "ajoute",
        "supprime", "anade", "quita", "include",
    ];
    if folded(x).first().is_some_and(|word| EDITS.contains(&word.as_str())) {
        return Intent::ToPlaylist;
    }
    if places(language, x).is_some() {
        return Intent::Playlist { about: x.to_owned(), title, limit: None };
    }
    let (limit, rest) = counted(language, x);
    let about = match language.music(rest).filter(|heard| heard.meaning == MusicVerb::AboutTheme) {
        Some(heard) => trimmed(&heard.x).to_owned(),
        None => trimmed(rest).to_owned(),
    };
    Intent::Playlist { about, title, limit }
}

/// The ISRCs in a message. A code ends in seven digits, so a word of twelve letters is not a code.
pub(crate) fn isrcs(message: &str) -> Vec<String> {
    let codes = message.split_whitespace().map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()));
    let codes = codes.filter_map(|word| word.parse::<Isrc>().ok());
    let ends_in_digits = |code: &Isrc| code.as_str()[5..].bytes().all(|digit| digit.is_ascii_digit());
    codes.filter(ends_in_digits).map(String::from).collect()
}

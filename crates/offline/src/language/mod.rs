//! The meaning of a sentence: the three grammars (`grammar/*.txt`), and the splitting of a message into sentences.

pub(crate) mod pattern;
pub(crate) mod pick;
pub(crate) mod text;
pub(crate) mod words;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use self::{
    pattern::Grammar,
    text::{Likeness, Word, trimmed, words},
    words::{Lang, Words},
};
use super::say::Phrases;

/// Every meaning that the grammars know.
pub(crate) struct Language {
    talk: Grammar<(Talk, Lang)>,
    tasks: Grammar<(TaskVerb, Lang)>,
    music: Grammar<(MusicVerb, Lang)>,
    pub(crate) words: Words,
    pub(crate) phrases: Phrases,
}

/// For both agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Talk {
    Greet,
    Thanks,
    Bye,
    Help,
    Who,
    Yes,
    No,
    Offtopic,
    /// Something to do: a task for the Tasks agent, not supported by the Discover agent.
    Errand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TaskVerb {
    Add,
    ListAll,
    ListPending,
    ListCompleted,
    Find,
    Complete,
    CompleteAll,
    Delete,
    DeleteAll,
    DeleteCompleted,
    Rename,
    RenameIt,
    /// A rename without the new title, or with the new title after a colon.
    RenameWhat,
    Describe,
    /// The note follows a colon.
    DescribeColon,
    Uncomplete,
    Undo,
    /// "Don't delete it": has the form of a command and means the opposite.
    Keep,
    How,
    /// Features that tasks do not have: dates, priorities, sharing.
    Due,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MusicVerb {
    Search,
    AboutTheme,
    ImFeeling,
    Artist,
    Name,
    /// The message mentions the catalogue.
    OnTidal,
    Song,
    SongBy,
    Album,
    AlbumsBy,
    AlbumTracks,
    More,
    MoreLike,
    Compare,
    CompareThese,
    Details,
    Lyrics,
    Playlist,
    /// Comparison of age: "older", "newer", without other words.
    PlaylistMixed,
    PlaylistSized,
    PlaylistCalled,
    PlaylistThese,
    Own,
    /// A mood among the user's own songs, or among the others.
    Mine,
    Unowned,
    Vague,
    /// Play, pause, skip. Segue finds music and does not play it.
    MakeSound,
    /// A change of the library, for which there is no tool.
    Remove,
    /// A change of an existing playlist, or a look at it.
    PlaylistAdd,
    PlaylistDrop,
    PlaylistFirst,
    PlaylistLast,
    PlaylistMove,
    PlaylistRename,
    PlaylistOpen,
    /// The user's playlists.
    Playlists,
    LibrarySize,
    /// Which of the shown tracks are in the library.
    OwnThese,
}

/// A parsed sentence: its meaning, and the words in its slots as typed, including quotes.
#[derive(Clone, Debug)]
pub(crate) struct Heard<T> {
    pub(crate) meaning: T,
    pub(crate) lang: Lang,
    pub(crate) x: String,
    pub(crate) y: String,
    has_typo: bool,
}

/// A longer message is a document, for which the patterns are useless.
pub(crate) const MAX_WORDS: usize = 150;

impl Language {
    pub(crate) fn new() -> Self {
        Self {
            // A word that looks like a greeting is more frequent than a mistyped greeting: "dance" is not "danke".
            talk: Grammar::new(Likeness::Same, lines(include_str!("grammar/talk.txt"))),
            tasks: Grammar::new(Likeness::Near, lines(include_str!("grammar/tasks.txt"))),
            music: Grammar::new(Likeness::Near, lines(include_str!("grammar/discover.txt"))),
            words: Words::new(include_str!("grammar/words.txt")),
            phrases: Phrases::new(include_str!("../say.txt")),
        }
    }

    pub(crate) fn talk(&self, sentence: &str) -> Option<Heard<Talk>> {
        self.hear(&self.talk, sentence)
    }

    pub(crate) fn task(&self, sentence: &str) -> Option<Heard<TaskVerb>> {
        // "remote control batteries" must not be read as a mistyped "remove control batteries".
        let deletes = |verb| matches!(verb, TaskVerb::Delete | TaskVerb::DeleteAll | TaskVerb::DeleteCompleted);
        self.hear(&self.tasks, sentence).filter(|heard| !(heard.has_typo && deletes(heard.meaning)))
    }

    pub(crate) fn music(&self, sentence: &str) -> Option<Heard<MusicVerb>> {
        self.hear(&self.music, sentence)
    }

    /// Parses the sentence with and without polite words: "can you delete tasks" is a question about Segue, "can you delete
    /// milk" is a request. The parse that explains more words wins.
    fn hear<T: Copy>(&self, grammar: &Grammar<(T, Lang)>, sentence: &str) -> Option<Heard<T>> {
        let all = words(sentence);
        let bare = self.words.bare(&all);
        let readings = [bare, &all].map(|words| Some((words, grammar.best(words)?)));
        let best = readings.into_iter().flatten().reduce(|a, b| if b.1.score > a.1.score { b } else { a });
        let (words, fit) = best?;
        let slot = |slot: Option<(usize, usize)>| {
            slot.map_or_else(String::new, |(from, to)| sentence[words[from].start..words[to - 1].end].to_owned())
        };
        let (meaning, lang) = fit.meaning;
        Some(Heard { meaning, lang, x: slot(fit.slots.x), y: slot(fit.slots.y), has_typo: fit.slots.has_typo })
    }

    /// The language of a message, if its function words or its pattern show it.
    pub(crate) fn lang(&self, message: &str) -> Option<Lang> {
        let words = words(message);
        if words.len() > MAX_WORDS {
            return self.words.lang(&words[..MAX_WORDS]);
        }
        self.words.lang(&words).or_else(|| self.talk(message).map(|heard| heard.lang))
    }

    /// The sentence as typed, without polite words.
    pub(crate) fn bare<'t>(&self, sentence: &'t str) -> &'t str {
        cut(sentence, self.words.bare(&words(sentence)))
    }

    pub(crate) fn is_question(&self, sentence: &str) -> bool {
        let first = words(sentence).into_iter().next();
        sentence.trim_end().ends_with('?') || first.is_some_and(|word| self.words.is("question", &word.folded))
    }
}

/// The typed text from the first to the last of these words.
pub(crate) fn cut<'t>(text: &'t str, words: &[Word]) -> &'t str {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return "" };
    trimmed(&text[first.start..last.end])
}

/// The sentences of a message, each with its closing mark. A line break also ends a sentence.
pub(crate) fn sentences(message: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in message.lines() {
        let mut from = 0;
        for (at, mark) in line.match_indices(['.', '!', '?', ';']) {
            let end = at + mark.len();
            // The full stops in "3.5", "Dr. Lee" and "1. milk" do not end a sentence.
            let goes_on = line[end..].chars().next().is_some_and(|next| !next.is_whitespace());
            let only_shortens = mark == "." && is_short_form(&line[from..at]);
            if !goes_on && !only_shortens {
                sentences.push(line[from..end].trim());
                from = end;
            }
        }
        sentences.push(line[from..].trim());
    }
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// Whether a full stop after this text belongs to an abbreviation or to a list number.
fn is_short_form(text: &str) -> bool {
    let last = text.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let is_title = matches!(
        last.as_str(),
        "dr" | "mr" | "mrs" | "ms" | "st" | "prof" | "vs" | "nr" | "no" | "feat" | "ft" | "sr" | "sra"
    );
    is_title && !text.trim().eq_ignore_ascii_case("no") || text.trim().chars().all(|letter| letter.is_ascii_digit())
}

/// The lines of a grammar file: `# en` starts a language, `name: pattern` is one meaning.
fn lines<T: DeserializeOwned>(data: &'static str) -> impl Iterator<Item = ((T, Lang), &'static str)> {
    let mut lang = Lang::En;
    data.lines().filter(|line| !line.is_empty()).filter_map(move |line| {
        if let Some(code) = line.strip_prefix("# ") {
            lang = Lang::parse(code).expect("a grammar file contains only known languages");
            return None;
        }
        let (name, pattern) = line.split_once(": ").expect("a grammar line is `name: pattern`");
        let meaning = serde_json::from_value(Value::from(name)).expect("a grammar file contains only known meanings");
        Some(((meaning, lang), pattern))
    })
}

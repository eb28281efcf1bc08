//! What a sentence asks for: the three grammars (`grammar/*.txt`) and how a message is cut into sentences.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    pattern::Grammar,
    say::Phrases,
    text::{Likeness, Word, trimmed, words},
    words::{Tongue, Words},
};

/// Everything we can understand.
pub(super) struct Language {
    talk: Grammar<(Talk, Tongue)>,
    tasks: Grammar<(TaskVerb, Tongue)>,
    music: Grammar<(MusicVerb, Tongue)>,
    pub(super) words: Words,
    pub(super) phrases: Phrases,
}

/// Said to both agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Talk {
    Greet,
    Thanks,
    Bye,
    Help,
    Who,
    Yes,
    No,
    Offtopic,
    /// A thing to do: a task for one agent, beyond the other.
    Errand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TaskVerb {
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
    /// Which one to rename is said, the new title is not (or follows a colon).
    RenameWhat,
    Describe,
    /// The note follows a colon.
    DescribeColon,
    Uncomplete,
    Undo,
    /// "Don't delete it": looks like a command and is the opposite.
    Keep,
    How,
    /// Dates, priorities, sharing: what our tasks do not have.
    Due,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MusicVerb {
    Search,
    AboutTheme,
    ImFeeling,
    Artist,
    Name,
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
    PlaylistSized,
    PlaylistCalled,
    PlaylistThese,
    Own,
    Vague,
    /// Play, pause, skip: we find music, we do not play it.
    MakeSound,
    /// Changing the library: no tool does that.
    Remove,
}

/// A sentence understood: its meaning and the words in its slots, as they were typed, quotes and all.
#[derive(Clone, Debug)]
pub(super) struct Heard<T> {
    pub(super) meaning: T,
    pub(super) tongue: Tongue,
    pub(super) x: String,
    pub(super) y: String,
}

/// Beyond this a message is a document, and our patterns say nothing about it.
pub(super) const MAX_WORDS: usize = 150;

impl Language {
    pub(super) fn new() -> Self {
        Self {
            // A mistyped greeting is rarer than a word that looks like one: "dance" is not "danke".
            talk: Grammar::new(Likeness::Same, lines(include_str!("grammar/talk.txt"))),
            tasks: Grammar::new(Likeness::Near, lines(include_str!("grammar/tasks.txt"))),
            music: Grammar::new(Likeness::Near, lines(include_str!("grammar/discover.txt"))),
            words: Words::new(include_str!("grammar/words.txt")),
            phrases: Phrases::new(include_str!("grammar/say.txt")),
        }
    }

    pub(super) fn talk(&self, sentence: &str) -> Option<Heard<Talk>> {
        self.hear(&self.talk, sentence)
    }

    pub(super) fn task(&self, sentence: &str) -> Option<Heard<TaskVerb>> {
        self.hear(&self.tasks, sentence)
    }

    pub(super) fn music(&self, sentence: &str) -> Option<Heard<MusicVerb>> {
        self.hear(&self.music, sentence)
    }

    /// Both with and without the politeness around it: "can you delete tasks" is a question about us,
    /// "can you delete milk" a wish. The reading that explains more words wins.
    fn hear<T: Copy>(&self, grammar: &Grammar<(T, Tongue)>, sentence: &str) -> Option<Heard<T>> {
        let all = words(sentence);
        let bare = self.words.bare(&all);
        let readings = [bare, &all].map(|words| Some((words, grammar.best(words)?)));
        let best = readings.into_iter().flatten().reduce(|a, b| if b.1.score > a.1.score { b } else { a });
        let (words, fit) = best?;
        let slot = |slot: Option<(usize, usize)>| {
            slot.map_or_else(String::new, |(from, to)| sentence[words[from].start..words[to - 1].end].to_owned())
        };
        let (meaning, tongue) = fit.meaning;
        Some(Heard { meaning, tongue, x: slot(fit.slots.x), y: slot(fit.slots.y) })
    }

    /// The language of a message, if its little words or its pattern tell.
    pub(super) fn tongue(&self, message: &str) -> Option<Tongue> {
        let words = words(message);
        let by_words = self.words.tongue(&words[..words.len().min(MAX_WORDS)]);
        by_words.or_else(|| self.talk(message).map(|heard| heard.tongue))
    }

    /// The sentence without politeness, as it was typed.
    pub(super) fn bare<'t>(&self, sentence: &'t str) -> &'t str {
        cut(sentence, self.words.bare(&words(sentence)))
    }

    pub(super) fn is_question(&self, sentence: &str) -> bool {
        let first = words(sentence).into_iter().next();
        sentence.trim_end().ends_with('?') || first.is_some_and(|word| self.words.is("question", &word.folded))
    }
}

/// The typed text from the first to the last of some neighbouring words.
pub(super) fn cut<'t>(text: &'t str, words: &[Word]) -> &'t str {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return "" };
    trimmed(&text[first.start..last.end])
}

/// The sentences of a message, each with its closing mark. Lines end sentences too.
pub(super) fn sentences(message: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in message.lines() {
        let mut from = 0;
        for (at, mark) in line.match_indices(['.', '!', '?', ';']) {
            let end = at + mark.len();
            // "3.5", "Dr. Lee" and "1. milk" go on.
            let goes_on = line[end..].chars().next().is_some_and(|next| !next.is_whitespace());
            if !goes_on && !(mark == "." && is_short_form(&line[from..at])) {
                sentences.push(line[from..end].trim());
                from = end;
            }
        }
        sentences.push(line[from..].trim());
    }
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// Whether a full stop after this text only shortens a word or marks a line of a list.
fn is_short_form(text: &str) -> bool {
    let last = text.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let is_title = matches!(last.as_str(), "dr" | "mr" | "mrs" | "ms" | "st" | "prof" | "vs" | "nr" | "no" | "feat" | "ft" | "sr" | "sra");
    is_title && !text.trim().eq_ignore_ascii_case("no") || text.trim().chars().all(|letter| letter.is_ascii_digit())
}

/// The lines of a grammar file: `# en` begins a language, `name: pattern` is one meaning.
fn lines<T: DeserializeOwned>(data: &'static str) -> impl Iterator<Item = ((T, Tongue), &'static str)> {
    let mut tongue = Tongue::En;
    data.lines().filter(|line| !line.is_empty()).filter_map(move |line| {
        if let Some(code) = line.strip_prefix("# ") {
            tongue = Tongue::parse(code).expect("a grammar file names only languages we have");
            return None;
        }
        let (name, pattern) = line.split_once(": ").expect("a grammar line is `name: pattern`");
        let meaning = serde_json::from_value(Value::from(name)).expect("a grammar file names only meanings we have");
        Some(((meaning, tongue), pattern))
    })
}

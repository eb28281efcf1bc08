//! The phrases of the answers, in each language.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::language::words::Lang;

macro_rules! phrases {
    ($($name:ident,)*) => {
        /// A phrase; each `{}` is replaced in order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum Phrase { $($name,)* }

        #[cfg(test)]
        const ALL: &[Phrase] = &[$(Phrase::$name,)*];
    };
}

phrases! {
    LookAtList,
    Adding,
    Working,
    Added,
    AddedReminder,
    Completed,
    Deleted,
    Renamed,
    Described,
    Failed,
    NoTasks,
    NoPending,
    NoCompleted,
    YourTasks,
    YourPending,
    YourCompleted,
    FoundTasks,
    NothingAbout,
    WhichOne,
    DidYouMean,
    NotOnList,
    NoSuchPlace,
    Gone,
    ShallIAdd,
    WhatToAdd,
    AlreadyDone,
    ConfirmDelete,
    ReallyDelete,
    NothingToDelete,
    NothingToComplete,
    LeftAlone,
    WhatToDoWith,
    WhatInstead,
    NoUncomplete,
    NoUndo,
    NoDates,
    TasksHelp,
    SearchIndex,
    SearchTidal,
    SearchBoth,
    OpenAlbum,
    LookUp,
    MakingPlaylist,
    TidalFailed,
    TidalOff,
    NothingOnTidal,
    FoundTracks,
    FoundWeak,
    FoundNothing,
    FoundOnTidal,
    Albums,
    AlbumHas,
    NoSuchAlbum,
    NoMore,
    SearchFailed,
    AskMood,
    AskWhichTrack,
    DontKnowTrack,
    NotIndexed,
    PlaylistMade,
    PlaylistFailed,
    PlaylistEmpty,
    InLibrary,
    NotInLibrary,
    MoreHint,
    MoreHintOne,
    NoPlayer,
    NoLibraryTool,
    NoPlaylistEdit,
    ChangingPlaylist,
    PlaylistEditFailed,
    AskWhichPlaylist,
    NotOnPlaylist,
    PlaylistHas,
    AddedToPlaylist,
    RemovedFromPlaylist,
    MovedOnPlaylist,
    RenamedPlaylist,
    PlaylistsPage,
    YourPlaylists,
    NoPlaylists,
    LibraryPage,
    OwnNoneOfThese,
    NoYears,
    SoundAlike,
    DiscoverHelp,
    NoLyrics,
    MoreInCard,
    Hello,
    Welcome,
    Bye,
    WhoAmI,
    Offtopic,
    TooLong,
    OutOfSteps,
    NoTools,
}

/// Every phrase in every language (`say.txt`).
pub(crate) struct Phrases(HashMap<Phrase, HashMap<Lang, String>>);

impl Phrases {
    pub(crate) fn new(data: &'static str) -> Self {
        let mut phrases: HashMap<Phrase, HashMap<Lang, String>> = HashMap::new();
        let mut current = None;
        for line in data.lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                current = serde_json::from_value(Value::from(name)).ok();
                debug_assert!(current.is_some(), "unknown phrase {name}");
            } else if let (Some(phrase), Some((code, text))) = (current, line.split_once(": "))
                && let Some(lang) = Lang::parse(code)
            {
                phrases.entry(phrase).or_default().insert(lang, text.replace("\\n", "\n"));
            }
        }
        Self(phrases)
    }

    /// The phrase in a language, with its placeholders replaced.
    pub(crate) fn say(&self, lang: Lang, phrase: Phrase, gaps: &[&str]) -> String {
        let text = self.0.get(&phrase).and_then(|texts| texts.get(&lang));
        let mut pieces = text.expect("every phrase exists in every language").split("{}");
        let mut said = pieces.next().unwrap_or_default().to_owned();
        for (piece, gap) in pieces.zip(gaps.iter().chain(std::iter::repeat(&""))) {
            said.push_str(gap);
            said.push_str(piece);
        }
        said
    }
}

/// Text from a tool or a user as one line, without Markdown marks.
pub(crate) fn plain(text: &str) -> String {
    let text = text.replace(['*', '`', '<', '>'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn strong(text: &str) -> String {
    format!("**{}**", plain(text))
}

/// "a, b and c", in bold.
pub(crate) fn list(lang: Lang, names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| strong(name)).collect();
    let and = match lang {
        Lang::En => "and",
        Lang::De => "und",
        Lang::Fr => "et",
        Lang::Es => "y",
    };
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {and} {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_exists_in_every_language_with_the_same_placeholders() {
        let phrases = Phrases::new(include_str!("say.txt"));
        for phrase in ALL {
            let texts = phrases.0.get(phrase).unwrap_or_else(|| panic!("{phrase:?} has no text"));
            let n_gaps: Vec<_> = Lang::ALL.iter().map(|lang| texts[lang].matches("{}").count()).collect();
            assert!(n_gaps.iter().all(|n| *n == n_gaps[0]), "{phrase:?}: {n_gaps:?}");
        }
        assert_eq!(
            phrases.say(Lang::Fr, Phrase::DidYouMean, &["lait", "pain"]),
            "Je ne vois pas « lait » dans ta liste. Tu veux dire **pain** ?"
        );
    }
}

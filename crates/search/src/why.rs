//! Explains a hit: the matching phrase or tag, the line of lyrics, the audio features, the limit that it meets, or the
//! sentence that is closest in meaning.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Filter, embed::StaticTable, fuse::dot, read_track::ReadTrack, track_words::SharedWord};
use music::Track;
use query::{
    features::{SoundPreference, fitting_features},
    gloss,
    stop::{ContentWord, content_words},
    words::words,
};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The line of the lyrics that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lyric: Option<String>,
    /// Words of the query that the track's names, meaning or lyrics have, as typed, or translated: `money (Geld)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Tags that the query names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Audio features that fit the query, such as `low energy (0.12)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Facts that meet the limits of the search, such as `1994`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// The sentence of the interpretation that is closest in meaning to the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_to: Option<String>,
}

/// A query, prepared once for the explanations of all hits.
pub struct Asked {
    /// The content words of all wordings, without repetitions.
    words: Vec<AskedWord>,
    /// The words of each wording, by their places in `words`.
    wordings: Vec<HashSet<usize>>,
    preferences: Vec<SoundPreference>,
    filter: Filter,
    vector: Vec<f32>,
}

struct AskedWord {
    term: String,
    /// As the query spells it, in lower case.
    spelled: String,
    /// The word of the message that it translates.
    said: Option<String>,
    /// A common word with many meanings, beside others that say more.
    is_weak: bool,
}

impl AskedWord {
    /// "money (Geld)": the listener typed the word in brackets, the track has the other.
    fn told(&self) -> String {
        match &self.said {
            Some(said) => format!("{} ({said})", self.spelled),
            None => self.spelled.clone(),
        }
    }
}

/// Minimum similarity of a sentence in an explanation.
const CLOSE_FROM: f32 = 0.25;
/// The same, if the explanation has nothing else: then the meaning decided, by more than one sentence.
const ALONE_FROM: f32 = 0.1;

impl Asked {
    /// `filter` contains the denied words, which are never an explanation.
    pub fn new(queries: &[String], preferences: Vec<SoundPreference>, filter: &Filter) -> Self {
        let denied: HashSet<String> = filter.denied_terms().into_iter().flatten().collect();
        let message = queries.first().map_or("", String::as_str);
        let translations = translations(message);
        let (mut words, mut places) = (Vec::<AskedWord>::new(), HashMap::new());
        let mut wordings = Vec::new();
        for query in queries {
            let content = content_words(query).into_iter().filter(|content| !denied.contains(&content.word.term));
            let asked = content.map(|ContentWord { word, weight, .. }| {
                *places.entry(word.term.clone()).or_insert_with(|| {
                    let spelled = query[word.start..word.end].to_lowercase();
                    let said = translations.get(&word.term).filter(|said| said.to_lowercase() != spelled).cloned();
                    words.push(AskedWord { term: word.term, spelled, said, is_weak: weight < 1.0 });
                    words.len() - 1
                })
            });
            wordings.push(asked.collect::<HashSet<usize>>());
        }
        if words.iter().all(|word| word.is_weak) {
            words.iter_mut().for_each(|word| word.is_weak = false);
        }
        wordings.iter_mut().for_each(|wording| wording.retain(|at| !words[*at].is_weak));
        Self { words, wordings, preferences, filter: filter.clone(), vector: vector_of(message) }
    }

    pub(crate) fn why(&self, read: &ReadTrack) -> Why {
        let track = &read.track;
        let shared = read.words.shared(self.words.iter().map(|word| word.term.as_str()));
        let is_english = track.language.as_deref().is_none_or(|language| language == "en");
        let tells = |word: &SharedWord| !self.words[word.term].is_weak;
        // "Man" is another word in German lyrics than in the English meaning of a message.
        let is_sung = |word: &SharedWord| tells(word) && (is_english || self.words[word.term].said.is_none());
        let sung: Vec<SharedWord> = shared.in_lyrics().into_iter().filter(is_sung).collect();
        let told = shared.in_meaning().into_iter().filter(tells);
        let has: HashSet<usize> = told.chain(sung.iter().copied()).map(|word| word.term).collect();
        // Words explain the hit if they are most of a wording; otherwise the meaning decided.
        let n_found = |wording: &HashSet<usize>| wording.intersection(&has).count();
        let is_by_words = self.wordings.iter().any(|wording| 2 * n_found(wording) > wording.len());
        let tags = track.tags.iter().zip(shared.named_tags()).filter(|(_, is_named)| *is_named);
        let mut why = Why {
            lyric: best_line(read.lyrics(), &sung),
            words: self.told(&has),
            tags: tags.map(|(tag, _)| tag.clone()).collect(),
            features: fitting_features(&self.preferences, track.audio_features.as_ref()),
            limits: met(&self.filter, track),
            close_to: None,
        };
        if !is_by_words {
            why.close_to = self.closest_sentence(read, if why == Why::default() { ALONE_FROM } else { CLOSE_FROM });
        }
        why
    }

    /// The found words as a listener reads them. Of two English words for one typed word, the first is enough.
    fn told(&self, has: &HashSet<usize>) -> Vec<String> {
        let mut translated = HashSet::new();
        let found = self.words.iter().enumerate().filter(|(at, _)| has.contains(at)).map(|(_, word)| word);
        let told_once = found.filter(|word| word.said.as_ref().is_none_or(|said| translated.insert(said)));
        told_once.map(AskedWord::told).collect()
    }

    fn closest_sentence(&self, read: &ReadTrack, from: f32) -> Option<String> {
        let denied = self.filter.denied_terms();
        let says_denied = |sentence: &str| {
            if denied.is_empty() {
                return false;
            }
            let has: HashSet<String> = words(sentence).into_iter().map(|word| word.term).collect();
            denied.iter().any(|terms| terms.iter().all(|term| has.contains(term)))
        };
        let rated = read.sentences().iter().map(|sentence| (dot(&self.vector, &sentence.vector), sentence));
        let allowed = rated.filter(|(_, sentence)| !says_denied(read.text_of(sentence)));
        let (closeness, sentence) = allowed.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (closeness >= from).then(|| read.text_of(sentence).to_owned())
    }
}

/// The words of a message in German, French or Spanish, by the terms of their English meaning.
fn translations(message: &str) -> HashMap<String, String> {
    let translated = gloss::translated(message).into_iter();
    let by_term = |word: gloss::Translated<'_>| {
        let said = word.said.to_owned();
        words(&word.english).into_iter().map(|word| word.term).map(move |term| (term, said.clone())).collect::<Vec<_>>()
    };
    translated.flat_map(by_term).collect()
}

/// The table is of English texts, so that a query in another language is compared by its English words.
pub(crate) fn vector_of(query: &str) -> Vec<f32> {
    let english = gloss::english(query);
    table().map(|table| table.vector(english.as_deref().unwrap_or(query))).unwrap_or_default()
}

/// Uses the built-in embedder, independent of the index, because it needs only microseconds per sentence.
pub(crate) fn table() -> Option<&'static StaticTable> {
    static TABLE: LazyLock<Option<StaticTable>> = LazyLock::new(|| StaticTable::built_in().ok());
    TABLE.as_ref()
}

/// The facts of a track that a limit refers to.
fn met(filter: &Filter, track: &Track) -> Vec<String> {
    let clock = |seconds: f64| format!("{}:{:02}", seconds.round() as u64 / 60, seconds.round() as u64 % 60);
    let year = filter.years.and_then(|_| track.year()).map(|year| year.to_string());
    let length = filter.duration.and(track.duration).map(clock);
    let language = filter.language.as_ref().and_then(|_| track.language.clone()).map(|code| format!("language {code}"));
    let kind = filter.instrumental.map(|is| if is { "instrumental" } else { "with vocals" }.to_owned());
    let tempo = filter.features.iter().find(|range| range.feature == query::Feature::Tempo);
    let tempo = tempo.and_then(|_| track.audio_features.as_ref()?.tempo).map(|bpm| format!("{bpm:.0} BPM"));
    [year, length, tempo, language, kind].into_iter().flatten().collect()
}

/// The line with most of the found words; the first one if several have the same number.
fn best_line(lyrics: &str, sung: &[SharedWord]) -> Option<String> {
    if sung.is_empty() {
        return None;
    }
    let start_of = |line: &str| line.as_ptr() as usize - lyrics.as_ptr() as usize;
    let shared = |line: &str| {
        let places = start_of(line)..start_of(line) + line.len();
        sung.iter().filter(|word| places.contains(&word.start)).map(|word| word.term).collect::<HashSet<_>>().len()
    };
    let lines = lyrics.lines().map(|line| (shared(line), line));
    let (n_shared, line) = lines.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (n_shared > 0).then(|| line.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(message: &str, meaning: &str) -> Why {
        let isrc = "ZZSEG2600001".parse().expect("a code");
        let mut track = Track::named(isrc, "Number One".into(), "Someone".into(), String::new());
        track.interpretation = Some(meaning.into());
        let queries: Vec<String> = [Some(message.to_owned()), gloss::english(message)].into_iter().flatten().collect();
        Asked::new(&queries, Vec::new(), &Filter::default()).why(&ReadTrack::of(track))
    }

    #[test]
    fn a_translated_word_is_named_with_the_word_that_was_typed() {
        let words_of = |message, meaning| why(message, meaning).words;
        assert_eq!(words_of("Lieder über Geld", "She dreams of money."), ["money (Geld)"]);
        assert_eq!(words_of("songs about money", "She dreams of money."), ["money"]);
        assert_eq!(words_of("ein altes Schiff", "A ship, a boat, a sail."), ["ship (Schiff)"], "both words mean one");
        assert_eq!(words_of("Piano und Geld", "A piano. No money."), ["piano", "money (Geld)"]);
    }

    #[test]
    fn a_common_word_is_named_only_if_the_message_has_no_other() {
        let text = "The last train leaves, and after that nobody is left.";
        assert_eq!(why("last train", text).words, ["train"]);
        assert_eq!(why("the last one left", text).words, ["last", "left"]);
        assert_eq!(why("the last elephant", text).words, Vec::<String>::new());
    }

    #[test]
    fn a_translated_word_is_not_looked_for_in_lyrics_of_another_language() {
        let isrc = "ZZSEG2600001".parse().expect("a code");
        let mut track = Track::named(isrc, "Number One".into(), "Someone".into(), String::new());
        track.lyrics = Some("Gift in meinem Glas".into());
        let asked = Asked::new(&["un regalo".into(), "gift".into()], Vec::new(), &Filter::default());
        assert_eq!(asked.why(&ReadTrack::of(track.clone())).lyric.as_deref(), Some("Gift in meinem Glas"));
        track.language = Some("de".into());
        assert_eq!(asked.why(&ReadTrack::of(track)), Why::default(), "poison");
    }

    #[test]
    fn words_that_are_most_of_a_translation_need_no_sentence() {
        let rain = "Rain falls on the window of an old house.";
        assert_eq!(why("Regen am Fenster", rain).close_to, None);
        assert!(why("Gewitter", rain).close_to.is_some(), "no word is shared");
    }
}

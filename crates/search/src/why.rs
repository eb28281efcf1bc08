//! Explains a hit: the matching phrase or tag, the line of lyrics, the audio features, the limit that it meets, or the
//! sentence that is closest in meaning.

use std::{collections::HashSet, sync::LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Filter, embed::StaticTable, fuse::dot};
use music::Track;
use query::{
    features::{SoundPreference, fitting_features},
    stop::content_words,
    words::{Word, words, words_among},
};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The line of the lyrics that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lyric: Option<String>,
    /// Words of the query that the track's names, meaning or lyrics have, as the query spells them.
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
    /// Term and spelling of each content word, without repetitions.
    words: Vec<(String, String)>,
    preferences: Vec<SoundPreference>,
    filter: Filter,
    vector: Vec<f32>,
}

/// Minimum similarity of a sentence in an explanation.
const CLOSE_FROM: f32 = 0.25;

impl Asked {
    /// `filter` contains the denied words, which are never an explanation.
    pub fn new(queries: &[String], preferences: Vec<SoundPreference>, filter: &Filter) -> Self {
        let denied: HashSet<String> = filter.denied_terms().into_iter().flatten().collect();
        let mut seen = HashSet::new();
        let spelled = |query: &String| {
            let spell = |word: Word| (word.term.clone(), query[word.start..word.end].to_lowercase());
            content_words(query).into_iter().map(|content| spell(content.word)).collect::<Vec<_>>()
        };
        let words = queries.iter().flat_map(spelled);
        let words = words.filter(|(term, _)| !denied.contains(term) && seen.insert(term.clone())).collect();
        let vector = queries.first().and_then(|query| Some(table()?.vector(query))).unwrap_or_default();
        Self { words, preferences, filter: filter.clone(), vector }
    }

    pub fn why(&self, track: &Track) -> Why {
        let terms: HashSet<&str> = self.words.iter().map(|(term, _)| term.as_str()).collect();
        let lyrics = track.lyrics.as_deref().unwrap_or_default();
        let told = words_among(&super::document::meaning(track), &terms);
        let sung = words_among(lyrics, &terms);
        let has: HashSet<&str> = told.iter().chain(&sung).map(|word| word.term.as_str()).collect();
        let shared: Vec<String> =
            self.words.iter().filter(|(term, _)| has.contains(term.as_str())).map(|(_, said)| said.clone()).collect();
        // Words explain the hit if they are most of the query; otherwise the meaning decided.
        let is_by_words = 2 * shared.len() > self.words.len();
        Why {
            lyric: best_line(lyrics, &sung),
            words: shared,
            tags: self.named_tags(track, &terms),
            features: fitting_features(&self.preferences, track.audio_features.as_ref()),
            limits: met(&self.filter, track),
            close_to: if is_by_words { None } else { self.closest_sentence(track) },
        }
    }

    fn named_tags(&self, track: &Track, terms: &HashSet<&str>) -> Vec<String> {
        let is_named = |tag: &&String| {
            let said = words(tag);
            !said.is_empty() && said.iter().all(|word| terms.contains(word.term.as_str()))
        };
        track.tags.iter().filter(is_named).cloned().collect()
    }

    fn closest_sentence(&self, track: &Track) -> Option<String> {
        let table = table()?;
        let denied = self.filter.denied_terms();
        let text = track.interpretation.as_deref().or(track.short_description.as_deref())?;
        let sentences =
            text.split_inclusive(['.', '!', '?', ';']).map(str::trim).filter(|sentence| sentence.len() > 12);
        let says_denied = |sentence: &str| {
            if denied.is_empty() {
                return false;
            }
            let has: HashSet<String> = words(sentence).into_iter().map(|word| word.term).collect();
            denied.iter().any(|terms| terms.iter().all(|term| has.contains(term)))
        };
        let rated = sentences
            .filter(|sentence| !says_denied(sentence))
            .map(|sentence| (dot(&self.vector, &table.vector(sentence)), sentence));
        let (closeness, sentence) = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (closeness >= CLOSE_FROM).then(|| sentence.to_owned())
    }
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
fn best_line(lyrics: &str, sung: &[Word]) -> Option<String> {
    let start_of = |line: &str| line.as_ptr() as usize - lyrics.as_ptr() as usize;
    let shared = |line: &str| {
        let places = start_of(line)..start_of(line) + line.len();
        sung.iter().filter(|word| places.contains(&word.start)).map(|word| &word.term).collect::<HashSet<_>>().len()
    };
    let lines = lyrics.lines().map(|line| (shared(line), line));
    let (n_shared, line) = lines.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (n_shared > 0).then(|| line.trim().to_string())
}

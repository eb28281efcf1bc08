//! Explains a hit: the matching phrase or tag, the line of lyrics, the audio features, the limit that it meets, or the
//! sentence that is closest in meaning.

use std::{collections::HashSet, sync::LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Filter, embed::StaticTable, fuse::dot, read_track::ReadTrack, track_words::SharedWord};
use music::Track;
use query::{
    features::{SoundPreference, fitting_features},
    gloss,
    stop::content_words,
    words::{Word, words},
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
/// The same, if the explanation has nothing else: then the meaning decided, by more than one sentence.
const ALONE_FROM: f32 = 0.01;

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
        let vector = queries.first().map(|query| vector_of(query)).unwrap_or_default();
        Self { words, preferences, filter: filter.clone(), vector }
    }

    pub(crate) fn why(&self, read: &ReadTrack) -> Why {
        let track = &read.track;
        let shared = read.words.shared(self.words.iter().map(|(term, _)| term.as_str()));
        let sung = shared.in_lyrics();
        let has: HashSet<usize> = shared.in_meaning().iter().chain(&sung).map(|word| word.term).collect();
        let has = |(term, (_, said)): (usize, &(String, String))| has.contains(&term).then(|| said.clone());
        let words: Vec<String> = self.words.iter().enumerate().filter_map(has).collect();
        // Words explain the hit if they are most of the query; otherwise the meaning decided.
        let is_by_words = 2 * words.len() > self.words.len();
        let tags = track.tags.iter().zip(shared.named_tags()).filter(|(_, is_named)| *is_named);
        let mut why = Why {
            lyric: best_line(read.lyrics(), &sung),
            words,
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

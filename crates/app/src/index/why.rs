//! Why a track was found: the line of its lyrics, the words it shares with the query, how it sounds.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    features::{SoundWish, fitting_features},
    words::{telling_words, words},
};
use crate::music::Track;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The line of the lyrics that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lyric: Option<String>,
    /// Words of the query that the track's names, meaning or lyrics have, as the query spells them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Audio features that fit the query, such as `low energy (0.12)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
}

/// A query as the explanation needs it, prepared once for all hits.
pub struct Asked {
    /// Term and spelling of each telling word, without repeats.
    words: Vec<(String, String)>,
    wishes: Vec<SoundWish>,
}

impl Asked {
    pub fn new(queries: &[String], wishes: Vec<SoundWish>) -> Self {
        let mut seen = HashSet::new();
        let spelled = |query: &String| {
            let spell = |word: super::words::Word| (query[word.start..word.end].to_lowercase(), word.term);
            telling_words(query).into_iter().map(spell).collect::<Vec<_>>()
        };
        let words = queries.iter().flat_map(spelled).map(|(spelling, term)| (term, spelling));
        Self { words: words.filter(|(term, _)| seen.insert(term.clone())).collect(), wishes }
    }

    pub fn why(&self, track: &Track) -> Why {
        let lyrics = track.lyrics.as_deref().unwrap_or_default();
        let told = super::document::meaning(track);
        let has: HashSet<String> = words(&told).into_iter().chain(words(lyrics)).map(|word| word.term).collect();
        Why {
            lyric: self.best_line(lyrics),
            words: self.words.iter().filter(|(term, _)| has.contains(term)).map(|(_, word)| word.clone()).collect(),
            features: fitting_features(&self.wishes, track.audio_features.as_ref()),
        }
    }

    /// The line with most of the query's words; the first of them where several have as many.
    fn best_line(&self, lyrics: &str) -> Option<String> {
        let shared = |line: &str| {
            let has: HashSet<String> = words(line).into_iter().map(|word| word.term).collect();
            self.words.iter().filter(|(term, _)| has.contains(term)).count()
        };
        let lines = lyrics.lines().map(|line| (shared(line), line));
        let (n_shared, line) = lines.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        (n_shared > 0).then(|| line.trim().to_string())
    }
}

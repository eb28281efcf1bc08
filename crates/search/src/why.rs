//! Why a track was found: the line of its lyrics, the words it shares with the query, how it sounds.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use music::Track;
use query::{
    features::{SoundWish, fitting_features},
    words::{Word, telling_words, words_among},
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
    /// Audio features that fit the query, such as `low energy (0.12)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
}

/// They count a little when ranking, and tell a listener nothing.
const EXPLAINS_NOTHING: [&str; 12] =
    ["about", "anything", "like", "music", "rather", "some", "something", "song", "songs", "than", "track", "tracks"];

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
            let spell = |word: Word| (query[word.start..word.end].to_lowercase(), word.term);
            let said = telling_words(query).into_iter().map(spell);
            said.filter(|(spelling, _)| !EXPLAINS_NOTHING.contains(&spelling.as_str())).collect::<Vec<_>>()
        };
        let words = queries.iter().flat_map(spelled).map(|(spelling, term)| (term, spelling));
        Self { words: words.filter(|(term, _)| seen.insert(term.clone())).collect(), wishes }
    }

    pub fn why(&self, track: &Track) -> Why {
        let terms: HashSet<&str> = self.words.iter().map(|(term, _)| term.as_str()).collect();
        let lyrics = track.lyrics.as_deref().unwrap_or_default();
        let told = words_among(&super::document::meaning(track), &terms);
        let sung = words_among(lyrics, &terms);
        let has: HashSet<&str> = told.iter().chain(&sung).map(|word| word.term.as_str()).collect();
        let shared = self.words.iter().filter(|(term, _)| has.contains(term.as_str()));
        Why {
            lyric: best_line(lyrics, &sung),
            words: shared.map(|(_, spelling)| spelling.clone()).collect(),
            features: fitting_features(&self.wishes, track.audio_features.as_ref()),
        }
    }
}

/// The line with most of the words that were found; the first of them where several have as many.
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

//! A track as a search reads it: with its words, and with the vectors of the sentences about it.

use std::{ops::Range, sync::OnceLock};

use music::Track;

use super::{document, track_words::TrackWords, why::table};

/// A track and what searches compute from its texts, once.
pub(crate) struct ReadTrack {
    pub(crate) track: Track,
    pub(crate) words: TrackWords,
    meaning: OnceLock<String>,
    sentences: OnceLock<Vec<Sentence>>,
}

/// A sentence of the description.
pub(crate) struct Sentence {
    place: Range<usize>,
    pub(crate) vector: Vec<f32>,
}

/// A shorter part of a description says nothing.
const SHORTEST_SENTENCE: usize = 13;
/// One vector of the built-in table.
const SENTENCE_BYTES: usize = 1 << 10;

impl ReadTrack {
    pub(crate) fn new(track: Track, words: TrackWords) -> Self {
        Self { track, words, meaning: OnceLock::new(), sentences: OnceLock::new() }
    }

    #[cfg(test)]
    pub(crate) fn of(track: Track) -> Self {
        Self::new(track.clone(), TrackWords::of(&track))
    }

    pub(crate) fn lyrics(&self) -> &str {
        self.track.lyrics.as_deref().unwrap_or_default()
    }

    /// The text of [`document::meaning`], which the places of words refer to.
    pub(crate) fn meaning(&self) -> &str {
        self.meaning.get_or_init(|| document::meaning(&self.track))
    }

    /// The sentences about the track. Only hits need them, so they are read when a hit is explained.
    pub(crate) fn sentences(&self) -> &[Sentence] {
        self.sentences.get_or_init(|| {
            let Some(table) = table() else { return Vec::new() };
            let sentence = |place: Range<usize>| Sentence { vector: table.vector(&self.about()[place.clone()]), place };
            self.sentence_places().map(sentence).collect()
        })
    }

    pub(crate) fn text_of(&self, sentence: &Sentence) -> &str {
        &self.about()[sentence.place.clone()]
    }

    fn about(&self) -> &str {
        let text = self.track.interpretation.as_deref().or(self.track.short_description.as_deref());
        text.unwrap_or_default()
    }

    fn sentence_places(&self) -> impl Iterator<Item = Range<usize>> {
        let text = self.about();
        let parts = text.split_inclusive(['.', '!', '?', ';']).map(str::trim);
        parts.filter(|part| part.len() >= SHORTEST_SENTENCE).map(move |part| {
            let start = part.as_ptr() as usize - text.as_ptr() as usize;
            start..start + part.len()
        })
    }

    /// Memory, for the limit of a cache; with the text and the sentences, which may be read later.
    pub(crate) fn n_bytes(&self) -> usize {
        let told = [&self.track.interpretation, &self.track.short_description];
        let n_told_bytes: usize = told.into_iter().flatten().map(String::len).sum();
        let n_text_bytes = self.lyrics().len() + 2 * n_told_bytes;
        let n_sentence_bytes = self.sentence_places().count() * SENTENCE_BYTES;
        size_of::<Self>() + n_text_bytes + n_sentence_bytes + self.words.n_bytes()
    }
}

//! Judges how well one track answers a query, from the text of the track. The result does not depend on the engine or on
//! the size of the library.

use std::{borrow::Cow, collections::HashSet};

use query::{stop::content_words, words::words};

use super::{
    document,
    read_track::ReadTrack,
    topic::Topic,
    track_words::{SharedTerms, SharedWord, TrackWords},
};

/// A query, prepared once for all candidates.
pub(crate) struct Judge {
    /// The content terms in the order of the query, without repetitions.
    terms: Vec<(String, f32)>,
    /// A query of only function words ("The The") is compared as a whole.
    all_terms: Vec<String>,
    topic: Topic,
    /// The message seems to be about daily life.
    pub(crate) is_off_topic: bool,
    /// The query is in words that the library does not know, and the similarity comes from an embedder that supports its
    /// language.
    is_across: bool,
}

/// The parts of the query that were found in a track.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Match {
    /// The weighted share of the query's terms in names, tags, description, interpretation or one place of the lyrics.
    pub(crate) coverage: f32,
    /// The query is a tag or a title, or occurs word for word in a text.
    pub(crate) is_phrase: bool,
    /// Computed only for queries that seem to be off topic: the query is a name of the track, or a line of its lyrics.
    pub(crate) is_quoted: bool,
    /// The whole query is a name of the track.
    pub(crate) is_name: bool,
}

/// The weight of a word by its position: in a name or a tag (1), in a text about the track, near other words of the query
/// in the lyrics, or anywhere in the lyrics.
const IN_TEXT: f32 = 0.85;
const IN_LINE: f32 = 0.75;
const SCATTERED: f32 = 0.25;

impl Judge {
    pub(crate) fn new(query: &str, is_across: bool) -> Self {
        let mut seen = HashSet::new();
        let content = content_words(query).into_iter().map(|content| (content.word.term, content.weight));
        let all_terms: Vec<String> = words(query).into_iter().map(|word| word.term).collect();
        let terms = content.filter(|(term, _)| seen.insert(term.clone())).collect();
        let topic = Topic::of(query);
        Self { terms, all_terms, topic, is_off_topic: topic.errand > 0.0, is_across }
    }

    /// The number of content words.
    pub(crate) fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// 0 to 1: how far a match of a few words can be trusted, as far as the subject of the query decides it.
    pub(crate) fn trust(&self) -> f32 {
        1.0 - ERRAND * self.topic.errand
    }

    pub(crate) fn compare(&self, read: &ReadTrack) -> Match {
        let words = &read.words;
        if self.terms.is_empty() {
            let is_name = self.is_whole_name(words);
            return Match { coverage: f32::from(u8::from(is_name)), is_phrase: is_name, is_quoted: is_name, is_name };
        }
        let shared = words.shared(self.terms.iter().map(|(term, _)| term.as_str()));
        if shared.is_empty() {
            return Match::default();
        }
        let (told, sung) = (shared.in_meaning(), shared.in_lyrics());
        let in_place = best_place(&sung);
        let has = |found: &[SharedWord], term: usize| found.iter().any(|word| word.term == term);
        let share = |term: usize| match term {
            term if shared.is_label(term) => 1.0,
            term if has(&told, term) => IN_TEXT,
            term if in_place.len() > 1 && in_place.contains(&term) => IN_LINE,
            term if has(&sung, term) => SCATTERED,
            _ => 0.0,
        };
        let full: f32 = self.terms.iter().map(|(_, weight)| weight).sum();
        let found: f32 = self.terms.iter().enumerate().map(|(term, (_, weight))| weight * share(term)).sum();
        let is_name = self.is_whole_name(words);
        Match {
            coverage: found / full.max(0.4),
            is_phrase: is_name || self.is_phrase_of(read, &shared, &told, &sung),
            is_quoted: self.is_off_topic && (is_name || self.is_line_of(words)),
            is_name,
        }
    }

    /// Whether the words of the query occur consecutively, including function words. One or two words are not a line.
    fn is_line_of(&self, words: &TrackWords) -> bool {
        const SHORTEST: usize = 4;
        self.all_terms.len() >= SHORTEST && words.is_sung(&self.all_terms)
    }

    /// Whether the whole query is a name of the track.
    fn is_whole_name(&self, words: &TrackWords) -> bool {
        !self.all_terms.is_empty() && words.is_name(&self.all_terms)
    }

    fn is_phrase_of(
        &self,
        read: &ReadTrack,
        shared: &SharedTerms<'_>,
        told: &[SharedWord],
        sung: &[SharedWord],
    ) -> bool {
        if self.terms.len() < 2 {
            return shared.is_tag();
        }
        self.is_in_order(told, || document::meaning(&read.track).into())
            || self.is_in_order(sung, || read.lyrics().into())
    }

    /// Whether all terms occur in order, with at most a few letters of other words between them.
    fn is_in_order<'t>(&self, found: &[SharedWord], text: impl FnOnce() -> Cow<'t, str>) -> bool {
        const BETWEEN: usize = 6;
        let in_order = |run: &&[SharedWord]| run.iter().map(|word| word.term).eq(0..self.terms.len());
        let runs: Vec<&[SharedWord]> = found.windows(self.terms.len()).filter(in_order).collect();
        if runs.is_empty() {
            return false;
        }
        let text = text();
        let gap = |pair: &[SharedWord]| {
            text.get(pair[0].end..pair[1].start).map_or(usize::MAX, |gap| gap.trim().chars().count())
        };
        runs.iter().any(|run| run.windows(2).all(|pair| gap(pair) <= BETWEEN))
    }

    /// The confidence that the track answers the query, from 0 to 1. `spreads`: how far its similarity is above the mean.
    pub(crate) fn confidence(&self, found: &Match, spreads: f32, sound: f32) -> f32 {
        let meaning = ((spreads - NO_MEANING) / (FULL_MEANING - NO_MEANING)).clamp(0.0, 1.0);
        let by_words = WORDS * found.coverage.powf(PARTIAL - EASED_PARTIAL * self.topic.song);
        // Similarity alone is not sufficient: technical jargon is four spreads above the mean for some tracks.
        // The absence of words of another language means nothing, because descriptions do not contain them.
        let alone = if self.is_across { MEANING_ACROSS } else { MEANING_ALONE + EASED_ALONE * self.topic.song };
        let by_meaning = meaning * (alone + (MEANING - alone) * found.coverage);
        let mut sure = 1.0 - (1.0 - by_words) * (1.0 - by_meaning);
        let is_phrase = found.is_phrase || found.is_quoted;
        if is_phrase {
            sure = 1.0 - (1.0 - sure) * (1.0 - if found.is_name { NAME } else { PHRASE });
        }
        let is_quotation = found.is_quoted || (found.is_phrase && self.terms.len() > 2);
        let is_surely_off_topic = self.topic.errand >= 1.0;
        if !is_quotation && (is_surely_off_topic || !is_phrase) {
            sure *= self.trust();
        }
        (sure * (1.0 + SOUND * sound)).clamp(0.0, 1.0)
    }
}

/// The spreads above the mean at which a similarity starts to count, and at which it counts fully.
const NO_MEANING: f32 = 1.5;
const FULL_MEANING: f32 = 5.5;
/// The maximum confidence from each side. Similarity without a shared word has the lower maximum.
const WORDS: f32 = 0.8;
const MEANING: f32 = 0.6;
const MEANING_ALONE: f32 = 0.22;
const MEANING_ACROSS: f32 = 0.5;
const PHRASE: f32 = 0.6;
/// The same for a query that is a whole name: nothing is a better answer to it.
const NAME: f32 = 0.9;
/// Half of the words count much less than half of a match.
const PARTIAL: f32 = 1.8;
/// Of a message that songs answer, a part of the words and a similarity count more: it cannot be jargon.
const EASED_PARTIAL: f32 = 0.5;
const EASED_ALONE: f32 = 0.1;
const ERRAND: f32 = 0.8;
const SOUND: f32 = 0.15;

/// The terms that occur together in the lyrics: those in the two neighbouring lines with most of them.
fn best_place(sung: &[SharedWord]) -> HashSet<usize> {
    const TWO_LINES: usize = 90;
    let mut best = HashSet::new();
    for (at, first) in sung.iter().enumerate() {
        let near = sung[at..].iter().take_while(|word| word.end <= first.start + TWO_LINES);
        // Most words have no other near them, which needs no set.
        if near.clone().count() <= best.len() {
            continue;
        }
        let terms: HashSet<usize> = near.map(|word| word.term).collect();
        if terms.len() > best.len() {
            best = terms;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use music::Track;

    use super::*;

    fn track(tags: &[&str], text: &str, lyrics: &str) -> ReadTrack {
        let isrc = "ZZSEG2600001".parse().expect("a code");
        let mut track = Track::named(isrc, "Number One".into(), "Someone".into(), String::new());
        track.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        track.interpretation = Some(text.into());
        track.lyrics = Some(lyrics.into());
        ReadTrack::of(track)
    }

    #[test]
    fn one_of_two_words_counts_much_less_than_half_a_match() {
        let song = track(&["homecoming"], "A sailor's return after many years.", "");
        let sure = |query: &str| {
            let judge = Judge::new(query, false);
            judge.confidence(&judge.compare(&song), 1.0, 0.0)
        };
        assert!(sure("tax return") < 0.25, "{}", sure("tax return"));
        assert!(sure("sailor's return") > 0.5, "{}", sure("sailor's return"));
        assert_eq!(sure("i"), 0.0);
        assert_eq!(sure("&&&"), 0.0);
    }

    #[test]
    fn a_line_of_lyrics_with_errand_words_finds_its_song() {
        let song = track(&[], "A parting.", "Oh\nshe carried the letter over the forecast to Aleida\nOh");
        let sure = |query: &str| {
            let judge = Judge::new(query, false);
            judge.confidence(&judge.compare(&song), 1.0, 0.0)
        };
        assert!(sure("she carried the letter over the forecast to Aleida") > 0.5);
        assert!(sure("the forecast to Aleida") > 0.25, "{}", sure("the forecast to Aleida"));
        assert!(sure("the weather forecast over Aleida") < 0.25, "{}", sure("the weather forecast over Aleida"));
    }

    #[test]
    fn a_tag_and_a_phrase_count_more_than_scattered_words() {
        let snow = track(&["first snow"], "Winter.", "");
        let scattered = track(&["snow"], "The first of many.", "");
        let sung = track(
            &[],
            "Winter.",
            "the first\nand then a long long verse about nothing in particular, and another one\nof the snow",
        );
        let judge = Judge::new("first snow", false);
        let [a, b, c] = [&snow, &scattered, &sung].map(|song| judge.compare(song));
        assert!(a.is_phrase && !b.is_phrase && !c.is_phrase);
        assert!(judge.confidence(&a, 1.0, 0.0) > judge.confidence(&b, 1.0, 0.0));
        assert!(judge.confidence(&b, 1.0, 0.0) > judge.confidence(&c, 1.0, 0.0));
    }
}

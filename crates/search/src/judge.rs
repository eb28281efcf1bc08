//! Judges how well one track answers a query, from the text of the track. The result does not depend on the engine or on
//! the size of the library.

use std::collections::HashSet;

use query::{
    stop::{ContentWord, content_words},
    words::words,
};

use super::{
    embed::Votes,
    read_track::ReadTrack,
    said::{Said, n_pairs},
    signals::Signals,
    topic::Topic,
    track_words::{SharedTerms, TrackWords},
};

/// A query, prepared once for all candidates.
pub(crate) struct Judge {
    /// The content words in the order of the query, without repetitions of a term.
    content: Vec<ContentWord>,
    /// A query of only function words ("The The") is compared as a whole.
    all_terms: Vec<String>,
    topic: Topic,
    /// 0 to 1: how surely the words tell of what songs tell of, so that a part of them counts more.
    song: f32,
    /// The message seems to be about daily life.
    pub(crate) is_off_topic: bool,
    /// The query itself is German, French or Spanish. Without an embedder that supports its language, it is close to every text in
    /// this language, whatever that tells of.
    is_foreign: bool,
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
    /// Computed only for queries that seem to be off topic: the query is a name of the track, artist and title, or a
    /// line of its lyrics.
    pub(crate) is_quoted: bool,
    /// The whole query is a name of the track.
    pub(crate) is_name: bool,
    /// The number of neighbouring words of the query that are neighbours in a text too.
    pub(crate) n_pairs: usize,
    pub(crate) signals: Signals,
}

/// The weight of a word by its position: in a name or a tag (1), in a text about the track, near other words of the query
/// in the lyrics, or anywhere in the lyrics.
const IN_TEXT: f32 = 0.85;
const IN_LINE: f32 = 0.75;
const SCATTERED: f32 = 0.25;
/// The part of this weight for a word that the texts have only in other forms: who asks for a "haunting" song does not ask for
/// a "haunted" house.
const OTHER_FORM: f32 = 0.8;

impl Judge {
    /// `votes`: what the embedder says about the query.
    pub(crate) fn new(query: &str, is_across: bool, votes: Votes) -> Self {
        let mut seen = HashSet::new();
        let all_terms: Vec<String> = words(query).into_iter().map(|word| word.term).collect();
        let is_new = |content: &ContentWord| seen.insert(content.word.term.clone());
        let content = content_words(query).into_iter().filter(is_new).collect();
        let topic = Topic::of(query, votes);
        // The similarities of a message in another language are not to be trusted more.
        let song = if topic.is_foreign { 0.0 } else { topic.song };
        let (is_off_topic, is_foreign) = (topic.errand > 0.0, topic.is_foreign);
        Self { content, all_terms, topic, song, is_off_topic, is_foreign, is_across }
    }

    /// Judges the English words of a message in another language as what the message is about: they are a list without a form.
    pub(crate) fn share_topic_of(&mut self, message: &Self) {
        if message.topic.is_foreign {
            (self.topic, self.song) = (message.topic, message.topic.song);
            self.is_off_topic = message.is_off_topic;
        }
    }

    /// The number of content words.
    pub(crate) fn n_terms(&self) -> usize {
        self.content.len()
    }

    /// 0 to 1: how far a match of a few words can be trusted, as far as the subject of the query decides it.
    pub(crate) fn trust(&self) -> f32 {
        1.0 - ERRAND * self.topic.errand
    }

    /// `is_typed`: the user typed these words. The forms of words in another wording are chance.
    pub(crate) fn compare(&self, read: &ReadTrack, is_typed: bool) -> Match {
        let words = &read.words;
        if self.content.is_empty() {
            let is_name = self.is_whole_name(words);
            let coverage = f32::from(u8::from(is_name));
            return Match { coverage, is_phrase: is_name, is_quoted: is_name, is_name, ..Match::default() };
        }
        let shared = words.shared(self.content.iter().map(|content| content.word.term.as_str()));
        if shared.is_empty() {
            return Match::default();
        }
        let told = Said { text: read.meaning(), words: shared.in_meaning() };
        let sung = Said { text: read.lyrics(), words: shared.in_lyrics() };
        let is_name = self.is_whole_name(words);
        Match {
            coverage: self.coverage(&shared, (&told, &sung), is_typed),
            is_phrase: is_name || self.is_phrase_of(&shared, &told, &sung),
            is_quoted: self.is_off_topic && (is_name || self.is_line_of(words) || words.is_two_names(&self.all_terms)),
            is_name,
            n_pairs: n_pairs(&told, &sung),
            signals: if shared.is_tag() { Signals::OF_TAG } else { Signals::of(self.content.len(), &told, read) },
        }
    }

    fn coverage(&self, shared: &SharedTerms<'_>, (told, sung): (&Said<'_>, &Said<'_>), is_typed: bool) -> f32 {
        let in_place = sung.best_place();
        let place = |term: usize| match term {
            term if shared.is_label(term) => 1.0,
            term if told.has(term) => IN_TEXT,
            term if in_place.len() > 1 && in_place.contains(&term) => IN_LINE,
            term if sung.has(term) => SCATTERED,
            _ => 0.0,
        };
        // A genre, and a name in Latin letters, is in neither text and has no other form.
        let is_other_form = |term: usize, form: &str| {
            (told.has(term) || sung.has(term)) && !told.has_in_form(term, form) && !sung.has_in_form(term, form)
        };
        let share = |(term, content): (usize, &ContentWord)| {
            let form = if is_typed && is_other_form(term, &content.form) { OTHER_FORM } else { 1.0 };
            content.weight * form * place(term)
        };
        let found: f32 = self.content.iter().enumerate().map(share).sum();
        let full: f32 = self.content.iter().map(|content| content.weight).sum();
        found / full.max(0.4)
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

    fn is_phrase_of(&self, shared: &SharedTerms<'_>, told: &Said<'_>, sung: &Said<'_>) -> bool {
        match self.content.len() {
            1 => shared.is_tag(),
            n => told.has_in_order(n) || sung.has_in_order(n),
        }
    }

    /// The confidence that the track answers the query, from 0 to 1. `spreads`: how far its similarity is above the mean.
    pub(crate) fn confidence(&self, found: &Match, spreads: f32, sound: f32) -> f32 {
        self.confidence_of(0.0, found, spreads, sound)
    }

    /// The same, if a part of the words counts more in a message that songs answer.
    pub(crate) fn eased_confidence(&self, found: &Match, spreads: f32, sound: f32) -> f32 {
        self.confidence_of(self.song, found, spreads, sound)
    }

    fn confidence_of(&self, song: f32, found: &Match, spreads: f32, sound: f32) -> f32 {
        let meaning = ((spreads - NO_MEANING) / (FULL_MEANING - NO_MEANING)).clamp(0.0, 1.0);
        let by_words = WORDS * found.coverage.powf(PARTIAL - EASED_PARTIAL * song);
        // Similarity alone is not sufficient: technical jargon is four spreads above the mean for some tracks.
        // The absence of words of another language means nothing, because descriptions do not contain them.
        let alone = match (self.is_across, self.is_foreign) {
            (true, _) => MEANING_ACROSS,
            (false, true) => 0.0,
            (false, false) => MEANING_ALONE + EASED_ALONE * song,
        };
        let by_meaning = meaning * (alone + (MEANING - alone) * found.coverage);
        let mut sure = 1.0 - (1.0 - by_words) * (1.0 - by_meaning);
        let is_phrase = found.is_phrase || found.is_quoted;
        if is_phrase {
            sure = 1.0 - (1.0 - sure) * (1.0 - if found.is_name { NAME } else { PHRASE });
        }
        let is_quotation = found.is_quoted || (found.is_phrase && self.content.len() > 2);
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
const EASED_PARTIAL: f32 = 1.4;
const EASED_ALONE: f32 = 0.3;
const ERRAND: f32 = 0.8;
const SOUND: f32 = 0.15;

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
            let judge = Judge::new(query, false, Votes::default());
            judge.confidence(&judge.compare(&song, true), 1.0, 0.0)
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
            let judge = Judge::new(query, false, Votes::default());
            judge.confidence(&judge.compare(&song, true), 1.0, 0.0)
        };
        let line = sure("she carried the letter over the forecast to Aleida");
        assert!(line > 0.4, "{line}");
        assert!(sure("the forecast to Aleida") > 0.25, "{}", sure("the forecast to Aleida"));
        assert!(sure("the weather forecast over Aleida") < 0.25, "{}", sure("the weather forecast over Aleida"));
    }

    #[test]
    fn the_english_words_of_a_message_are_about_what_the_message_is_about() {
        let voted = |message, vote| Judge::new(message, false, Votes { english: None, across: Some(vote) });
        let (errand, theme) = (voted("Regen am Fenster", 9.0), voted("Regen am Fenster", -9.0));
        let shared = |message: &Judge| {
            let mut words = Judge::new("rain window", false, Votes::default());
            words.share_topic_of(message);
            words
        };
        assert!(shared(&errand).trust() < 0.5 && shared(&errand).is_off_topic);
        assert!(shared(&theme).trust() == 1.0 && shared(&theme).song > 0.5);
        assert_eq!(theme.song, 0.0, "the table does not read German");
        let english = voted("rain on the window", 9.0);
        assert_eq!(shared(&english).trust(), 1.0, "another wording of an English message is judged by itself");
    }

    #[test]
    fn a_message_in_another_language_is_not_near_a_track_by_its_similarity_alone() {
        let sure = |query, is_across| {
            let judge = Judge::new(query, is_across, Votes::default());
            judge.confidence(&Match::default(), 6.0, 0.0)
        };
        assert_eq!(sure("die Rache der Königin", false), 0.0, "the texts near it are German, and about anything");
        assert!(sure("the revenge of the queen", false) > 0.0 && sure("die Rache der Königin", true) > 0.25);
    }

    #[test]
    fn artist_and_title_find_a_song_whose_title_sounds_like_an_errand() {
        let mut named = track(&[], "A quarrel about money.", "").track;
        (named.title, named.artist) = ("Pay the Plumber's Invoice".into(), "Wren Holloway".into());
        let named = ReadTrack::of(named);
        let other = track(&[], "The plumber sends an invoice, and nobody can pay.", "");
        let sure = |query: &str, track: &ReadTrack| {
            let judge = Judge::new(query, false, Votes::default());
            assert!(judge.is_off_topic, "{query}");
            judge.confidence(&judge.compare(track, true), 1.0, 0.0)
        };
        for query in [
            "Pay the Plumber's Invoice",
            "wren holloway pay the plumber's invoice",
            "Pay the Plumber's Invoice Wren Holloway",
            "pay the plumber's invoice by Wren Holloway",
        ] {
            assert!(sure(query, &named) > 0.5, "{query}: {}", sure(query, &named));
        }
        assert!(sure("pay the plumber's invoice today", &named) < 0.25);
        assert!(sure("pay the plumber's invoice", &other) < 0.25);
    }

    #[test]
    fn another_form_of_a_word_counts_less_than_the_form_of_the_query() {
        let coverage =
            |query: &str, song: &ReadTrack| Judge::new(query, false, Votes::default()).compare(song, true).coverage;
        let (haunting, haunted) = (track(&[], "Haunting and calm.", ""), track(&[], "A haunted house.", ""));
        assert!(coverage("haunting", &haunting) > coverage("haunting", &haunted));
        assert!(coverage("haunted", &haunting) < coverage("haunted", &haunted));
        assert!(coverage("haunting", &haunted) > 0.5, "a stem that both have is a match");
        let (tag, other_tag) = (track(&["relaxing"], "", ""), track(&["relaxed"], "", ""));
        assert!(coverage("Relaxing", &tag) == 1.0 && coverage("relaxing", &other_tag) < 1.0);
        let reworded = Judge::new("relaxing", false, Votes::default()).compare(&other_tag, false);
        assert_eq!(reworded.coverage, 1.0, "the user did not choose the form");
        let sung = track(&["relaxed"], "", "a relaxing day");
        assert_eq!(coverage("relaxing", &sung), 1.0, "one text has the form");
        assert_eq!(coverage("deja", &track(&["déjà vu"], "", "")), 1.0, "an accent is no other form");
        let mut genre = track(&[], "", "").track;
        genre.genres = vec!["Ballads".into()];
        assert_eq!(coverage("ballad waltz", &ReadTrack::of(genre)), 0.5);
    }

    #[test]
    fn neighbours_of_the_query_are_counted_once_in_either_order() {
        let n_pairs = |text: &str, lyrics: &str| {
            Judge::new("slow electric guitar solo", false, Votes::default())
                .compare(&track(&[], text, lyrics), true)
                .n_pairs
        };
        assert_eq!(n_pairs("An electric guitar, and electric guitars.", "electric guitar"), 1);
        assert_eq!(n_pairs("The guitar is electric. A solo on guitar.", "slow, electric"), 3);
        assert_eq!(n_pairs("A guitar that nobody calls electric.", "slow"), 0);
        assert_eq!(
            n_pairs("Electric and slow solo guitar.", ""),
            2,
            "'slow' and 'solo' are no neighbours in the query"
        );
        let night = Judge::new("夜の海", false, Votes::default()).compare(&track(&[], "夜の海を見る。", ""), true);
        assert!(night.n_pairs == 1 && night.is_phrase, "pairs of characters overlap");
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
        let judge = Judge::new("first snow", false, Votes::default());
        let [a, b, c] = [&snow, &scattered, &sung].map(|song| judge.compare(song, true));
        assert!(a.is_phrase && !b.is_phrase && !c.is_phrase);
        assert!(judge.confidence(&a, 1.0, 0.0) > judge.confidence(&b, 1.0, 0.0));
        assert!(judge.confidence(&b, 1.0, 0.0) > judge.confidence(&c, 1.0, 0.0));
    }
}

//! The signals of the ranker: what a message and a track have in common beyond the number of words that both have. Each is from
//! 0 to 1.

use query::words::{is_stop_word, words};

use super::{
    read_track::ReadTrack,
    said::Said,
    track_words::{SharedTerms, SharedWord},
};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// The message contains the whole name of an artist. Half, if the name is one word, which may be there for another reason.
    pub artist: f32,
    /// The same for the title.
    pub title: f32,
    /// The same for the album.
    pub album: f32,
    /// All words of the message end a phrase of the description, so that they say nothing about something else: "The song is
    /// calm", not "A calm piano and loud drums".
    pub ends: f32,
    /// They begin a phrase: "Guitar and drums", not "An acoustic guitar".
    pub begins: f32,
    /// The sentence with them is short, so that it is about them.
    pub brief: f32,
    /// Words and meaning agree: the lesser of the two shares of the greatest BM25 score and of the greatest similarity.
    pub agreement: f32,
}

pub const N_SIGNALS: usize = 7;

impl Signals {
    /// In the order of [`Self::values`].
    pub const NAMES: [&'static str; N_SIGNALS] = [
        "artist named",
        "title named",
        "album named",
        "words end a phrase",
        "words begin a phrase",
        "words in a short sentence",
        "words and meaning agree",
    ];

    pub fn values(&self) -> [f32; N_SIGNALS] {
        [self.artist, self.title, self.album, self.ends, self.begins, self.brief, self.agreement]
    }

    /// Those that the texts tell. `message`: all terms of the message, of which `shared` has the `n_content` content words. `is_whole`: the message is a
    /// name or a tag of the track.
    pub(crate) fn of(
        (message, n_content): (&[String], usize),
        shared: &SharedTerms<'_>,
        told: &Said<'_>,
        read: &ReadTrack,
        is_whole: bool,
    ) -> Self {
        let track = &read.track;
        let [has_title, has_artist, has_album] = shared.named();
        let said = |has: bool, name: &str| if has { named(name, message) } else { 0.0 };
        let mut signals = Self {
            artist: said(has_artist, &track.artist),
            title: said(has_title, &track.title),
            album: said(has_album, &track.album),
            ..Self::default()
        };
        if is_whole {
            return Self { ends: 1.0, begins: 1.0, brief: 1.0, ..signals };
        }
        for run in told.runs(n_content) {
            signals.read(told.text, run);
        }
        signals
    }

    /// Adds what one place tells at which a text has all words of the message.
    fn read(&mut self, text: &str, run: &[SharedWord]) {
        let [Some(before), Some(after)] = [text.get(..run[0].start), text.get(run[run.len() - 1].end..)] else {
            return;
        };
        let [start, end] =
            [before.rfind(SENTENCE_ENDS).map_or(0, |at| at + 1), after.find(SENTENCE_ENDS).unwrap_or(after.len())];
        let n_bytes = text.len() - start - (after.len() - end);
        let as_number = |is: bool| f32::from(u8::from(is));
        self.ends = self.ends.max(as_number(is_start_of_phrase(after)));
        self.begins = self.begins.max(as_number(is_end_of_phrase(before)));
        self.brief = self.brief.max(1.0 - n_bytes as f32 / LONG_SENTENCE);
    }
}

const SENTENCE_ENDS: [char; 5] = ['.', '!', '?', ';', '\n'];
/// Bytes of a sentence that is about many things.
const LONG_SENTENCE: f32 = 200.0;
/// What separates the artists of a track, and the parts of a title.
const SEPARATORS: [char; 7] = [',', '&', '/', ';', '(', ')', '['];

/// How far a message contains a name, or one of several names.
fn named(name: &str, message: &[String]) -> f32 {
    let of_name = |name: &str| {
        let terms: Vec<String> = words(name).into_iter().map(|word| word.term).collect();
        let is_there = !terms.is_empty() && message.windows(terms.len()).any(|run| run == terms);
        match terms.iter().filter(|term| !is_stop_word(term)).count() {
            1 if is_there => 0.5,
            2.. if is_there => 1.0,
            _ => 0.0,
        }
    };
    let parts = name.split(SEPARATORS).filter(|part| part.len() < name.len());
    parts.map(of_name).fold(of_name(name), f32::max)
}

/// Whether a new phrase starts here: the text is over, or goes on with a punctuation mark or a function word.
fn is_start_of_phrase(text: &str) -> bool {
    let text = text.trim_start_matches(' ');
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    end == 0 || is_function_word(&text[..end])
}

fn is_end_of_phrase(text: &str) -> bool {
    let text = text.trim_end_matches(' ');
    let start = text
        .rfind(|c: char| !c.is_alphanumeric())
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    start == text.len() || is_function_word(&text[start..])
}

fn is_function_word(word: &str) -> bool {
    const LONGEST: usize = 5;
    word.len() <= LONGEST && is_stop_word(&word.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use music::Track;

    use super::*;
    use crate::{embed::Votes, judge::Judge};

    fn signals(message: &str, artist: &str, tag: &str, text: &str) -> Signals {
        let isrc = "ZZSEG2600001".parse().expect("a code");
        let mut track = Track::named(isrc, "Boat (On a Sunday Morning)".into(), artist.into(), "Harbour Lights".into());
        track.tags = vec![tag.into()];
        track.interpretation = Some(text.into());
        Judge::new(message, false, Votes::default()).compare(&ReadTrack::of(track), true).1
    }

    #[test]
    fn a_message_names_an_artist_a_title_or_an_album_as_a_whole() {
        let of = |message: &str| {
            let Signals { artist, title, album, .. } = signals(message, "Mira Lindqvale, Ostinato", "", "");
            (artist, title, album)
        };
        assert_eq!(of("lovely! can we add some songs from Mira Lindqvale please"), (1.0, 0.0, 0.0));
        assert_eq!(of("some Ostinato would be nice"), (0.5, 0.0, 0.0), "one word may be there for another reason");
        assert_eq!(of("Mira and someone called Lindqvale"), (0.0, 0.0, 0.0), "the words of a name stand together");
        assert_eq!(of("the one on a Sunday morning"), (0.0, 1.0, 0.0));
        assert_eq!(of("a boat with harbour lights"), (0.0, 0.5, 1.0));
    }

    #[test]
    fn words_that_stand_for_themselves_are_told_from_words_about_something_else() {
        let of = |text: &str| {
            let Signals { ends, begins, .. } = signals("calm", "Nobody", "", text);
            (ends, begins)
        };
        assert_eq!(of("The song is calm."), (1.0, 1.0));
        assert_eq!(of("The song is very calm and slow"), (1.0, 0.0));
        assert_eq!(of("A calm piano, loud drums."), (0.0, 1.0));
        assert_eq!(of("Almost calm piano. It is Calm"), (1.0, 1.0), "the best place counts");
        assert_eq!(of("Nothing of it."), (0.0, 0.0));
        assert_eq!(of("Über calm été"), (0.0, 0.0));
    }

    #[test]
    fn a_short_sentence_is_about_its_words_and_a_tag_is_the_shortest() {
        let brief = |tag: &str, text: &str| signals("warm strings", "Nobody", tag, text).brief;
        let short = brief("", "Loud drums and a voice. Warm strings. Then silence.");
        let long =
            brief("", "Loud drums and a voice and warm strings and an organ and bells and a choir far behind them.");
        assert!(short > long + 0.2 && long > 0.0, "{short} {long}");
        assert_eq!(brief("", &format!("Warm strings {}.", "and more ".repeat(40))), 0.0);
        assert_eq!(brief("warm strings", "Loud."), 1.0);
        assert_eq!(brief("", "Strings of a warm kind."), 0.0, "not in the order of the message");
    }
}

//! The signals of the ranker: whether a description says the words of a message of the track itself, or of a part of it, and whether the user liked or
//! refused the artist before. Each is 0 or 1, that of a refused artist 0 or -1.

use query::{stop::is_generic, words::is_stop_word};

use super::{read_track::ReadTrack, said::Said, taste::Taste, track_words::SharedWord};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// All words of the message end a phrase of the description, so that they say nothing about something else: "The song is
    /// calm" or "a calm song", not "A calm piano and loud drums".
    pub ends: f32,
    /// They begin a phrase: "Guitar and drums", not "An acoustic guitar".
    pub begins: f32,
    /// The user liked tracks by the artist in this conversation.
    pub liked: f32,
    /// The user refused them.
    pub refused: f32,
}

pub const N_SIGNALS: usize = 4;

impl Signals {
    /// In the order of [`Self::values`].
    pub const NAMES: [&'static str; N_SIGNALS] =
        ["words end a phrase", "words begin a phrase", "artist liked before", "artist refused before"];
    /// Of a tag that is the whole message.
    pub(crate) const OF_TAG: Self = Self { ends: 1.0, begins: 1.0, liked: 0.0, refused: 0.0 };

    pub fn values(&self) -> [f32; N_SIGNALS] {
        [self.ends, self.begins, self.liked, self.refused]
    }

    /// The same with what the user thinks of the artist.
    pub(crate) fn tasted(self, taste: &Taste, artist: &str) -> Self {
        let about = taste.about(artist);
        Self { liked: about.max(0.0), refused: about.min(0.0), ..self }
    }

    /// Of a track whose texts have all `n_content` content words of the message in order.
    pub(crate) fn of(n_content: usize, told: &Said<'_>, read: &ReadTrack) -> Self {
        let track = &read.track;
        // The names come first in the text. Their words are no phrases of a description.
        let names = [&track.title, &track.artist, &track.album].into_iter().filter(|name| !name.is_empty());
        let n_names: usize = names.map(|name| name.len() + 1).sum();
        let mut signals = Self::default();
        for run in told.runs(n_content).filter(|run| run[0].start >= n_names) {
            signals.read(told.text, run);
        }
        signals
    }

    /// Adds what one place tells at which a text has all words of the message.
    fn read(&mut self, text: &str, run: &[SharedWord]) {
        let [Some(before), Some(after)] = [text.get(..run[0].start), text.get(run[run.len() - 1].end..)] else {
            return;
        };
        let as_number = |is: bool| f32::from(u8::from(is));
        self.ends = self.ends.max(as_number(ends_phrase(after)));
        self.begins = self.begins.max(as_number(begins_phrase(before)));
    }
}

/// Whether a phrase ends here: the text is over, or goes on with a punctuation mark, a function word, or a word for music in general.
fn ends_phrase(after: &str) -> bool {
    let next = after.trim_start_matches(' ').split(is_mark).next().unwrap_or_default().to_ascii_lowercase();
    next.is_empty() || is_stop_word(&next) || is_generic(&next)
}

/// Whether a phrase begins here: after the start of the text, a punctuation mark or a function word.
fn begins_phrase(before: &str) -> bool {
    let last = before.trim_end_matches(' ').rsplit(is_mark).next().unwrap_or_default().to_ascii_lowercase();
    last.is_empty() || is_stop_word(&last)
}

fn is_mark(c: char) -> bool {
    !c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use music::Track;

    use super::*;
    use crate::{embed::Votes, judge::Judge};

    fn signals(message: &str, tag: &str, text: &str) -> (f32, f32) {
        let isrc = "ZZSEG2600001".parse().expect("a code");
        let title = "Boat (On a Sunday Morning)";
        let mut track = Track::named(isrc, title.into(), "Nobody".into(), "Harbour Lights".into());
        track.tags = vec![tag.into()];
        track.interpretation = Some(text.into());
        let found = Judge::new(message, false, Votes::default()).compare(&ReadTrack::of(track), true);
        (found.signals.ends, found.signals.begins)
    }

    #[test]
    fn words_that_stand_for_themselves_are_told_from_words_about_something_else() {
        let of = |text: &str| signals("calm", "", text);
        assert_eq!(of("The song is calm."), (1.0, 1.0));
        assert_eq!(of("The song is very calm and slow"), (1.0, 0.0));
        assert_eq!(of("A calm song"), (1.0, 1.0), "it is said of the track");
        assert_eq!(of("A calm piano, loud drums."), (0.0, 1.0));
        assert_eq!(of("Almost calm piano. It is Calm"), (1.0, 1.0), "the best place counts");
        assert_eq!(of("Nothing of it."), (0.0, 0.0));
        assert_eq!(of("Über calm été"), (0.0, 0.0));
    }

    #[test]
    fn the_words_of_a_name_are_no_phrase_of_a_description() {
        assert_eq!(signals("sunday morning", "", "Loud."), (0.0, 0.0));
        assert_eq!(signals("sunday morning", "", "Loud. Sunday morning."), (1.0, 1.0));
    }

    #[test]
    fn a_tag_that_is_the_message_is_a_phrase_of_its_own() {
        let of = |tag: &str| signals("warm strings", tag, "Very warm strings section.");
        assert_eq!((of("warm strings"), of("strings")), ((1.0, 1.0), (0.0, 0.0)));
    }
}

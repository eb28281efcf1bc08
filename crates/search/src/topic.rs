//! Whether a message is about daily life rather than about music. It is compared with sentences of both kinds: by its
//! meaning (the built-in table) and by its form (a question, an order, a story). `make train-topic` gives each sentence
//! of the folder `training` its weight and writes `assets/topic.txt`.

use std::sync::LazyLock;

use query::{
    frame::{N_VALUES, frame},
    gloss,
    stop::content_words,
    words::words,
};

use super::{embed::wordpiece::is_piece, fuse::dot, why::table};

/// How much the form counts beside the meaning, whose vector has the length 1.
const FORM: f32 = 0.4;
/// How fast the influence of a sentence falls with its distance.
const FALL: f32 = 1.0;

static SENTENCES: LazyLock<Vec<Sentence>> = LazyLock::new(|| read(include_str!("../assets/topic.txt")));

struct Sentence {
    features: Vec<f32>,
    /// The square of the length of `features`.
    square: f32,
    weight: f32,
}

/// A line has the weight of a sentence (positive for daily life), its form and the sentence in English, with tabs between
/// them. The form is stored because it takes longer to compute than the vector.
fn read(file: &str) -> Vec<Sentence> {
    let sentence = |line: &str| {
        let mut columns = line.splitn(3, '\t');
        let weight = columns.next()?.parse().ok()?;
        let form = columns.next()?.split(' ').map(str::parse).collect::<Result<Vec<f32>, _>>().ok()?;
        let features = joined(table()?.vector(columns.next()?), &form);
        Some(Sentence { square: dot(&features, &features), features, weight })
    };
    file.lines().filter_map(sentence).collect()
}

fn joined(mut vector: Vec<f32>, form: &[f32]) -> Vec<f32> {
    vector.extend(form.iter().map(|value| FORM * value));
    vector
}

/// A sentence of the training set.
pub struct Trained {
    pub english: String,
    pub form: [f32; N_VALUES],
    /// The meaning and the form as numbers.
    pub features: Vec<f32>,
}

impl Trained {
    /// `None` if the words of the sentence are not known.
    pub fn of(sentence: &str) -> Option<Self> {
        let english = gloss::message(sentence)?;
        let features = features_of(sentence, &english)?;
        Some(Self { form: frame(sentence, &english), features, english: english.into_owned() })
    }
}

/// `english`: the words of the message in English, because the table is of English texts.
fn features_of(message: &str, english: &str) -> Option<Vec<f32>> {
    let vector = table()?.vector(english);
    let is_known = vector.iter().any(|x| *x != 0.0);
    is_known.then(|| joined(vector, &frame(message, english)))
}

/// How alike two messages are, from 0 to 1.
pub fn likeness(a: &[f32], b: &[f32]) -> f32 {
    at_distance(dot(a, a) + dot(b, b) - 2.0 * dot(a, b))
}

fn at_distance(square: f32) -> f32 {
    (-FALL * square.max(0.0)).exp()
}

/// What a message is about. Neither, if its words are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Topic {
    /// 0 to 1: how much it counts as a message about daily life. 1 is surely one.
    pub(crate) errand: f32,
    /// 0 to 1: how surely it tells of what songs tell of.
    pub(crate) song: f32,
}

/// The probability at which a message begins to count as one about daily life, and at which it surely is one.
const DAILY_LIFE_FROM: f32 = 0.45;
const DAILY_LIFE_TO: f32 = 0.6;
/// The probability below which a message begins to count as one that a song could answer.
const SONG_BELOW: f32 = 0.4;

impl Topic {
    pub(crate) fn of(message: &str) -> Self {
        let Some(english) = gloss::message(message) else { return Self::default() };
        let Some(daily_life) = daily_life(message, &english) else { return Self::default() };
        let errand = (daily_life - DAILY_LIFE_FROM) / (DAILY_LIFE_TO - DAILY_LIFE_FROM);
        // The similarities of a message in another language are not to be trusted more.
        let song = if english == message { 1.0 - daily_life / SONG_BELOW } else { 0.0 };
        Self { errand: errand.clamp(0.0, 1.0), song: song.clamp(0.0, 1.0) }
    }
}

/// The probability that a message is about daily life. A single word is a search term, which is about neither.
fn daily_life(message: &str, english: &str) -> Option<f32> {
    // The table reads every other word, such as a name, in pieces, which say little about its meaning.
    // A single letter, which the table knows in every script, says nothing.
    let is_known = |start: usize, end: usize| {
        let word = english[start..end].to_lowercase();
        word.chars().nth(1).is_some() && is_piece(&word)
    };
    let knows_one = content_words(english).iter().any(|content| is_known(content.word.start, content.word.end));
    if words(message).len() < 2 || !knows_one {
        return None;
    }
    let features = features_of(message, english)?;
    let square = dot(&features, &features);
    let vote =
        |known: &Sentence| known.weight * at_distance(square + known.square - 2.0 * dot(&features, &known.features));
    let sum: f32 = SENTENCES.iter().map(vote).sum();
    Some(((1.0 + sum) / 2.0).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_a_weight_for_each_sentence_of_the_training_set() {
        let trained: Vec<&str> = [include_str!("../training/on_topic.txt"), include_str!("../training/off_topic.txt")]
            .into_iter()
            .flat_map(str::lines)
            .collect();
        let file = include_str!("../assets/topic.txt");
        let weighed: Vec<&str> = file.lines().filter_map(|line| line.splitn(3, '\t').nth(2)).collect();
        let trained: Vec<_> = trained.into_iter().filter_map(gloss::message).collect();
        assert_eq!(weighed, trained, "run make train-topic");
        assert_eq!(SENTENCES.len(), trained.len());
    }

    #[test]
    fn errands_are_told_from_what_songs_are_about() {
        for errand in [
            "pay the invoice of the plumber",
            "wifi router password",
            "dentist appointment on Tuesday",
            "Termin beim Zahnarzt absagen",
            "pedir cita con el dentista",
        ] {
            assert!(Topic::of(errand).errand > 0.5, "{errand}: {:?}", Topic::of(errand));
        }
        for wish in ["lonely in the rain", "a lullaby with piano", "dancing until the morning", "traurig und einsam"] {
            assert!(Topic::of(wish).errand < 0.5, "{wish}: {:?}", Topic::of(wish));
        }
        for unknown in ["", "printer", "gruppa krovi", "смотреть в окно"] {
            let Topic { errand, song } = Topic::of(unknown);
            assert!(errand == 0.0 && song < 0.5, "{unknown}: {errand}, {song}");
        }
    }
}

//! Whether a message is about daily life rather than about music. It is compared with sentences of both kinds: by its
//! meaning (the built-in table), by its form (a question, an order, a story) and by its terms. `make train-topic` gives
//! the sentences of the folder `training` their weights and writes `assets/topic.txt` and `assets/topic_terms.txt`. The models
//! of the embedder vote too (`embed/probe.rs`).

use std::{
    collections::{BTreeSet, HashMap},
    iter,
    sync::LazyLock,
};

use query::{
    frame::{N_VALUES, frame},
    gloss::{self, OwnWord, Read},
    stop::{ContentWord, content_words},
    words::words,
};

use super::{
    embed::{Votes, wordpiece::is_piece},
    fuse::dot,
    why::table,
};

/// How much the form counts beside the meaning, whose vector has the length 1.
const FORM: f32 = 0.4;
/// How fast the influence of a sentence falls with its distance.
const FALL: f32 = 1.0;
/// How much shared terms count beside the meaning and the form: content words, function words, and pairs of neighbours.
const WORDS: f32 = 0.5;
const FUNCTION_WORDS: f32 = 0.1;
const PAIRS: f32 = 0.3;

/// Every sixteenth sentence of the training set stands for all in the comparison by meaning and form.
pub const LANDMARK_EVERY: usize = 16;

static SENTENCES: LazyLock<Vec<Sentence>> = LazyLock::new(|| read(include_str!("../assets/topic.txt")));
/// The sum of what the sentences with a term say. It replaces a comparison with each of them.
static TERM_WEIGHTS: LazyLock<HashMap<&str, f32>> = LazyLock::new(|| {
    let weight =
        |line: &'static str| line.split_once('\t').and_then(|(term, weight)| Some((term, weight.parse().ok()?)));
    include_str!("../assets/topic_terms.txt").lines().filter_map(weight).collect()
});

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
    pub terms: Vec<Term>,
    /// The meaning and the form as numbers.
    features: Vec<f32>,
}

impl Trained {
    /// `None` if the words of the sentence are not known.
    pub fn of(sentence: &str) -> Option<Self> {
        let Read { english, own } = gloss::read(sentence)?;
        let form = frame(sentence, &english);
        let features = features_of(&english, &form, own.is_some())?;
        Some(Self { form, terms: terms(&english, own.as_deref()), features, english: english.into_owned() })
    }

    /// How alike two sentences are by meaning and form, from 0 to 1.
    pub fn likeness(&self, other: &Self) -> f32 {
        let (a, b) = (&self.features, &other.features);
        at_distance(dot(a, a) + dot(b, b) - 2.0 * dot(a, b))
    }
}

/// Whether enough words of a message are known to judge it.
fn is_known(message: &Read<'_>) -> bool {
    // The table reads every other word, such as a name, in pieces, which say little about its meaning.
    // A single letter, which the table knows in every script, says nothing.
    let is_word = |content: &ContentWord| {
        let word = message.english[content.word.start..content.word.end].to_lowercase();
        word.chars().nth(1).is_some() && is_piece(&word)
    };
    let Some(own) = &message.own else { return content_words(&message.english).iter().any(is_word) };
    let is_known = |word: &&OwnWord| word.is_known || TERM_WEIGHTS.contains_key(word.term.as_str());
    let content = || own.iter().filter(|word| word.is_content);
    let n_known = content().filter(is_known).count();
    n_known > 0 && 3 * n_known >= content().count()
}

/// A word of a message, or two words that follow each other.
pub struct Term {
    pub text: String,
    /// How much it counts: one of many counts less.
    pub share: f32,
}

/// The terms of a message. The function words and the pairs, with the start and the end of the message, tell its form. The
/// English words of a message in another language are a list without a form; its own words have one.
fn terms(english: &str, own: Option<&[OwnWord]>) -> Vec<Term> {
    let content: BTreeSet<String> = content_words(english).into_iter().map(|content| content.word.term).collect();
    let Some(own) = own else {
        let all: Vec<String> = words(english).into_iter().map(|word| word.term).collect();
        return in_three_kinds(&all, content);
    };
    let all: Vec<String> = own.iter().map(|word| word.term.clone()).collect();
    let own_content = own.iter().filter(|word| word.is_content).map(|word| word.term.clone()).collect();
    shared(content, WORDS).chain(in_three_kinds(&all, own_content)).collect()
}

fn in_three_kinds(all: &[String], content: BTreeSet<String>) -> Vec<Term> {
    let others: BTreeSet<String> = all.iter().filter(|word| !content.contains(*word)).cloned().collect();
    let (start, end) = (iter::once("^"), iter::once("$"));
    let marked: Vec<&str> = start.chain(all.iter().map(String::as_str)).chain(end).collect();
    let pairs: BTreeSet<String> = marked.windows(2).map(|pair| pair.join(" ")).collect();
    shared(content, WORDS).chain(shared(others, FUNCTION_WORDS)).chain(shared(pairs, PAIRS)).collect()
}

fn shared(texts: BTreeSet<String>, weight: f32) -> impl Iterator<Item = Term> {
    let share = (weight / texts.len().max(1) as f32).sqrt();
    texts.into_iter().map(move |text| Term { text, share })
}

/// `english`: the words of the message in English, because the table is of English texts. A message in another language, of
/// which none may be known, has at least a form.
fn features_of(english: &str, form: &[f32], is_foreign: bool) -> Option<Vec<f32>> {
    let vector = table()?.vector(english);
    let is_known = is_foreign || vector.iter().any(|x| *x != 0.0);
    is_known.then(|| joined(vector, form))
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
    /// It is German, French or Spanish.
    pub(crate) is_foreign: bool,
}

/// How much the vote of the training sentences counts beside that of one model.
const BY_SENTENCES: f32 = 1.5;
/// The probability at which a message begins to count as one about daily life, and at which it surely is one.
const DAILY_LIFE_FROM: f32 = 0.47;
const DAILY_LIFE_TO: f32 = 0.57;
/// The probability below which a message begins to count as one that a song could answer. It is higher than the others, because
/// the score of a message about daily life is reduced anyway.
const SONG_BELOW: f32 = 0.65;

impl Topic {
    /// The weighted mean of what the training sentences and the embedder say. A single word is a search term, which is about neither.
    pub(crate) fn of(message: &str, votes: Votes) -> Self {
        if words(message).len() < 2 {
            return Self::default();
        }
        let read = gloss::read(message);
        let by_sentences = read.as_ref().and_then(|read| vote_of_sentences(message, read));
        let is_foreign = read.is_some_and(|read| read.own.is_some());
        let is_english = by_sentences.is_some() && !is_foreign;
        let said = [(by_sentences, BY_SENTENCES), (votes.english.filter(|_| is_english), 1.0), (votes.across, 1.0)];
        let said = said.into_iter().filter_map(|(vote, weight)| Some((vote?, weight)));
        let (sum, weights) = said.fold((0.0, 0.0), |(sum, of), (vote, weight)| (sum + weight * vote, of + weight));
        if weights == 0.0 {
            return Self::default();
        }
        let daily_life = ((1.0 + sum / weights) / 2.0).clamp(0.0, 1.0);
        let errand = (daily_life - DAILY_LIFE_FROM) / (DAILY_LIFE_TO - DAILY_LIFE_FROM);
        let song = if is_english || is_foreign { 1.0 - daily_life / SONG_BELOW } else { 0.0 };
        Self { errand: errand.clamp(0.0, 1.0), song: song.clamp(0.0, 1.0), is_foreign }
    }
}

/// What the training sentences say about a message: about 1 for daily life, -1 for music.
fn vote_of_sentences(message: &str, read: &Read<'_>) -> Option<f32> {
    if !is_known(read) {
        return None;
    }
    let features = features_of(&read.english, &frame(message, &read.english), read.own.is_some())?;
    let square = dot(&features, &features);
    let vote =
        |known: &Sentence| known.weight * at_distance(square + known.square - 2.0 * dot(&features, &known.features));
    let by_term = |term: Term| TERM_WEIGHTS.get(term.text.as_str()).map(|weight| weight * term.share);
    let by_terms: f32 = terms(&read.english, read.own.as_deref()).into_iter().filter_map(by_term).sum();
    Some(SENTENCES.iter().map(vote).sum::<f32>() + by_terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(message: &str) -> Topic {
        Topic::of(message, Votes::default())
    }

    #[test]
    fn the_files_have_a_weight_for_every_compared_sentence_and_each_shared_term_of_the_training_set() {
        let training = [include_str!("../training/on_topic.txt"), include_str!("../training/off_topic.txt")];
        let trained: Vec<_> = training.into_iter().flat_map(str::lines).filter_map(Trained::of).collect();
        let file = include_str!("../assets/topic.txt");
        let weighed = file.lines().filter_map(|line| line.splitn(3, '\t').nth(2));
        let landmarks = trained.iter().step_by(LANDMARK_EVERY).map(|trained| trained.english.as_str());
        assert!(weighed.eq(landmarks.clone()), "run make train-topic");
        assert_eq!(SENTENCES.len(), landmarks.count());
        let mut n_sentences = HashMap::<String, usize>::new();
        for term in trained.iter().flat_map(|trained| &trained.terms) {
            *n_sentences.entry(term.text.clone()).or_default() += 1;
        }
        n_sentences.retain(|_, n| *n > 1);
        let shared: BTreeSet<&str> = n_sentences.keys().map(String::as_str).collect();
        assert_eq!(TERM_WEIGHTS.keys().copied().collect::<BTreeSet<_>>(), shared, "run make train-topic");
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
            assert!(of(errand).errand > 0.5, "{errand}: {:?}", of(errand));
        }
        for wish in ["lonely in the rain", "a lullaby with piano", "dancing until the morning", "traurig und einsam"] {
            assert!(of(wish).errand < 0.5, "{wish}: {:?}", of(wish));
        }
        for unknown in ["", "printer", "gruppa krovi", "смотреть в окно"] {
            let Topic { errand, song, .. } = of(unknown);
            assert!(errand == 0.0 && song < 0.5, "{unknown}: {errand}, {song}");
        }
    }

    #[test]
    fn german_french_and_spanish_are_judged_by_their_own_words_too() {
        for errand in [
            "Kündigungsschreiben Vorlage Fitnessstudio",
            "Wann öffnet das Einwohnermeldeamt?",
            "horaires de la déchetterie le mardi",
            "ma box internet clignote en rouge",
            "la lavadora no desagua bien",
            "pedir cita en el ambulatorio",
        ] {
            assert!(of(errand).errand > 0.5, "{errand}: {:?}", of(errand));
        }
        for wish in [
            "ein trauriges Lied über den letzten Sommer",
            "Tränen am Bahnsteig",
            "une chanson douce pour s'endormir",
            "la pluie sur les toits de la vieille ville",
            "guitarra y lágrimas en la noche",
            "el marinero que nunca volvió",
        ] {
            assert!(of(wish).errand < 0.5 && of(wish).is_foreign, "{wish}: {:?}", of(wish));
        }
    }

    #[test]
    fn a_model_votes_on_messages_that_it_reads() {
        let by_english = |message, vote| Topic::of(message, Votes { english: Some(vote), across: None });
        let by_across = |message, vote| Topic::of(message, Votes { english: None, across: Some(vote) });
        let wish = "lonely in the rain";
        assert!(by_english(wish, 3.0).errand > of(wish).errand && by_across(wish, 3.0).errand > of(wish).errand);
        assert!(by_english("wifi router password", -3.0).errand < of("wifi router password").errand);
        for foreign in ["traurig und einsam", "смотреть в окно", "il gatto e la luna"] {
            assert_eq!(by_english(foreign, 3.0), of(foreign), "{foreign}");
            assert_eq!(by_across(foreign, 3.0).errand, 1.0, "{foreign}");
        }
        assert_eq!(by_across("printer", 3.0), Topic::default(), "a single word is about neither");
    }
}

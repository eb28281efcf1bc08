//! A message in German, French or Spanish in English words. It is searched by these words too, a denied word also excludes
//! its English form, and they tell what the message is about. Without a multilingual embedder nothing else reads it.

use std::borrow::Cow;

use crate::{
    lexicon::{self, LANGUAGES, LONGEST_FORM},
    stop::{TextLanguage, is_function_word, is_generic, is_listed, is_sign_of_english, surface},
    words::fold,
};

/// The English words for the known words of a text; `None` if it contains none, or if the text is English.
pub fn english(text: &str) -> Option<String> {
    let said = surface(text);
    let Reading::Foreign(language) = reading(&said) else { return None };
    let gloss = Gloss::new(language, &said);
    (gloss.n_known > 0).then(|| gloss.meanings.join(" "))
}

/// A whole message in English: itself, or its known words. `None` if it is in another language and most of its content words
/// are unknown.
pub fn message(text: &str) -> Option<Cow<'_, str>> {
    let said = surface(text);
    match reading(&said) {
        Reading::English => Some(text.into()),
        Reading::Unknown => None,
        Reading::Foreign(language) => {
            let gloss = Gloss::new(language, &said);
            (3 * gloss.n_known >= gloss.n_content.max(1)).then(|| gloss.meanings.join(" ").into())
        }
    }
}

/// Tells whether a word of a text is a known word of its language. No word of an English text is.
pub fn knows(text: &str) -> impl Fn(&str) -> bool {
    let reading = reading(&surface(text));
    move |word| matches!(reading, Reading::Foreign(language) if lexicon::meaning(language, &fold(word)).is_some())
}

/// Whether a text is in German, French or Spanish, as far as its words tell.
pub fn is_foreign(text: &str) -> bool {
    matches!(reading(&surface(text)), Reading::Foreign(_))
}

/// The language of a text.
enum Reading {
    English,
    /// By its place in the lexicon.
    Foreign(usize),
    /// Another language, of which only function words are known.
    Unknown,
}

/// The language with the most known words; English if none has more.
fn reading(said: &[String]) -> Reading {
    let count = |is: &dyn Fn(&str) -> bool| said.iter().filter(|word| is(word)).count();
    let n_english = count(&|word| is_sign_of_english(word) || lexicon::is_english(word));
    // A single letter is no evidence: "vitamin D".
    let is_of = |at: usize, word: &str| {
        word.len() > 1 && is_listed(LANGUAGES[at], word)
            || lexicon::is_surely(at, word)
            || NEGATIONS[at].contains(&word)
    };
    let n_of = |at: usize| count(&|word| is_of(at, word));
    let (mut best, mut most) = (Reading::English, n_english);
    for at in 0..LANGUAGES.len() {
        let n = n_of(at);
        // "No me olvides": two words are English too, the third is known by its stem.
        let knows_another =
            |word: &String| !is_sign_of_english(word) && !is_of(at, word) && lexicon::meaning(at, word).is_some();
        if n > most || n > 0 && n == most && said.iter().any(knows_another) {
            (best, most) = (Reading::Foreign(at), n);
        }
    }
    let is_other = |language| count(&|word| word.len() > 1 && is_listed(language, word)) > most;
    let others = [TextLanguage::Italian, TextLanguage::Portuguese];
    if others.into_iter().any(is_other) { Reading::Unknown } else { best }
}

/// They are not function words, because a search must not drop them, but they show the language.
const NEGATIONS: [&[&str]; 3] =
    [&["nicht", "kein", "keine", "keinen"], &["pas", "aucun", "aucune"], &["ningun", "ninguna"]];

struct Gloss {
    meanings: Vec<Cow<'static, str>>,
    n_content: usize,
    n_known: usize,
}

impl Gloss {
    fn new(language: usize, said: &[String]) -> Self {
        let mut gloss = Self { meanings: Vec::new(), n_content: 0, n_known: 0 };
        let mut at = 0;
        while at < said.len() {
            let n_words = gloss.read(language, &said[at..]);
            at += n_words;
        }
        gloss
    }

    /// Reads the longest known form at the start, or one word. Returns the number of words.
    fn read(&mut self, language: usize, said: &[String]) -> usize {
        for n_words in (2..=LONGEST_FORM.min(said.len())).rev() {
            if let Some(meaning) = lexicon::phrase(language, &said[..n_words].join(" ")) {
                self.known(meaning.into(), n_words);
                return n_words;
            }
        }
        let word = &said[0];
        if is_function_word(LANGUAGES[language], word) || is_generic(word) {
            return 1;
        }
        match lexicon::meaning(language, word) {
            Some(meaning) => self.known(meaning, 1),
            // "Computer" is the same in German.
            None if lexicon::is_english(word) => self.known(word.clone().into(), 1),
            None => self.n_content += 1,
        }
        1
    }

    fn known(&mut self, meaning: Cow<'static, str>, n_words: usize) {
        if !self.meanings.contains(&meaning) {
            self.meanings.push(meaning);
        }
        self.n_content += n_words;
        self.n_known += n_words;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_in_other_languages_get_english_words_and_english_queries_do_not() {
        for (text, meaning) in [
            ("une chanson triste sur la mer", Some("sad sea")),
            ("Lieder über den Regen", Some("rain")),
            ("Regen am Fenster", Some("rain window")),
            ("canciones sobre la lluvia", Some("rain")),
            ("Heimweh", Some("homesickness")),
            ("j'ai oublié mon mot de passe", Some("forget password")),
            ("songs about the sea", None),
            ("a brief history of the port", None),
            ("rain", None),
            ("hotel reservation", None),
            ("die hard", None),
            ("come as you are", None),
            ("no sin", None),
            ("no me olvides", Some("forget")),
            ("die Nacht am Meer", Some("night sea")),
        ] {
            assert_eq!(english(text).as_deref(), meaning, "{text}");
        }
    }

    #[test]
    fn a_word_is_known_in_a_text_of_its_language() {
        assert!(is_foreign("die Stelle am Himmel") && !is_foreign("Himmel Street"));
        assert!(knows("die Stelle am Himmel")("Stelle") && !knows("the stelle of steel")("stelle"));
    }

    #[test]
    fn a_message_that_is_mostly_unknown_has_no_english_form() {
        for (text, meaning) in [
            ("Handyvertrag kündigen", Some("phone contract cancel")),
            ("pedir cita con el dentista", Some("order appointment dentist")),
            ("Lieder über den Regen", Some("rain")),
            ("der Zwiebelfisch und die Kaltmamsell", None),
            ("what is the capital of Peru", Some("what is the capital of Peru")),
            ("miles per gallon, no charge", Some("miles per gallon, no charge")),
            ("come as per order", Some("come as per order")),
            ("unaccompanied, everyone dies", Some("unaccompanied, everyone dies")),
        ] {
            assert_eq!(message(text).as_deref(), meaning, "{text}");
        }
    }
}

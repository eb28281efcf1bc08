//! A message in German, French or Spanish in English words. It is searched by these words too, a denied word also excludes
//! its English form, and they tell what the message is about. Without a multilingual embedder nothing else reads it.

use std::{borrow::Cow, ops::Range};

use crate::{
    lexicon::{self, LANGUAGES, LONGEST_FORM},
    stop::{TextLanguage, is_function_word, is_generic, is_listed, is_sign_of_english, surface},
    words::words,
};

/// The English words for the known words of a text; `None` if it contains none, or if the text is English.
pub fn english(text: &str) -> Option<String> {
    let said = surface(text);
    let Reading::Foreign(language) = reading(text) else { return None };
    let gloss = Gloss::new(language, &said);
    (gloss.n_known > 0).then(|| gloss.meanings.join(" "))
}

/// A word of a text in German, French or Spanish with its English meaning.
#[derive(Debug, PartialEq)]
pub struct Translated<'t> {
    pub english: Cow<'static, str>,
    /// As the text spells it; it may be several words.
    pub said: &'t str,
}

/// The known words of a text that is in German, French or Spanish.
pub fn translated(text: &str) -> Vec<Translated<'_>> {
    let Reading::Foreign(language) = reading(text) else { return Vec::new() };
    let spelled = words(text);
    let Gloss { meanings, places, .. } = Gloss::new(language, &surface(text));
    let said = |place: Range<usize>| &text[spelled[place.start].start..spelled[place.end - 1].end];
    meanings.into_iter().zip(places).map(|(english, place)| Translated { english, said: said(place) }).collect()
}

/// A message in English words, and in its own if it is German, French or Spanish.
pub struct Read<'t> {
    /// The message itself, or its known words; empty if none is known.
    pub english: Cow<'t, str>,
    pub own: Option<Vec<OwnWord>>,
}

/// A word of a message in German, French or Spanish, for those who learned from sentences in that language.
pub struct OwnWord {
    /// The stem in its language, such as `de:regen`. "Die" is no article in English.
    pub term: String,
    pub is_content: bool,
    /// It has an English meaning.
    pub is_known: bool,
}

/// `None` if the message is in a language of which only function words are known.
pub fn read(text: &str) -> Option<Read<'_>> {
    let language = match reading(text) {
        Reading::English => return Some(Read { english: text.into(), own: None }),
        Reading::Unknown => return None,
        Reading::Foreign(language) => language,
    };
    let said = surface(text);
    let word = |word: &String| OwnWord {
        term: format!("{}:{}", CODES[language], lexicon::stem(language, word)),
        is_content: !is_function_word(LANGUAGES[language], word) && !is_generic(word),
        is_known: lexicon::meaning(language, word).is_some() || lexicon::is_english(word),
    };
    let english = Gloss::new(language, &said).meanings.join(" ");
    Some(Read { english: english.into(), own: Some(said.iter().map(word).collect()) })
}

/// The languages by their codes, in the order of the lexicon.
const CODES: [&str; 3] = ["de", "fr", "es"];

/// Tells whether a word of a text is a known word of its language. No word of an English text is.
pub fn knows(text: &str) -> impl Fn(&str) -> bool {
    let reading = reading(text);
    move |word| matches!(reading, Reading::Foreign(language) if lexicon::meaning(language, &text::fold(word)).is_some())
}

/// Whether a text is in German, French or Spanish, as far as its words tell.
pub fn is_foreign(text: &str) -> bool {
    matches!(reading(text), Reading::Foreign(_))
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
fn reading(text: &str) -> Reading {
    let said = surface(text);
    let count = |is: &dyn Fn(&str) -> bool| said.iter().filter(|word| is(word)).count();
    let n_english = count(&|word| is_sign_of_english(word) || lexicon::is_english(word));
    // A single letter is no evidence: "vitamin D".
    let is_of = |at: usize, word: &str| {
        word.len() > 1 && is_listed(LANGUAGES[at], word)
            || lexicon::is_surely(at, word)
            || NEGATIONS[at].contains(&word)
    };
    let evidence = |at: usize| {
        let n_spelled = words(text).iter().filter(|word| is_spelled_in(at, &text[word.start..word.end])).count();
        let by_stem =
            |word: &str| !is_sign_of_english(word) && !is_of(at, word) && lexicon::meaning(at, word).is_some();
        (count(&|word| is_of(at, word)).max(n_spelled), count(&by_stem), at)
    };
    // Of two languages with the same number of words, the first.
    let best = (0..LANGUAGES.len())
        .map(evidence)
        .reduce(|best, next| if next > (best.0, best.1, next.2) { next } else { best });
    let Some((n, n_by_stem, at)) = best else { return Reading::English };
    // "No me olvides": two words are English too, the third is known by its stem.
    let is_foreign = n > n_english || n > 0 && n == n_english && n_by_stem > 0;
    let is_other = |language| count(&|word| word.len() > 1 && is_listed(language, word)) > n.max(n_english);
    if [TextLanguage::Italian, TextLanguage::Portuguese].into_iter().any(is_other) {
        Reading::Unknown
    } else if is_foreign {
        Reading::Foreign(at)
    } else {
        Reading::English
    }
}

/// Letters that English does not have, by language. A name in another language than the text has them too.
const LETTERS: [&str; 3] = ["äöüß", "éèêëàâùûôîïçœ", "áéíóúñ"];

fn is_spelled_in(language: usize, word: &str) -> bool {
    let is_name = LANGUAGES[language] != TextLanguage::German && word.starts_with(char::is_uppercase);
    !is_name && word.to_lowercase().contains(|c| LETTERS[language].contains(c))
}

/// They are not function words, because a search must not drop them, but they show the language.
const NEGATIONS: [&[&str]; 3] =
    [&["nicht", "kein", "keine", "keinen"], &["pas", "aucun", "aucune"], &["ningun", "ninguna"]];

struct Gloss {
    meanings: Vec<Cow<'static, str>>,
    /// Which words of the text have each meaning.
    places: Vec<Range<usize>>,
    n_content: usize,
    n_known: usize,
}

impl Gloss {
    fn new(language: usize, said: &[String]) -> Self {
        let mut gloss = Self { meanings: Vec::new(), places: Vec::new(), n_content: 0, n_known: 0 };
        let mut at = 0;
        while at < said.len() {
            let n_words = gloss.read(language, &said[at..]);
            if gloss.meanings.len() > gloss.places.len() {
                gloss.places.push(at..at + n_words);
            }
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
            ("Handyvertrag kündigen", Some("phone contract cancel")),
            ("pedir cita con el dentista", Some("order appointment dentist")),
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
    fn each_meaning_has_the_words_that_the_text_says() {
        let told = |text| translated(text).into_iter().map(|word| (word.english, word.said)).collect::<Vec<_>>();
        assert_eq!(told("Lieder über Geld und Geld"), [("money".into(), "Geld")]);
        let both = [("forget".into(), "oublié"), ("password".into(), "mot de passe")];
        assert_eq!(told("j'ai oublié mon mot de passe"), both);
        assert_eq!(told("songs about money"), []);
    }

    #[test]
    fn a_language_shows_in_its_words_and_in_its_letters() {
        let language = |text: &str| Some(read(text)?.own?.first()?.term[..2].to_owned());
        for (text, expected) in [
            ("Türschloss klemmt", Some("de")),
            ("gouttière percée", Some("fr")),
            ("flexión del músculo", Some("es")),
            // "De" is French and Spanish, and so is the letter.
            ("rachat de crédit", Some("fr")),
            ("regla de la lluvia", Some("es")),
            ("Beyoncé live in concert", None),
            ("the fiancé in the café", None),
            ("dont leave me", None),
        ] {
            assert_eq!(language(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_message_is_read_in_english_words_and_in_stems_of_its_language() {
        let told = read("Ich koche Kartoffelsuppe ohne Kaltmamsell").expect("German");
        assert_eq!(told.english, "cook potato soup");
        let own = told.own.expect("German");
        let told: Vec<_> = own.iter().map(|word| (word.term.as_str(), word.is_content, word.is_known)).collect();
        assert_eq!(told[0], ("de:ich", false, false));
        assert_eq!(told[2], ("de:kartoffelsupp", true, true));
        assert_eq!(told[4], ("de:kaltmamsell", true, false));
        assert!(read("non so dove andare, e tu che mi dici").is_none(), "Italian");
        for english in [
            "what is the capital of Peru",
            "miles per gallon, no charge",
            "come as per order",
            "unaccompanied, everyone dies",
        ] {
            assert!(read(english).is_some_and(|read| read.own.is_none() && read.english == english), "{english}");
        }
    }

    #[test]
    fn a_word_is_known_in_a_text_of_its_language() {
        assert!(is_foreign("die Stelle am Himmel") && !is_foreign("Himmel Street"));
        assert!(knows("die Stelle am Himmel")("Stelle") && !knows("the stelle of steel")("stelle"));
    }
}

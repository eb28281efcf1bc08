//! Remarks: sentences of a message that say nothing about what to find. "Thank you!", "These are great." and "I don't like the ones by X" are about what
//! was found before; their words would find songs of these names.

use std::ops::Range;

use super::tokens::{Kind, Token};
use crate::stop::{TextLanguage, is_generic, is_listed};

/// Greetings, thanks and praise.
const INTERJECTIONS: &str = "hello hi hey holla thanks thank thx bless great good nice lovely beautiful wonderful excellent awesome amazing perfect cool \
    fantastic okay ok sure yes yeah yep sorry haha hahaha wow well absolutely definitely exactly \
    hallo danke super toll perfekt klasse prima genau ja bonjour salut merci genial parfait oui hola gracias genial perfecto bueno si";
/// What results and opinions on them are called. With a word that points at them, they are a remark.
const ABOUT_RESULTS: &str = "love loved like liked enjoy enjoyed selection selections choice choices suggestion suggestions start looking wanted right \
    once again far much lot job pick picks fit list";
const POINTING: &str =
    "these those them this that it they selection selections choice choices suggestion suggestions picks job";
/// Words of a request.
const ASKING: &str =
    "add please want wants give play show find some more also like songs song music playlist need looking";
/// A request has at least this number of words.
const SHORTEST_REQUEST: usize = 3;

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// What the sentences of a message are, for each of its tokens.
pub(super) struct Remarks {
    /// The token says nothing about what to find.
    pub(super) is_remark: Vec<bool>,
    /// The token tells of earlier results: "I loved the ones by X" does not ask for X alone.
    pub(super) is_told: Vec<bool>,
}

impl Remarks {
    pub(super) fn of(tokens: &[Token], text: &str) -> Self {
        let mut remarks = Self { is_remark: vec![false; tokens.len()], is_told: vec![false; tokens.len()] };
        for clause in clauses(tokens, text, |mark| matches!(mark, '.' | '!' | '?' | '\n')) {
            let words = &tokens[clause.clone()];
            remarks.is_told[clause.clone()].fill(is_opinion(words, PAST));
            remarks.is_remark[clause].fill(is_remark(words) || is_opinion(words, DISLIKES));
        }
        if remarks.asks(tokens, false) {
            remarks.add_first_clauses(tokens, text);
        } else {
            remarks.is_remark.fill(false);
        }
        remarks.add_politeness(tokens);
        remarks
    }

    /// "Nice, can you add some X": a remark ends with a comma too, if a request follows.
    fn add_first_clauses(&mut self, tokens: &[Token], text: &str) {
        let before = self.is_remark.clone();
        for clause in clauses(tokens, text, |mark| matches!(mark, '.' | '!' | '?' | '\n' | ',')) {
            if self.is_remark[clause.start] {
                continue;
            }
            if !is_remark(&tokens[clause.clone()]) {
                break;
            }
            self.is_remark[clause].fill(true);
        }
        if !self.asks(tokens, self.is_remark != before) {
            self.is_remark = before;
        }
    }

    /// "I would love some country songs" asks for no love songs, and "create a gospel playlist" for nothing that is called "create".
    fn add_politeness(&mut self, tokens: &[Token]) {
        const MAKING: &[&str] = &["create", "make", "build", "start"];
        const LONGEST: usize = 8;
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| MAKING.contains(&token.word.as_str())) {
            let after = tokens[at..].iter().take(LONGEST).skip(1).take_while(|next| !next.after_break);
            self.is_remark[at] |= token.kind != Kind::Quoted && after.into_iter().any(|next| next.is("playlist"));
        }
        for (at, words) in tokens.windows(4).enumerate() {
            let [person, would, love, _] = words else { continue };
            self.is_remark[at + 2] |= person.is("i") && (would.is("d") || would.is("would")) && love.is("love");
        }
    }

    /// Whether what remains is a request: it has several words, of which one is not a function word. `in_words`: it also has a word of a request.
    fn asks(&self, tokens: &[Token], in_words: bool) -> bool {
        let rest = || tokens.iter().zip(&self.is_remark).filter(|(_, is_remark)| !**is_remark).map(|(token, _)| token);
        let tells =
            |token: &Token| token.kind == Kind::Quoted || !is_function_word(&token.word) && !is_generic(&token.word);
        rest().count() >= SHORTEST_REQUEST
            && rest().any(tells)
            && (!in_words || rest().any(|token| is_in(ASKING, &token.word)))
    }
}

/// The runs of tokens between these marks.
fn clauses(tokens: &[Token], text: &str, ends: fn(char) -> bool) -> Vec<Range<usize>> {
    let is_new = |at: usize| at > 0 && text[tokens[at - 1].end..tokens[at].start].contains(ends);
    let mut starts: Vec<usize> = (0..tokens.len()).filter(|at| *at == 0 || is_new(*at)).collect();
    starts.push(tokens.len());
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn is_function_word(word: &str) -> bool {
    word.chars().count() < 2 || is_listed(TextLanguage::English, word)
}

/// Whether a sentence greets, thanks or praises, and says nothing else.
fn is_remark(sentence: &[Token]) -> bool {
    let points = sentence.iter().any(|token| is_in(POINTING, &token.word));
    let is_empty = |token: &Token| is_function_word(&token.word) || is_generic(&token.word);
    let says = |token: &Token| is_in(INTERJECTIONS, &token.word) || points && is_in(ABOUT_RESULTS, &token.word);
    let is_plain = |token: &Token| token.kind != Kind::Quoted && (is_empty(token) || says(token));
    sentence.iter().all(is_plain) && sentence.iter().any(says)
}

const DISLIKES: &[&str] = &["like", "love", "enjoy", "want", "think"];
const PAST: &[&str] = &["liked", "loved", "enjoyed"];

/// Whether the user says what was liked ("I also loved …"), or what not ("I don't really like …").
fn is_opinion(sentence: &[Token], verbs: &[&str]) -> bool {
    const LONGEST: usize = 5;
    let Some(first) = sentence.iter().take(2).position(|token| token.is("i")) else { return false };
    let opening = &sentence[first..sentence.len().min(first + LONGEST)];
    let has = |words: &[&str]| opening.iter().any(|token| words.contains(&token.word.as_str()));
    let denies = has(&["not", "don", "didn", "never"]);
    has(verbs) && denies == verbs.contains(&"like") && !has(&["would", "ll", "d"])
}

#[cfg(test)]
mod tests {
    use crate::parse;

    fn words(message: &str) -> String {
        parse(message, 2026).words
    }

    #[test]
    fn thanks_praise_and_greetings_before_a_request_are_not_searched() {
        for (message, expected) in [
            (
                "Beautiful! Lets add some songs from Maverick City please",
                "Lets add some songs from Maverick City please",
            ),
            ("These are great. I love them. Some slow waltzes please", "Some slow waltzes please"),
            ("nice, i like them, can you add some tango", "can you add some tango"),
            ("Thank you! That was just what I wanted. Now sea shanties with fiddle", "Now sea shanties with fiddle"),
            ("I want to create a gospel playlist", "I want to a gospel playlist"),
            ("I'd love to hear country songs", "I'd to hear country songs"),
            ("Danke! Traurige Lieder über das Meer", "Traurige Lieder über das Meer"),
        ] {
            assert_eq!(words(message), expected, "{message}");
        }
    }

    #[test]
    fn a_message_that_is_only_a_remark_or_a_title_is_searched_as_it_is() {
        for message in [
            "Thank you for the music",
            "Hello, Goodbye",
            "I love them. Thank you",
            "Beautiful. Sad. Slow",
            "Great gig in the sky",
            "Hey Jude",
            "Yes",
        ] {
            assert_eq!(words(message), message);
        }
    }

    #[test]
    fn an_opinion_on_earlier_results_limits_nothing() {
        let plan = parse("I don't like the ones by Roger Karr at all. Can you find mellow world music", 2026);
        assert_eq!((plan.words.as_str(), plan.limits.artist), ("Can you find mellow world music", None));
        let plan = parse("I loved the suggestions by Jean du Voyage. More with strange instruments please", 2026);
        assert!(plan.limits.artist.is_none() && plan.words.contains("Jean du Voyage"), "{plan:?}");
        assert_eq!(parse("I would love some songs by Nina Simone", 2026).limits.artist.as_deref(), Some("Nina Simone"));
        assert_eq!(words("I don't like rain"), "I don't like rain");
    }

    #[test]
    fn artists_like_another_are_no_artist() {
        let plan = parse("songs by artists like Gabby Barrett", 2026);
        assert!(plan.limits.artist.is_none(), "{plan:?}");
    }

    #[test]
    fn how_about_a_decade_asks_for_the_decade() {
        let years = parse("how about the 60's and 70's rock", 2026).limits.years.expect("a limit");
        assert_eq!((years.from, years.to), (Some(1960), Some(1979)));
        assert_eq!(parse("songs about the nineties", 2026).limits.years, None);
    }
}

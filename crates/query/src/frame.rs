//! The form of a message apart from its subject: whether it asks, orders, tells of a person, or names music. "The lift
//! that carried us" and "lift inspection" share a subject and differ in form.

use crate::stop::{is_errand, is_function_word, is_generic, surface, text_language};

/// The number of values of a frame.
pub const N_VALUES: usize = 9;

/// First words of a question in English, German, French and Spanish. "Do not" and "don't" ask nothing.
const ASKS: &str = "how what why which is are was can could does do did should will would when where who \
    wie warum welche welcher welches ist sind kann gibt wann wo wer wohin wieviel \
    comment pourquoi quel quelle quels quelles est combien peut peux quand ou qui \
    como cual cuales cuanto cuanta cuantos cuantas hay puedo cuando donde quien";
const PERSONS: &str = "i me you we she he us him they them my our your her his \
    ich mich mir du dich dir wir uns er sie mein meine meinen meiner meinem unser unsere dein deine \
    je j moi tu toi nous elle il ils mon ma mes notre nos ton ta tes \
    yo tu nosotros ella mi mis nuestro nuestra tus conmigo contigo";
const ARTICLES: &str = "a an the der die das ein eine einen einem einer le la les l un une el los las una";
const LONGEST: usize = 8;

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Each value is from 0 to 1. `english`: the words of the message in English.
pub fn frame(message: &str, english: &str) -> [f32; N_VALUES] {
    let said = surface(message);
    let Some(first) = said.first() else { return [0.0; N_VALUES] };
    let language = text_language(message);
    let denies = matches!(said.get(1).map(String::as_str), Some("not" | "t"));
    let asks = is_in(ASKS, first) && said.len() > 2 && !denies;
    let n_function_words = said.iter().filter(|word| is_function_word(language, word)).count();
    let yes = |is: bool| f32::from(u8::from(is));
    [
        yes(asks),
        n_function_words as f32 / said.len() as f32,
        yes(said.iter().any(|word| is_generic(word))),
        yes(said.iter().any(|word| is_in(PERSONS, word))),
        yes(is_in(ARTICLES, first)),
        yes(first.len() > 4 && first.ends_with("ing")),
        said.len().min(LONGEST) as f32 / LONGEST as f32,
        yes(is_errand(message) || is_errand(english)),
        yes(message.contains(|c: char| c.is_ascii_digit())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame_of(message: &str) -> [f32; N_VALUES] {
        frame(message, message)
    }

    #[test]
    fn questions_orders_and_stories_have_different_frames() {
        let [asks, ..] = frame_of("how do I get to the station");
        let [denies, ..] = frame_of("don't leave me now");
        assert_eq!((asks, denies), (1.0, 0.0));
        let [.., order, _] = frame_of("cancel the order");
        let [_, _, _, person, _, _, _, story, _] = frame_of("she never came home");
        assert_eq!((order, person, story), (1.0, 1.0, 0.0));
        let [.., number] = frame_of("line 17 to the airport");
        assert_eq!(number, 1.0);
        assert_eq!(frame_of("..."), [0.0; N_VALUES]);
    }
}

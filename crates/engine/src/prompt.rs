//! What a model reads when it is asked to go on with a reply that was cut off.

use crate::{Message, Prompt, Role};

/// The first words of the instruction, by which a model without understanding recognises it.
const GO_ON: &str = "Your answer above was cut off by a restart of the server.";
/// How much of the end of the text is repeated, so that the model finds the place.
const N_LAST_CHARS: usize = 60;

/// Asks for the rest of an answer that ends with `text`. The text stands before it as the model's own words.
pub(crate) fn go_on_after(text: &str) -> Message {
    let n_chars = text.chars().count();
    let end: String = text.chars().skip(n_chars.saturating_sub(N_LAST_CHARS)).collect();
    Message::user(format!(
        "{GO_ON} Go on with it from exactly where it ends: <<{end}>>. Write only what comes next, beginning with the \
         very next character. Do not repeat or correct what is there, do not greet, do not mention the interruption. If \
         the answer was complete, write nothing."
    ))
}

impl Prompt {
    /// The prompt as it was before the reply was cut off, and the words that had come of it. For models that compute their
    /// answer and can say the rest of it.
    pub fn before_cut(&self) -> Option<(Prompt, &str)> {
        let cut = self.cut_text()?;
        let mut prompt = self.clone();
        prompt.messages.pop();
        if let Some(answer) = prompt.messages.last_mut() {
            answer.content.pop();
        }
        Some((prompt, cut))
    }

    /// The words of a reply that was cut off, when the model is asked to go on with it.
    pub fn cut_text(&self) -> Option<&str> {
        let [.., answer, instruction] = self.messages.as_slice() else { return None };
        let is_instruction = instruction.role == Role::User && instruction.text().starts_with(GO_ON);
        match answer.content.last() {
            Some(crate::Block::Text { text }) if is_instruction && answer.role == Role::Assistant => Some(text),
            _ => None,
        }
    }
}

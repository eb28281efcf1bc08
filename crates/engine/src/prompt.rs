//! The instruction for a model to continue a reply that was cut off.

use crate::{Message, Prompt, Role};

/// The start of the instruction. The offline model recognises the instruction by this text.
const GO_ON: &str = "Your answer above was cut off by a restart of the server.";
/// Length of the repeated end of the text. The model continues after it.
const N_LAST_CHARS: usize = 60;

/// Asks for the rest of an answer that ends with `text`. The message before it contains the text as the model's own.
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
    /// The prompt of the reply that was cut off, and the text that was streamed of it. For models that can compute the
    /// same answer again and send only the rest.
    pub fn before_cut(&self) -> Option<(Prompt, &str)> {
        let cut = self.cut_text()?;
        let mut prompt = self.clone();
        prompt.messages.pop();
        if let Some(answer) = prompt.messages.last_mut() {
            answer.content.pop();
        }
        Some((prompt, cut))
    }

    /// The streamed text of the reply that was cut off, if this prompt asks the model to continue one.
    pub fn cut_text(&self) -> Option<&str> {
        let [.., answer, instruction] = self.messages.as_slice() else { return None };
        let is_instruction = instruction.role == Role::User && instruction.text().starts_with(GO_ON);
        match answer.content.last() {
            Some(crate::Block::Text { text }) if is_instruction && answer.role == Role::Assistant => Some(text),
            _ => None,
        }
    }
}

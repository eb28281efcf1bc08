//! Results of earlier exchanges: a model reads the newest completely, and only the beginning of older ones.
//!
//! Otherwise, a conversation with twenty searches would contain twenty lists of tracks in every prompt.

use std::sync::Arc;

use engine::{Block, Message, Role};

/// At least this many exchanges before the current one keep their complete results.
const MIN_WHOLE: usize = 1;
/// The border moves by this many exchanges at once. So the beginning of the prompt stays the same for several turns,
/// and the prefix cache of a provider can be used.
const STEP: usize = 2;
const OLD_CHARS: usize = 240;

/// Shortens results of old exchanges. The last message is the user's newest.
pub(crate) fn shorten(messages: &mut [Message]) {
    let starts: Vec<usize> = (0..messages.len()).filter(|at| messages[*at].role == Role::User).collect();
    let n_earlier = starts.len().saturating_sub(1);
    let n_old = n_earlier.saturating_sub(MIN_WHOLE) / STEP * STEP;
    let Some(border) = starts.get(n_old).copied().filter(|_| n_old > 0) else { return };
    for block in messages[..border].iter_mut().flat_map(|message| &mut message.content) {
        if let Block::ToolResult { content, .. } = block
            && let Some(text) = content.as_str()
            && let Some((end, _)) = text.char_indices().nth(OLD_CHARS)
        {
            *content = Arc::new(format!("{} … [older result, shortened]", &text[..end]).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::CallId;

    use super::*;

    fn conversation(n_exchanges: usize) -> Vec<Message> {
        let exchange = |_| {
            let result = Block::ToolResult {
                tool_use_id: CallId::new(),
                content: Arc::new("x".repeat(1000).into()),
                is_error: false,
            };
            [Message::user("more"), Message::assistant(vec![result])]
        };
        (0..n_exchanges).flat_map(exchange).chain([Message::user("and now?")]).collect()
    }

    #[test]
    fn only_old_results_are_shortened_and_the_border_moves_in_steps() {
        let n_short = |n_exchanges| {
            let mut messages = conversation(n_exchanges);
            shorten(&mut messages);
            let is_short = |message: &&Message| matches!(message.content.first(), Some(Block::ToolResult { content, .. }) if content.as_str().is_some_and(|text| text.len() < 1000));
            messages.iter().filter(is_short).count()
        };
        assert_eq!([0, 2, 4, 5, 7, 8, 20].map(n_short), [0, 0, 2, 4, 6, 6, 18]);
    }
}

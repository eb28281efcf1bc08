//! History: the earlier messages that a model reads, within its token budget and never from the middle of a call.

use engine::{Block, Message, Model, Role, Toolbox, UserId};

use crate::old_results;
use store::{MessageStatus, StartedTurn, Store, StoreError, StoredMessage};

/// No budget holds more messages, so more are not read.
const MAX_MESSAGES: u32 = 400;
/// As stored, with the complete results of tools, of which a model reads a compact form.
const MAX_BYTES: u32 = 8 << 20;

/// The branch of a turn up to its question, independent of the branch that is shown.
pub(crate) async fn load(
    store: &Store,
    owner: &UserId,
    turn: &StartedTurn,
    toolbox: &Toolbox,
    model: &dyn Model,
) -> Result<Vec<Message>, StoreError> {
    let stored = store.branch(owner, turn.conversation, turn.message, MAX_MESSAGES, MAX_BYTES).await?;
    let messages = stored.into_iter().filter(|message| message.status != MessageStatus::Running);
    let mut messages: Vec<_> = messages.map(|message| for_model(message, toolbox)).collect();
    // A model without a window is rule-based and reads complete results.
    if model.window().is_some() {
        old_results::shorten(&mut messages);
    }
    Ok(window(messages, model.history_tokens()))
}

/// The newest messages within `budget`, starting with a user message. The newest one always stays.
pub fn window(mut messages: Vec<Message>, budget: usize) -> Vec<Message> {
    let mut n_tokens = 0;
    let n_fitting = messages.iter().rev().take_while(|message| {
        n_tokens += estimated_tokens(message);
        n_tokens <= budget
    });
    let first = messages.len() - n_fitting.count().max(1).min(messages.len());
    let from_user = messages[first..].iter().position(|message| message.role == Role::User);
    messages.drain(..first + from_user.unwrap_or(0));
    messages
}

/// A model reads the compact form of tool results, which is the same in the turn of the call and in later turns.
fn for_model(message: StoredMessage, toolbox: &Toolbox) -> Message {
    Message { role: message.role, content: toolbox.answer_for_model(&message.content) }
}

/// Estimates four bytes per token: right for English, too many tokens for most other scripts.
fn estimated_tokens(message: &Message) -> usize {
    let n_bytes: usize = message.content.iter().map(Block::n_bytes).sum();
    n_bytes / 4 + 4
}

//! Ids that clients choose for chats and messages, and Segue's ids for them.
//!
//! A client may choose the id of its chat before the first message. Segue derives the conversation id from the owner
//! and the client's id. So the same id finds the same conversation again, and never the conversation of another user.

use std::sync::Arc;

use app::{App, Ask, services::turns::StartedTurn, turns::Events};
use engine::{ConversationId, MessageId, UserId};
use uuid::Uuid;

use crate::error::ApiError;

/// The UUID namespace of these ids. No other derivation uses it.
const NAMESPACE: Uuid = Uuid::from_u128(0x5e90_e000_c4a7_4a1d_9d0c_0c11_e47d_0001);
const MAX_NAME_CHARS: usize = 500;

/// The conversation that a client's chat id refers to.
pub(super) enum Chat {
    Known(ConversationId),
    /// Not created yet; it will have this id.
    New(ConversationId),
}

impl Chat {
    /// A conversation id of this owner is used as it is; any other text is an id that the client chose.
    pub(super) async fn named(app: &App, owner: &UserId, name: &str) -> Result<Self, ApiError> {
        if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
            return Err(ApiError::invalid_field("id", format!("must have 1 to {MAX_NAME_CHARS} characters")));
        }
        let own = name.parse().ok().map(ConversationId);
        let derived = derived_conversation(owner, name);
        for id in own.into_iter().chain([derived]) {
            if app.conversations().exists(owner, id).await? {
                return Ok(Self::Known(id));
            }
        }
        Ok(Self::New(derived))
    }

    pub(super) fn id(&self) -> ConversationId {
        match self {
            Self::Known(id) | Self::New(id) => *id,
        }
    }

    /// A question in this chat.
    pub(super) fn ask(&self, text: String, agent: Option<String>) -> Ask {
        let (conversation, new_conversation_id) = match self {
            Self::Known(id) => (Some(*id), None),
            Self::New(id) => (None, Some(*id)),
        };
        Ask { text, agent, conversation, new_conversation_id, ..Ask::default() }
    }

    /// The client message id under which a message of this chat is stored. Clients number their messages separately in
    /// every chat.
    pub(super) fn message_id(&self, name: &str) -> String {
        Uuid::new_v5(&self.id().0, name.as_bytes()).to_string()
    }

    /// The turn of the message with this client id, if it was ever sent.
    pub(super) async fn turn_of(&self, app: &App, owner: &UserId, name: &str) -> Result<Option<StartedTurn>, ApiError> {
        Ok(app.turns.of_client_message(owner, &self.message_id(name)).await?)
    }
}

/// Starts the turn, or finds it if it is running, and follows it from its beginning.
pub(super) async fn start(app: &Arc<App>, owner: &UserId, ask: Ask) -> Result<(StartedTurn, Events), ApiError> {
    let started = app.converse(owner, ask).await?;
    let events = app.turns.follow_started(owner, &started).await?;
    Ok((started, events))
}

/// The text as a message id of Segue, if it is one.
pub(super) fn own_message(name: &str) -> Option<MessageId> {
    name.parse().ok().map(MessageId)
}

fn derived_conversation(owner: &UserId, name: &str) -> ConversationId {
    // The length separates the two parts, so that different pairs do not give the same text.
    let owner = owner.as_str();
    ConversationId(Uuid::new_v5(&NAMESPACE, format!("{}:{owner}:{name}", owner.len()).as_bytes()))
}

#[cfg(test)]
mod tests {
    use engine::UserId;

    use super::derived_conversation;

    #[test]
    fn a_client_id_finds_its_own_conversation_and_no_conversation_of_another_user() {
        let ids =
            [("ann", "chat"), ("bob", "chat"), ("ann", "chat2"), ("an", "n:chat"), ("ann:", "chat"), ("ann", ":chat")]
                .map(|(owner, name)| derived_conversation(&UserId::new(owner), name));
        let distinct: std::collections::HashSet<_> = ids.into_iter().collect();
        assert_eq!(distinct.len(), ids.len());
        assert_eq!(derived_conversation(&UserId::new("ann"), "chat"), ids[0]);
    }
}

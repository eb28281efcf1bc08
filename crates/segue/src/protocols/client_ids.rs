//! Names that clients choose, for chats and for messages, and which of ours they mean.
//!
//! A client may name its chat before the first message. Our id for it is derived from the owner and the name, so the
//! same name finds the same conversation again, and a name of one user never reaches a conversation of another.

use std::sync::Arc;

use app::{App, Ask, services::turns::StartedTurn, turns::Events};
use engine::{ConversationId, MessageId, UserId};
use uuid::Uuid;

use crate::error::ApiError;

/// Ours alone: no other derivation uses it.
const NAMESPACE: Uuid = Uuid::from_u128(0x5e90_e000_c4a7_4a1d_9d0c_0c11_e47d_0001);
const MAX_NAME_CHARS: usize = 500;

/// The conversation a client means by its name for a chat.
pub(super) enum Chat {
    Known(ConversationId),
    /// To be begun under this id.
    New(ConversationId),
}

impl Chat {
    /// One of our own ids is taken as it is when it is this owner's; any other text is a name.
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

    /// The id under which a message of this chat is remembered. Clients number theirs anew in every chat.
    pub(super) fn message_id(&self, name: &str) -> String {
        Uuid::new_v5(&self.id().0, name.as_bytes()).to_string()
    }

    /// The turn that a message of this name began, if it was ever sent.
    pub(super) async fn turn_of(&self, app: &App, owner: &UserId, name: &str) -> Result<Option<StartedTurn>, ApiError> {
        Ok(app.turns.of_client_message(owner, &self.message_id(name)).await?)
    }
}

/// Starts what is asked, or finds it running, and follows it from its beginning.
pub(super) async fn start(app: &Arc<App>, owner: &UserId, ask: Ask) -> Result<(StartedTurn, Events), ApiError> {
    let started = app.converse(owner, ask).await?;
    let events = app.turns.follow_started(owner, &started).await?;
    Ok((started, events))
}

/// One of our message ids, when the text is one.
pub(super) fn own_message(name: &str) -> Option<MessageId> {
    name.parse().ok().map(MessageId)
}

fn derived_conversation(owner: &UserId, name: &str) -> ConversationId {
    // The length keeps apart what would read the same when joined.
    let owner = owner.as_str();
    ConversationId(Uuid::new_v5(&NAMESPACE, format!("{}:{owner}:{name}", owner.len()).as_bytes()))
}

#[cfg(test)]
mod tests {
    use engine::UserId;

    use super::derived_conversation;

    #[test]
    fn a_name_finds_its_conversation_again_and_nobody_elses() {
        let ids =
            [("ann", "chat"), ("bob", "chat"), ("ann", "chat2"), ("an", "n:chat"), ("ann:", "chat"), ("ann", ":chat")]
                .map(|(owner, name)| derived_conversation(&UserId::new(owner), name));
        let distinct: std::collections::HashSet<_> = ids.into_iter().collect();
        assert_eq!(distinct.len(), ids.len());
        assert_eq!(derived_conversation(&UserId::new("ann"), "chat"), ids[0]);
    }
}

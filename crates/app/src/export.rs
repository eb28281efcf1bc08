//! Export: everything a user owns, in one document.

use chrono::{DateTime, Utc};
use engine::{ConversationId, UserId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::store::{Conversation, Store, StoreError, StoredMessage, Task, TaskFilter};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    pub user: UserId,
    pub exported_at: DateTime<Utc>,
    pub conversations: Vec<ExportedConversation>,
    pub tasks: Vec<Task>,
}

#[derive(Serialize, JsonSchema)]
pub struct ExportedConversation {
    #[serde(flatten)]
    pub conversation: Conversation,
    pub messages: Vec<StoredMessage>,
}

const PAGE: u32 = 100;

impl Export {
    pub async fn of(store: &Store, owner: &UserId) -> Result<Self, StoreError> {
        Ok(Self {
            user: owner.clone(),
            exported_at: Utc::now(),
            conversations: conversations(store, owner).await?,
            tasks: store.tasks(owner, TaskFilter::All).await?,
        })
    }
}

async fn conversations(store: &Store, owner: &UserId) -> Result<Vec<ExportedConversation>, StoreError> {
    let mut all = Vec::new();
    let mut before = None;
    loop {
        let page = store.conversations(owner, None, before, PAGE).await?;
        for conversation in page.conversations {
            let messages = store.messages(owner, ConversationId(conversation.id), u32::MAX).await?;
            all.push(ExportedConversation { conversation, messages });
        }
        match page.next {
            Some(next) => before = Some(ConversationId(next)),
            None => return Ok(all),
        }
    }
}

//! The items of a thread in pages. One message has any number of items, so a page of items reads as many pages of
//! messages as it needs, and never the whole thread.

use app::services::conversations::{Age, Conversations};
use engine::{ConversationId, MessageId, UserId};
use serde_json::Value;
use uuid::Uuid;

use super::{
    consents::Consents,
    items::of_message,
    request::{Order, Paging},
};
use crate::error::ApiError;

pub(super) struct Thread<'a> {
    pub(super) conversations: &'a Conversations,
    pub(super) owner: &'a UserId,
    pub(super) id: ConversationId,
}

impl Thread<'_> {
    /// A page of items, and whether there are more.
    pub(super) async fn items(&self, paging: &Paging) -> Result<(Vec<Value>, bool), ApiError> {
        let limit = paging.limit()?;
        let after = paging.after.as_ref().map(|after| after.0.as_str());
        let mut from = match after {
            Some(after) => Some(self.message_of(after).await?.ok_or_else(no_such_item)?),
            None => None,
        };
        let consents = self.consents().await?;
        let mut items = Vec::new();
        let mut skip_to = after;
        loop {
            let age = Age::from(paging.order);
            let page = self.conversations.messages(self.owner, self.id, age, from, limit).await?;
            for message in &page.messages {
                let mut of_message = of_message(self.id, message, &consents);
                if paging.order == Order::Desc {
                    of_message.reverse();
                }
                // The item `after` belongs to the first message; the page begins after it.
                if let Some(after) = skip_to.take() {
                    let position = of_message.iter().position(|item| item["id"] == after).ok_or_else(no_such_item)?;
                    of_message.drain(..=position);
                }
                items.extend(of_message);
            }
            if items.len() > limit as usize || page.next.is_none() {
                let has_more = items.len() > limit as usize;
                items.truncate(limit as usize);
                return Ok((items, has_more));
            }
            from = page.next;
        }
    }

    pub(super) async fn has_item(&self, item: &str) -> Result<bool, ApiError> {
        let Some(id) = self.message_of(item).await? else { return Ok(false) };
        Ok(self.item(id, item).await?.is_some())
    }

    /// One item of a message in its current state.
    pub(super) async fn item(&self, message: MessageId, item: &str) -> Result<Option<Value>, ApiError> {
        let consents = self.consents().await?;
        let message = self.conversations.message(self.owner, self.id, message).await?;
        let items = message.map(|message| of_message(self.id, &message, &consents)).unwrap_or_default();
        Ok(items.into_iter().find(|known| known["id"] == item))
    }

    /// Read again for each page, because a decision changes its item.
    async fn consents(&self) -> Result<Consents, ApiError> {
        let lines = self.conversations.consents(self.owner, self.id).await?;
        Ok(lines.into_iter().map(|line| (line.id, line)).collect())
    }

    /// The message of an item. Its id is a message id, `message.block`, or the id of a tool call.
    async fn message_of(&self, item: &str) -> Result<Option<MessageId>, ApiError> {
        let (id, has_block) = item.split_once('.').map_or((item, false), |(message, _)| (message, true));
        let Ok(id) = id.parse::<Uuid>() else { return Ok(None) };
        if has_block || self.conversations.message(self.owner, self.id, MessageId(id)).await?.is_some() {
            return Ok(Some(MessageId(id)));
        }
        Ok(self.conversations.message_of_call(self.owner, self.id, id).await?)
    }
}

fn no_such_item() -> ApiError {
    ApiError::invalid_field("after", "is not an item of this thread")
}

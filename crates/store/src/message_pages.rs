//! Messages page by page, in either direction.

use engine::{ConversationId, MessageId, UserId};
use uuid::Uuid;

use super::{Age, Store, StoreError, StoredMessage, conversations::MessageRow};

pub struct MessagePage {
    pub messages: Vec<StoredMessage>,
    /// The first message of the next page; none when this is the last one.
    pub next: Option<MessageId>,
}

macro_rules! select_page {
    ($compare:literal, $order:literal) => {
        concat!(
            "SELECT m.id, m.role, m.content, m.status, m.usage, m.error, m.created_at, t.id AS turn_id
            FROM messages m
            JOIN conversations c ON c.id = m.conversation_id
            LEFT JOIN turns t ON t.message_id = m.id
            WHERE m.conversation_id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL
              AND ($3 IS NULL OR m.position ",
            $compare,
            " (SELECT position FROM messages WHERE id = $3 AND conversation_id = $1))
            ORDER BY m.position ",
            $order,
            " LIMIT $4"
        )
    };
}

impl Store {
    /// At most `limit` messages from `from` on, which is included.
    pub async fn message_page(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        age: Age,
        from: Option<MessageId>,
        limit: u32,
    ) -> Result<MessagePage, StoreError> {
        let sql = match age {
            Age::OldestFirst => select_page!(">=", "ASC"),
            Age::NewestFirst => select_page!("<=", "DESC"),
        };
        let mut rows: Vec<MessageRow> = self
            .read(sql)
            .bind(conversation.0)
            .bind(owner.as_str())
            .bind(from.map(|id| id.0))
            .bind(i64::from(limit) + 1)
            .fetch_all()
            .await?;
        let mut messages: Vec<StoredMessage> = rows.drain(..).map(StoredMessage::from).collect();
        let next = messages.get(limit as usize).map(|message| message.id);
        messages.truncate(limit as usize);
        Ok(MessagePage { messages, next })
    }

    /// The answer whose content holds this call. Calls that were refused have no journal row, so the text is searched.
    pub async fn message_of_call(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        call: Uuid,
    ) -> Result<Option<MessageId>, StoreError> {
        const SQL: &str = "SELECT m.id FROM messages m JOIN conversations c ON c.id = m.conversation_id
            WHERE m.conversation_id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL AND m.role = 'assistant'
              AND CAST(m.content AS TEXT) LIKE $3 ORDER BY m.position DESC LIMIT 1";
        let row: Option<(Uuid,)> =
            self.read(SQL).bind(conversation.0).bind(owner.as_str()).bind(format!("%{call}%")).fetch_optional().await?;
        Ok(row.map(|(id,)| MessageId(id)))
    }
}

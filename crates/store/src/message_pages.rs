//! Messages of all branches: all of them for an export, and the one that contains a call.

use engine::{ConversationId, MessageId, UserId};
use uuid::Uuid;

use super::{
    Store, StoreError, StoredMessage,
    conversations::{MESSAGE_COLUMNS, MessageRow},
    db::Sql,
};

pub struct MessagePage {
    pub messages: Vec<StoredMessage>,
    /// The first message of the next page; `None` on the last page.
    pub next: Option<MessageId>,
}

impl Store {
    /// At most `limit` messages of all branches in the order they were written, after the message `after`.
    pub async fn all_messages(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        after: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        static SQL: Sql = Sql::new(|| {
            format!(
                "SELECT {MESSAGE_COLUMNS} FROM messages m
                JOIN conversations c ON c.id = m.conversation_id
                LEFT JOIN turns t ON t.message_id = m.id
                WHERE m.conversation_id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL AND ($3 IS NULL
                    OR m.position > (SELECT position FROM messages WHERE id = $3 AND conversation_id = $1))
                ORDER BY m.position LIMIT $4"
            )
        });
        let rows: Vec<MessageRow> = self
            .read(&SQL)
            .bind(conversation.0)
            .bind(owner.as_str())
            .bind(after.map(|id| id.0))
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        Ok(rows.into_iter().map(StoredMessage::from).collect())
    }

    /// The answer that contains this call. Refused calls of older versions have no journal row, so the text is
    /// searched.
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

//! Questions of a conversation: find one by its answer, and delete one to ask it again.

use engine::{ConversationId, MessageId, UserId};
use uuid::Uuid;

use super::{Store, StoreError, db::Tx};

const POSITION: &str = "SELECT position FROM messages WHERE id = $1 AND conversation_id = $2 AND role = 'user'";
/// Tool calls stay in the journal when the answer that made them is deleted.
const KEEP_CALLS: &str = "UPDATE tool_calls SET message_id = NULL
    WHERE message_id IN (SELECT id FROM messages WHERE conversation_id = $1 AND position >= $2)";
/// A running turn is kept, and its lease makes the new turn fail: a question is not deleted while its turn runs.
const FORGET_TURNS: &str = "DELETE FROM turns WHERE conversation_id = $1 AND status <> 'running'
    AND message_id IN (SELECT id FROM messages WHERE conversation_id = $1 AND position >= $2)";
const FORGET_MESSAGES: &str = "DELETE FROM messages WHERE conversation_id = $1 AND position >= $2";
/// The branch ends with the last remaining message.
const LEAF: &str = "UPDATE conversations SET active_leaf =
        (SELECT id FROM messages WHERE conversation_id = $1 AND position < $2 ORDER BY position DESC LIMIT 1)
    WHERE id = $1";

/// Deletes a question and everything after it.
pub(crate) async fn take_back(
    tx: &mut Tx,
    conversation: ConversationId,
    question: MessageId,
) -> Result<(), StoreError> {
    let found: Option<(i64,)> = tx.query(POSITION).bind(question.0).bind(conversation.0).fetch_optional().await?;
    let (position,) = found.ok_or(StoreError::NotFound)?;
    for sql in [KEEP_CALLS, FORGET_TURNS, FORGET_MESSAGES, LEAF] {
        tx.query(sql).bind(conversation.0).bind(position).execute().await?;
    }
    Ok(())
}

impl Store {
    /// The text of the question that belongs to an answer, of any user.
    pub async fn question_of(&self, answer: MessageId) -> Result<String, StoreError> {
        const SQL: &str = "SELECT q.content FROM messages a JOIN messages q ON q.conversation_id = a.conversation_id
            WHERE a.id = $1 AND q.role = 'user' AND q.position < a.position ORDER BY q.position DESC LIMIT 1";
        let row: Option<(sqlx::types::Json<Vec<engine::Block>>,)> =
            self.read(SQL).bind(answer.0).fetch_optional().await?;
        Ok(row
            .map(|(content,)| engine::Message { role: engine::Role::User, content: content.0 }.text())
            .unwrap_or_default())
    }

    /// The question that belongs to an answer; without an answer, the newest question of the conversation.
    pub async fn question(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        answer: Option<MessageId>,
    ) -> Result<(MessageId, String), StoreError> {
        const SQL: &str = "SELECT q.id, q.content FROM messages q JOIN conversations c ON c.id = q.conversation_id
            WHERE q.conversation_id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL AND q.role = 'user'
              AND ($3 IS NULL OR q.position <= (SELECT position FROM messages WHERE id = $3 AND conversation_id = $1))
            ORDER BY q.position DESC LIMIT 1";
        let row: Option<(Uuid, sqlx::types::Json<Vec<engine::Block>>)> = self
            .read(SQL)
            .bind(conversation.0)
            .bind(owner.as_str())
            .bind(answer.map(|id| id.0))
            .fetch_optional()
            .await?;
        let (id, content) = row.ok_or(StoreError::NotFound)?;
        let text = engine::Message { role: engine::Role::User, content: content.0 }.text();
        Ok((MessageId(id), text))
    }
}

//! Questions of a conversation: found by id or by answer, and the position of a question that is asked again.

use engine::{Block, ConversationId, Message, MessageId, Role, UserId};
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, db::Tx};

/// The position of a question that is asked again.
pub(crate) enum Place {
    /// The same text: another answer to the same question.
    AnswerTo(MessageId),
    /// Another text: a sibling question with the same parent.
    QuestionAfter(Option<MessageId>),
}

pub(crate) async fn place_of(
    tx: &mut Tx,
    conversation: ConversationId,
    question: MessageId,
    text: &str,
) -> Result<Place, StoreError> {
    const SQL: &str =
        "SELECT content, parent_id FROM messages WHERE id = $1 AND conversation_id = $2 AND role = 'user'";
    let found: Option<(Json<Vec<Block>>, Option<Uuid>)> =
        tx.query(SQL).bind(question.0).bind(conversation.0).fetch_optional().await?;
    let (Json(content), parent) = found.ok_or(StoreError::NotFound)?;
    Ok(match words(content) == text {
        true => Place::AnswerTo(question),
        false => Place::QuestionAfter(parent.map(MessageId)),
    })
}

fn words(content: Vec<Block>) -> String {
    Message { role: Role::User, content }.text()
}

impl Store {
    /// The text of the question of an answer, for any user.
    pub async fn question_of(&self, answer: MessageId) -> Result<String, StoreError> {
        const SQL: &str = "SELECT q.content FROM messages a JOIN messages q ON q.id = a.parent_id WHERE a.id = $1";
        let row: Option<(Json<Vec<Block>>,)> = self.read(SQL).bind(answer.0).fetch_optional().await?;
        Ok(row.map(|(Json(content),)| words(content)).unwrap_or_default())
    }

    /// The question with this id or with this answer. Without an id, the newest question of the branch that is shown.
    pub async fn question(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        message: Option<MessageId>,
    ) -> Result<(MessageId, String), StoreError> {
        const SQL: &str = "SELECT q.id, q.content FROM messages m JOIN conversations c ON c.id = m.conversation_id
            JOIN messages q ON q.id = CASE WHEN m.role = 'user' THEN m.id ELSE m.parent_id END
            WHERE m.conversation_id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL
              AND m.id = COALESCE($3, c.active_leaf)";
        let row: Option<(Uuid, Json<Vec<Block>>)> = self
            .read(SQL)
            .bind(conversation.0)
            .bind(owner.as_str())
            .bind(message.map(|id| id.0))
            .fetch_optional()
            .await?;
        let (id, Json(content)) = row.ok_or(StoreError::NotFound)?;
        Ok((MessageId(id), words(content)))
    }
}

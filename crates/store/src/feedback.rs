//! Feedback of users on parts of an answer.

use chrono::{DateTime, Utc};
use engine::{ConversationId, MessageId, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    Positive,
    Negative,
}

impl Feedback {
    fn as_str(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Negative => "negative",
        }
    }
}

/// Stored feedback on one item of a conversation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Opinion {
    pub conversation_id: Uuid,
    pub item_id: String,
    pub kind: String,
    pub created_at: DateTime<Utc>,
}
from_row!(Opinion { conversation_id, item_id, kind, created_at });

/// A call of a conversation that tells what its user thinks of tracks.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCall {
    pub tool_name: String,
    pub result: Value,
    /// Feedback on the call, or on the answer that it belongs to.
    pub feedback: Option<Feedback>,
}

struct CallRow {
    id: Uuid,
    message_id: Uuid,
    tool_name: String,
    result: Json<Value>,
}
from_row!(CallRow { id, message_id, tool_name, result });

impl CallRow {
    /// The newest feedback on the call, on its answer, or on a part of one of them.
    fn judged(self, opinions: &[Opinion]) -> JudgedCall {
        let (call, message) = (self.id.to_string(), self.message_id.to_string());
        let is_about = |item: &str| {
            let whole = item.split_once('.').map_or(item, |(whole, _)| whole);
            whole == call || whole == message
        };
        let opinion = opinions.iter().find(|opinion| is_about(&opinion.item_id));
        let feedback = opinion.map(|opinion| match opinion.kind == Feedback::Positive.as_str() {
            true => Feedback::Positive,
            false => Feedback::Negative,
        });
        JudgedCall { tool_name: self.tool_name, result: self.result.0, feedback }
    }
}

/// How many opinions and calls of a conversation count, the newest first.
const MOST_JUDGED: i64 = 40;

impl Store {
    /// Stores feedback on each of `items` and replaces earlier feedback. The caller checks that the items exist.
    pub async fn give_feedback(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        items: &[String],
        feedback: Feedback,
    ) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO feedback (conversation_id, item_id, user_id, kind, created_at)
            SELECT id, $2, $3, $4, $5 FROM conversations WHERE id = $1 AND user_id = $3 AND deleted_at IS NULL
            ON CONFLICT (conversation_id, item_id) DO UPDATE SET kind = excluded.kind, created_at = excluded.created_at
            RETURNING item_id";
        let mut tx = self.begin().await?;
        for item in items {
            let kept: Option<(String,)> = tx
                .query(SQL)
                .bind(conversation.0)
                .bind(item)
                .bind(owner.as_str())
                .bind(feedback.as_str())
                .bind_now()
                .fetch_optional()
                .await?;
            if kept.is_none() {
                return Err(StoreError::NotFound);
            }
        }
        tx.commit().await?;
        Ok(())
    }

    /// The calls with feedback in the conversation of an answer, and the changes of playlists there, the newest first.
    pub async fn judged_calls(&self, owner: &UserId, answer: MessageId) -> Result<Vec<JudgedCall>, StoreError> {
        const OPINIONS: &str = "SELECT f.conversation_id, f.item_id, f.kind, f.created_at
            FROM messages a JOIN feedback f ON f.conversation_id = a.conversation_id
            WHERE a.id = $1 AND f.user_id = $2 ORDER BY f.created_at DESC LIMIT $3";
        // Most conversations have no feedback; then only the changes of playlists are read.
        const CALLS: &str = "SELECT c.id, c.message_id, c.tool_name, c.result
            FROM messages a JOIN messages m ON m.conversation_id = a.conversation_id
            JOIN tool_calls c ON c.message_id = m.id
            WHERE a.id = $1 AND c.user_id = $2 AND c.status = 'done' AND c.result IS NOT NULL
              AND (c.tool_name = 'edit_playlist' OR $3 = 1)
            ORDER BY c.created_at DESC LIMIT $4";
        let opinions: Vec<Opinion> =
            self.read(OPINIONS).bind(answer.0).bind(owner.as_str()).bind(MOST_JUDGED).fetch_all().await?;
        let with_feedback = i64::from(!opinions.is_empty());
        let calls: Vec<CallRow> = self
            .read(CALLS)
            .bind(answer.0)
            .bind(owner.as_str())
            .bind(with_feedback)
            .bind(MOST_JUDGED)
            .fetch_all()
            .await?;
        let judged = calls.into_iter().map(|call| call.judged(&opinions));
        Ok(judged.filter(|call| call.feedback.is_some() || call.tool_name == "edit_playlist").collect())
    }
}

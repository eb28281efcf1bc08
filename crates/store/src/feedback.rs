//! Feedback of users on parts of an answer.

use chrono::{DateTime, Utc};
use engine::{ConversationId, UserId};
use schemars::JsonSchema;
use serde::Serialize;
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
}

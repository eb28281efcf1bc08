//! Conversations and their messages: what was said, in order, and to whom it belongs.

use chrono::{DateTime, Utc};
use engine::{Block, ConversationId, FailureCode, MessageId, Role, TurnId, Usage, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, like_pattern};

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    pub id: Uuid,
    pub agent: String,
    pub title: String,
    /// The beginning of the newest message.
    pub preview: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

pub struct ConversationPage {
    pub conversations: Vec<Conversation>,
    /// Where the next page begins; none when there is none.
    pub next: Option<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredMessage {
    pub id: MessageId,
    pub role: Role,
    pub content: Vec<Block>,
    pub status: MessageStatus,
    pub created_at: DateTime<Utc>,
    /// The turn that wrote it; answers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageStatus {
    Running,
    Complete,
    Stopped,
    MaxSteps,
    Error,
}

/// How a turn failed, as it was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnError {
    pub code: FailureCode,
    pub message: String,
    pub retryable: bool,
}

impl MessageStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::MaxSteps => "max_steps",
            Self::Error => "error",
        }
    }

    fn from_text(text: &str) -> Self {
        match text {
            "running" => Self::Running,
            "stopped" => Self::Stopped,
            "max_steps" => Self::MaxSteps,
            "error" => Self::Error,
            _ => Self::Complete,
        }
    }
}

/// Deleted conversations can be restored for this long; then they are gone.
const KEEP_DELETED: chrono::TimeDelta = chrono::TimeDelta::hours(1);

impl Store {
    /// Newest first. `query` looks into titles and texts.
    pub async fn conversations(
        &self,
        owner: &UserId,
        query: Option<&str>,
        before: Option<ConversationId>,
        limit: u32,
    ) -> Result<ConversationPage, StoreError> {
        const SQL: &str = r"SELECT id, agent, title, preview, created_at, updated_at FROM conversations c
            WHERE user_id = $1 AND deleted_at IS NULL
              AND ($2 IS NULL OR (updated_at, id) < (SELECT updated_at, id FROM conversations WHERE id = $2 AND user_id = $1))
              AND ($3 IS NULL OR LOWER(title) LIKE $3 ESCAPE '\' OR EXISTS (
                    SELECT 1 FROM messages m WHERE m.conversation_id = c.id AND m.searchable LIKE $3 ESCAPE '\'))
            ORDER BY updated_at DESC, id DESC LIMIT $4";
        let pattern = query.map(like_pattern);
        let mut conversations: Vec<Conversation> = self
            .read(SQL)
            .bind(owner.as_str())
            .bind(before.map(|id| id.0))
            .bind(pattern.as_deref())
            .bind(i64::from(limit) + 1)
            .fetch_all()
            .await?;
        let has_more = conversations.len() > limit as usize;
        conversations.truncate(limit as usize);
        let next = conversations.last().filter(|_| has_more).map(|last| last.id);
        Ok(ConversationPage { conversations, next })
    }

    pub async fn conversation(&self, owner: &UserId, id: ConversationId) -> Result<Conversation, StoreError> {
        const SQL: &str = "SELECT id, agent, title, preview, created_at, updated_at FROM conversations
            WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL";
        let found = self.read(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        found.ok_or(StoreError::NotFound)
    }

    /// The newest `limit` messages, oldest first.
    pub async fn messages(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        limit: u32,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        const SQL: &str = "SELECT m.id, m.role, m.content, m.status, m.usage, m.error, m.created_at, t.id AS turn_id
            FROM messages m
            JOIN conversations c ON c.id = m.conversation_id
            LEFT JOIN turns t ON t.message_id = m.id
            WHERE m.conversation_id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL
            ORDER BY m.position DESC LIMIT $3";
        let rows: Vec<MessageRow> =
            self.read(SQL).bind(conversation.0).bind(owner.as_str()).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.into_iter().rev().map(StoredMessage::from).collect())
    }

    pub async fn rename_conversation(
        &self,
        owner: &UserId,
        id: ConversationId,
        title: &str,
    ) -> Result<Conversation, StoreError> {
        const SQL: &str = "UPDATE conversations SET title = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
            RETURNING id, agent, title, preview, created_at, updated_at";
        let renamed = self.write(SQL).bind(id.0).bind(owner.as_str()).bind(title).fetch_optional().await?;
        renamed.ok_or(StoreError::NotFound)
    }

    /// Refused while a turn runs: its answer would have nowhere to go.
    pub async fn delete_conversation(&self, owner: &UserId, id: ConversationId) -> Result<(), StoreError> {
        const MARK: &str =
            "UPDATE conversations SET deleted_at = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
            RETURNING id";
        const RUNNING: &str = "SELECT id FROM turns WHERE conversation_id = $1 AND status = 'running'";
        let mut tx = self.begin().await?;
        let marked: Option<(Uuid,)> =
            tx.query(MARK).bind(id.0).bind(owner.as_str()).bind(self.clock.now()).fetch_optional().await?;
        if marked.is_none() {
            return Err(StoreError::NotFound);
        }
        let running: Option<(Uuid,)> = tx.query(RUNNING).bind(id.0).fetch_optional().await?;
        if running.is_some() {
            return Err(StoreError::Conflict("a turn is still running in this conversation; stop it first"));
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn restore_conversation(&self, owner: &UserId, id: ConversationId) -> Result<Conversation, StoreError> {
        const SQL: &str = "UPDATE conversations SET deleted_at = NULL WHERE id = $1 AND user_id = $2
            RETURNING id, agent, title, preview, created_at, updated_at";
        let restored = self.write(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        restored.ok_or(StoreError::NotFound)
    }

    /// Deletes for good what was deleted an hour ago, with everything that hangs on it.
    pub async fn purge_deleted_conversations(&self) -> Result<u64, StoreError> {
        const SQL: &str = "DELETE FROM conversations WHERE deleted_at < $1";
        let before = self.clock.now() - KEEP_DELETED;
        let n_purged = self.write(SQL).bind(before).execute().await?;
        Ok(n_purged)
    }
}

#[derive(sqlx::FromRow)]
pub(super) struct MessageRow {
    id: Uuid,
    role: String,
    content: Json<Vec<Block>>,
    status: String,
    usage: Option<Json<Usage>>,
    error: Option<Json<TurnError>>,
    created_at: DateTime<Utc>,
    turn_id: Option<Uuid>,
}

impl From<MessageRow> for StoredMessage {
    fn from(row: MessageRow) -> Self {
        Self {
            id: MessageId(row.id),
            role: if row.role == "user" { Role::User } else { Role::Assistant },
            content: row.content.0,
            status: MessageStatus::from_text(&row.status),
            created_at: row.created_at,
            turn_id: row.turn_id.map(TurnId),
            usage: row.usage.map(|json| json.0),
            error: row.error.map(|json| json.0),
        }
    }
}

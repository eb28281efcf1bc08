//! Conversations and their messages.

use chrono::{DateTime, Utc};
use engine::{Block, ConversationId, FailureCode, MessageId, Role, TurnId, Usage, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use super::{Siblings, Store, StoreError, StoredCall, db::Sql, like_pattern, matching_line::matching_line};

/// The columns of a conversation `c`.
pub(crate) const CONVERSATION_COLUMNS: &str = "c.id, c.agent, c.title, c.preview, c.created_at, c.updated_at, c.pinned,
    c.model, EXISTS (SELECT 1 FROM turns t WHERE t.conversation_id = c.id AND t.status = 'running') AS running";

/// The columns of a message `m` and of the turn `t` that wrote it.
pub(crate) const MESSAGE_COLUMNS: &str =
    "m.id, m.role, m.content, m.status, m.usage, m.error, m.created_at, m.parent_id, t.id AS turn_id";

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    pub id: Uuid,
    pub agent: String,
    pub title: String,
    /// The beginning of the newest message.
    pub preview: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Pinned by the user: pinned conversations are first in the list.
    pub pinned: bool,
    /// The model that was chosen for it, by its name in `SEGUE_MODELS`; absent: the active model answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether a turn is running in it.
    pub running: bool,
    /// The line that contains the searched words, if a message contains them.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<String>,
}
from_row!(Conversation { id, agent, title, preview, created_at, updated_at, pinned, model, running; matching });

pub struct ConversationPage {
    pub conversations: Vec<Conversation>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredMessage {
    pub id: MessageId,
    pub role: Role,
    pub content: Vec<Block>,
    /// The tool calls of the answer: what is shown about each beside its output. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<StoredCall>,
    pub status: MessageStatus,
    pub created_at: DateTime<Utc>,
    /// The parent message; `None` for a first question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<MessageId>,
    /// The siblings of the message; absent if there is only one branch here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub siblings: Option<Siblings>,
    /// The turn that wrote it; only for answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the answer has cost in US dollars, where the price of its model was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
}

/// What an answer used and cost, as one column.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spent {
    #[serde(flatten)]
    pub(super) usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
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

/// The error of a failed turn, as it was shown.
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

impl Store {
    /// Pinned conversations first, then the newest. `query` searches titles and texts.
    pub async fn conversations(
        &self,
        owner: &UserId,
        query: Option<&str>,
        before: Option<ConversationId>,
        limit: u32,
    ) -> Result<ConversationPage, StoreError> {
        static SQL: Sql = Sql::new(|| {
            format!(
                r"SELECT {CONVERSATION_COLUMNS}, CASE WHEN $3 IS NULL THEN NULL ELSE (SELECT m.content FROM messages m
                        WHERE m.conversation_id = c.id AND m.searchable LIKE $3 ESCAPE '\'
                        ORDER BY m.position DESC LIMIT 1) END AS content
                FROM conversations c
                WHERE c.user_id = $1 AND c.deleted_at IS NULL
                  AND ($2 IS NULL OR (c.pinned, c.updated_at, c.id) <
                        (SELECT pinned, updated_at, id FROM conversations WHERE id = $2 AND user_id = $1))
                  AND ($3 IS NULL OR LOWER(c.title) LIKE $3 ESCAPE '\' OR EXISTS (
                        SELECT 1 FROM messages m WHERE m.conversation_id = c.id AND m.searchable LIKE $3 ESCAPE '\'))
                ORDER BY c.pinned DESC, c.updated_at DESC, c.id DESC LIMIT $4"
            )
        });
        let pattern = query.map(like_pattern);
        let found: Vec<Found> = self
            .read(&SQL)
            .bind(owner.as_str())
            .bind(before.map(|id| id.0))
            .bind(pattern.as_deref())
            .bind(i64::from(limit) + 1)
            .fetch_all()
            .await?;
        let has_more = found.len() > limit as usize;
        let shown = found.into_iter().take(limit as usize);
        let conversations: Vec<_> = shown.map(|found| found.with_line(query.unwrap_or_default())).collect();
        let next = conversations.last().filter(|_| has_more).map(|last| last.id);
        Ok(ConversationPage { conversations, next })
    }

    pub async fn conversation(&self, owner: &UserId, id: ConversationId) -> Result<Conversation, StoreError> {
        static SQL: Sql = Sql::new(|| {
            format!(
                "SELECT {CONVERSATION_COLUMNS} FROM conversations c
                    WHERE c.id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL"
            )
        });
        let found = self.read(&SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        found.ok_or(StoreError::NotFound)
    }
}

struct Found {
    conversation: Conversation,
    /// The content of the newest message that contains the words.
    content: Option<Json<Vec<Block>>>,
}

/// The columns of the conversation, and `content`.
impl<'r, R: sqlx::Row> sqlx::FromRow<'r, R> for Found
where
    Conversation: sqlx::FromRow<'r, R>,
    Option<Json<Vec<Block>>>: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    &'static str: sqlx::ColumnIndex<R>,
{
    fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
        Ok(Self { conversation: Conversation::from_row(row)?, content: row.try_get("content")? })
    }
}

impl Found {
    fn with_line(self, words: &str) -> Conversation {
        let matching = self.content.and_then(|Json(content)| matching_line(content, words));
        Conversation { matching, ..self.conversation }
    }
}

pub(super) struct MessageRow {
    id: Uuid,
    role: String,
    content: Json<Vec<Block>>,
    status: String,
    usage: Option<Json<Spent>>,
    error: Option<Json<TurnError>>,
    created_at: DateTime<Utc>,
    parent_id: Option<Uuid>,
    turn_id: Option<Uuid>,
}
from_row!(MessageRow { id, role, content, status, usage, error, created_at, parent_id, turn_id });

impl From<MessageRow> for StoredMessage {
    fn from(row: MessageRow) -> Self {
        let spent = row.usage.map(|json| json.0);
        Self {
            id: MessageId(row.id),
            role: if row.role == "user" { Role::User } else { Role::Assistant },
            content: row.content.0,
            calls: Vec::new(),
            status: MessageStatus::from_text(&row.status),
            created_at: row.created_at,
            parent_id: row.parent_id.map(MessageId),
            siblings: None,
            turn_id: row.turn_id.map(TurnId),
            usage: spent.map(|spent| spent.usage),
            cost_usd: spent.and_then(|spent| spent.cost_usd),
            error: row.error.map(|json| json.0),
        }
    }
}

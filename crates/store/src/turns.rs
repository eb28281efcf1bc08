//! Turns and their event log: looked up, saved, stopped and forgotten. `turn_start` and `turn_end` begin and close one.

use chrono::{DateTime, TimeDelta, Utc};
use engine::{Block, ConversationId, MessageId, TurnId, Usage, UserId};
use uuid::Uuid;

use super::{
    MessageStatus, Store, StoreError, TurnError,
    limits::{Limited, TurnLimits},
    now,
};

/// Events of an ended turn can be replayed for this long; then the conversation is the record.
const KEEP_EVENTS: TimeDelta = TimeDelta::hours(1);
pub(super) const PREVIEW_CHARS: usize = 120;

pub struct NewTurn<'a> {
    /// None: a new conversation.
    pub conversation: Option<ConversationId>,
    /// The id of the new conversation, when the client chose one.
    pub new_conversation_id: Option<ConversationId>,
    /// The earlier question that is asked again; it and everything after it is taken back.
    pub again: Option<MessageId>,
    pub agent: &'a str,
    pub text: &'a str,
    pub client_message_id: Option<&'a str>,
    pub node: &'a str,
    pub limits: TurnLimits,
}

#[derive(Debug, Clone)]
pub struct StartedTurn {
    pub turn: TurnId,
    pub conversation: ConversationId,
    pub message: MessageId,
}

/// Whether a message began a turn, was sent before, or was one too many.
pub enum Start {
    New(StartedTurn),
    Existing(StartedTurn),
    Limited(Limited),
}

#[derive(Debug, Clone, sqlx::FromRow)]
pub struct TurnRow {
    pub id: Uuid,
    pub conversation_id: Uuid,
    pub message_id: Uuid,
    pub status: String,
    pub ended_at: Option<DateTime<Utc>>,
}

impl TurnRow {
    pub fn is_running(&self) -> bool {
        self.status == "running"
    }

    /// Whether its events may be gone already.
    pub fn is_forgotten(&self) -> bool {
        self.ended_at.is_some_and(|ended_at| ended_at < now() - KEEP_EVENTS)
    }
}

/// How a turn ended: everything that is stored in one transaction before anyone sees the end.
pub struct TurnEnd<'a> {
    pub started: &'a StartedTurn,
    pub node: &'a str,
    pub content: &'a [Block],
    pub status: MessageStatus,
    pub usage: Option<Usage>,
    pub error: Option<TurnError>,
    pub text: &'a str,
    /// The events not saved yet, the closing one last.
    pub events: Vec<EventRow>,
}

/// A row of the saved log: where its first event stands, and its events as a JSON array.
pub type EventRow = (i64, String);

pub(super) const INSERT_EVENTS: &str = "INSERT INTO turn_events (turn_id, position, events) VALUES ($1, $2, $3)";

impl Store {
    /// The turn that a message with this id of the client's began, if it was ever sent.
    pub async fn turn_of_client_message(
        &self,
        owner: &UserId,
        client_message_id: Option<&str>,
    ) -> Result<Option<StartedTurn>, StoreError> {
        const SQL: &str =
            "SELECT id, conversation_id, message_id FROM turns WHERE user_id = $1 AND client_message_id = $2";
        let Some(client_message_id) = client_message_id else { return Ok(None) };
        let row: Option<(Uuid, Uuid, Uuid)> =
            self.read(SQL).bind(owner.as_str()).bind(client_message_id).fetch_optional().await?;
        Ok(row.map(|(turn, conversation, message)| StartedTurn {
            turn: TurnId(turn),
            conversation: ConversationId(conversation),
            message: MessageId(message),
        }))
    }

    pub async fn turn(&self, owner: &UserId, id: TurnId) -> Result<TurnRow, StoreError> {
        const SQL: &str = "SELECT t.id, t.conversation_id, t.message_id, t.status, t.ended_at FROM turns t
            JOIN conversations c ON c.id = t.conversation_id
            WHERE t.id = $1 AND t.user_id = $2 AND c.deleted_at IS NULL";
        let row = self.read(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        row.ok_or(StoreError::NotFound)
    }

    /// The turn that runs in a conversation now, if any.
    pub async fn running_turn(
        &self,
        owner: &UserId,
        conversation: ConversationId,
    ) -> Result<Option<TurnId>, StoreError> {
        const SQL: &str = "SELECT id FROM turns WHERE conversation_id = $1 AND user_id = $2 AND status = 'running'";
        let row: Option<(Uuid,)> = self.read(SQL).bind(conversation.0).bind(owner.as_str()).fetch_optional().await?;
        Ok(row.map(|(id,)| TurnId(id)))
    }

    pub async fn n_running_turns(&self, owner: &UserId) -> Result<i64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM turns WHERE user_id = $1 AND status = 'running'";
        let (n,): (i64,) = self.read(SQL).bind(owner.as_str()).fetch_one().await?;
        Ok(n)
    }

    /// The saved events from `position` on, as they were saved, at most `n_rows` rows of them.
    pub async fn events_from(&self, turn: TurnId, position: i64, n_rows: i64) -> Result<Vec<String>, StoreError> {
        const SQL: &str =
            "SELECT events FROM turn_events WHERE turn_id = $1 AND position >= $2 ORDER BY position LIMIT $3";
        let rows: Vec<(String,)> = self.read(SQL).bind(turn.0).bind(position).bind(n_rows).fetch_all().await?;
        Ok(rows.into_iter().map(|(events,)| events).collect())
    }

    /// One group commit for the events of all turns together.
    pub async fn save_events(&self, batch: &[(TurnId, i64, String)]) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        for (turn, position, events) in batch {
            tx.query(INSERT_EVENTS).bind(turn.0).bind(position).bind(events).execute().await?;
        }
        tx.commit().await?;
        batch.iter().for_each(|(turn, ..)| self.notices.tell_events(*turn));
        Ok(())
    }

    /// Asks the node that runs a turn to stop it. False when it does not run any more.
    pub async fn request_stop(&self, owner: &UserId, turn: TurnId) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE turns SET stop_requested = TRUE WHERE id = $1 AND user_id = $2 AND status = 'running'
            RETURNING id";
        let row: Option<(Uuid,)> = self.write(SQL).bind(turn.0).bind(owner.as_str()).fetch_optional().await?;
        self.notices.tell_stop();
        Ok(row.is_some())
    }

    pub async fn stop_requests(&self, node: &str) -> Result<Vec<TurnId>, StoreError> {
        const SQL: &str = "SELECT id FROM turns WHERE node = $1 AND status = 'running' AND stop_requested";
        let rows: Vec<(Uuid,)> = self.read(SQL).bind(node).fetch_all().await?;
        Ok(rows.into_iter().map(|(id,)| TurnId(id)).collect())
    }

    pub async fn is_running(&self, turn: TurnId) -> Result<bool, StoreError> {
        const SQL: &str = "SELECT status FROM turns WHERE id = $1";
        let row: Option<(String,)> = self.read(SQL).bind(turn.0).fetch_optional().await?;
        Ok(row.is_some_and(|(status,)| status == "running"))
    }

    /// Forgets the events of turns that ended long ago.
    pub async fn forget_old_events(&self) -> Result<u64, StoreError> {
        const SQL: &str = "DELETE FROM turn_events WHERE turn_id IN (SELECT id FROM turns WHERE ended_at < $1)";
        let before = now() - KEEP_EVENTS;
        let n = self.write(SQL).bind(before).execute().await?;
        Ok(n)
    }
}

/// The first words of a text on one line, for titles and previews.
pub(super) fn beginning_of(text: &str, n_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= n_chars {
        return line;
    }
    let cut: String = line.chars().take(n_chars).collect();
    let at_word = cut.rfind(' ').filter(|at| *at > n_chars / 2).unwrap_or(cut.len());
    format!("{}…", &cut[..at_word])
}

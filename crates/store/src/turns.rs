//! Finds and stops turns. `turn_start` and `turn_end` start and end a turn, `turn_log` stores its events.

use chrono::{DateTime, Utc};
use engine::{ConversationId, MessageId, TurnId, UserId};
use uuid::Uuid;

use super::{
    ConsentScope, Store, StoreError,
    limits::{Limited, TurnLimits},
    turn_log::KEEP_EVENTS,
};

pub(super) const PREVIEW_CHARS: usize = 120;

pub struct NewTurn<'a> {
    /// `None`: a new conversation.
    pub conversation: Option<ConversationId>,
    /// The id of the new conversation, if the client chose one.
    pub new_conversation_id: Option<ConversationId>,
    /// `None`: the question follows the newest message of the branch that is shown.
    pub again: Option<Again>,
    pub agent: &'a str,
    pub text: &'a str,
    pub client_message_id: Option<&'a str>,
    /// A configured model, for this message and later ones; `None`: the earlier choice is kept.
    pub model: Option<&'a str>,
    /// The consent that the user gives with this turn. The decision commits together with the start of the turn.
    pub decides: Option<(Uuid, ConsentScope)>,
    pub node: &'a str,
    pub limits: TurnLimits,
    /// The row of the log with the first event of the turn, which is stored with its start; `None`: the log begins empty.
    pub opening: Option<&'a (dyn Fn(&StartedTurn) -> String + Sync)>,
}

/// An earlier question that is asked again. The same text adds an answer, another text adds a sibling question. The
/// earlier messages are kept on their own branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    pub question: MessageId,
    /// The client message id belongs to the question, not to the attempt: it moves from the earlier turn to this one.
    pub moves_client_id: bool,
}

#[derive(Debug, Clone)]
pub struct StartedTurn {
    pub turn: TurnId,
    pub conversation: ConversationId,
    pub message: MessageId,
}

/// Whether a message started a turn, was sent before, or exceeded a limit.
pub enum Start {
    New(StartedTurn),
    Existing(StartedTurn),
    Limited(Limited),
}

#[derive(Debug, Clone)]
pub struct TurnRow {
    pub id: Uuid,
    pub conversation_id: Uuid,
    pub message_id: Uuid,
    pub status: String,
    pub ended_at: Option<DateTime<Utc>>,
}
from_row!(TurnRow { id, conversation_id, message_id, status, ended_at });

impl TurnRow {
    pub fn is_running(&self) -> bool {
        self.status == "running"
    }

    /// Whether its events may be deleted at `time`, which is the database's.
    pub fn is_forgotten(&self, time: DateTime<Utc>) -> bool {
        self.ended_at.is_some_and(|ended_at| ended_at < time - KEEP_EVENTS)
    }
}

impl NewTurn<'_> {
    /// Whether a turn with this client message id may be the same request, sent twice.
    pub(crate) fn may_exist(&self) -> bool {
        !self.again.is_some_and(|again| again.moves_client_id)
    }

    /// The first row of the log.
    pub(crate) fn opening(&self, started: &StartedTurn) -> Option<String> {
        self.opening.map(|row| row(started))
    }
}

impl Store {
    /// The turn of a message with this client message id, if it was ever sent.
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

    /// The running turn of a conversation, if any.
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

    /// Asks the node of a turn to stop it. False if the turn does not run any more.
    pub async fn request_stop(&self, owner: &UserId, turn: TurnId) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE turns SET stop_requested = TRUE WHERE id = $1 AND user_id = $2 AND status = 'running'
            RETURNING id";
        let row: Option<(Uuid,)> = self.write(SQL).bind(turn.0).bind(owner.as_str()).fetch_optional().await?;
        self.notices.notify_stop();
        Ok(row.is_some())
    }

    pub async fn stop_requests(&self, node: &str) -> Result<Vec<TurnId>, StoreError> {
        const SQL: &str = "SELECT id FROM turns WHERE holder = $1 AND status = 'running' AND stop_requested";
        let rows: Vec<(Uuid,)> = self.read(SQL).bind(node).fetch_all().await?;
        Ok(rows.into_iter().map(|(id,)| TurnId(id)).collect())
    }

    pub async fn is_running(&self, turn: TurnId) -> Result<bool, StoreError> {
        const SQL: &str = "SELECT status FROM turns WHERE id = $1";
        let row: Option<(String,)> = self.read(SQL).bind(turn.0).fetch_optional().await?;
        Ok(row.is_some_and(|(status,)| status == "running"))
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

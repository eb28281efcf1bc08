//! Turns and their event log: started, saved and ended in transactions, leased to the node that runs them.

use chrono::{DateTime, TimeDelta, Utc};
use engine::{Block, ConversationId, MessageId, TurnId, Usage, UserId};
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    MessageStatus, Store, StoreError, TurnError,
    db::Tx,
    leases::LEASE,
    limits::{self, Limited, TurnLimits},
    now,
    questions::take_back,
};

/// Events of an ended turn can be replayed for this long; then the conversation is the record.
const KEEP_EVENTS: TimeDelta = TimeDelta::hours(1);
const TITLE_CHARS: usize = 60;
const PREVIEW_CHARS: usize = 120;

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

const INSERT_EVENTS: &str = "INSERT INTO turn_events (turn_id, position, events) VALUES ($1, $2, $3)";

impl Store {
    /// Stores the user's message, an empty answer and the turn that will fill it. The same `client_message_id` again
    /// is the turn that is already there.
    pub async fn start_turn(&self, owner: &UserId, new: &NewTurn<'_>) -> Result<Start, StoreError> {
        // A question that is asked again was sent before, and is to be answered anew.
        if new.again.is_none()
            && let Some(existing) = self.turn_of_client_message(owner, new.client_message_id).await?
        {
            return Ok(Start::Existing(existing));
        }
        match self.try_to_start(owner, new).await {
            Ok(start) => Ok(start),
            Err(StoreError::Database(error)) if is_unique_violation(&error) => {
                // Someone was faster: the same message sent twice at once, or another message in this conversation.
                if let Some(existing) = self.turn_of_client_message(owner, new.client_message_id).await? {
                    return Ok(Start::Existing(existing));
                }
                if let Some(id) = new.new_conversation_id {
                    // It exists already: begun at the same time by another request, or deleted a moment ago.
                    self.conversation(owner, id).await?;
                }
                Err(StoreError::Conflict("a turn is already running in this conversation"))
            }
            Err(other) => Err(other),
        }
    }

    async fn try_to_start(&self, owner: &UserId, new: &NewTurn<'_>) -> Result<Start, StoreError> {
        let at = self.clock.now();
        let started = StartedTurn {
            turn: TurnId::new(),
            conversation: new.conversation.or(new.new_conversation_id).unwrap_or_else(ConversationId::new),
            message: MessageId::new(),
        };
        let mut tx = self.begin().await?;
        if let Some(limited) = limits::exceeded(&mut tx, owner, new.limits, at).await? {
            return Ok(Start::Limited(limited));
        }
        open_conversation(&mut tx, owner, new, &started, at).await?;
        insert_messages(&mut tx, new, &started, at).await?;
        insert_turn(&mut tx, owner, new, &started, at).await?;
        tx.commit().await?;
        Ok(Start::New(started))
    }

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

    /// Stores the end of a turn. False when the turn is no longer ours to end: its lease ran out and another node
    /// closed it. Ending twice is fine: the first time may have been stored without our hearing of it.
    pub async fn end_turn(&self, end: &TurnEnd<'_>) -> Result<bool, StoreError> {
        let at = self.clock.now();
        let mut tx = self.begin().await?;
        if !mark_ended(&mut tx, end, at).await? {
            return was_ended_here(&mut tx, end).await;
        }
        store_answer(&mut tx, end, at).await?;
        if let Some(usage) = &end.usage {
            limits::spend(&mut tx, end.started.turn, usage, at).await?;
        }
        for (position, events) in &end.events {
            tx.query(INSERT_EVENTS).bind(end.started.turn.0).bind(position).bind(events).execute().await?;
        }
        tx.commit().await?;
        self.notices.tell_events(end.started.turn);
        Ok(true)
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

/// Makes the conversation, or says in it that something is new; takes back the question that is asked again.
async fn open_conversation(
    tx: &mut Tx,
    owner: &UserId,
    new: &NewTurn<'_>,
    started: &StartedTurn,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO conversations (id, user_id, agent, title, preview, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6)";
    const TOUCH: &str = "UPDATE conversations SET preview = $3, updated_at = $4
        WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL RETURNING id";
    let (id, preview) = (started.conversation, beginning_of(new.text, PREVIEW_CHARS));
    if new.conversation.is_none() {
        let title = beginning_of(new.text, TITLE_CHARS);
        let query = tx.query(INSERT).bind(id.0).bind(owner.as_str()).bind(new.agent).bind(title);
        query.bind(preview).bind(at).execute().await?;
        return Ok(());
    }
    let query = tx.query(TOUCH).bind(id.0).bind(owner.as_str()).bind(preview).bind(at);
    let touched: Option<(Uuid,)> = query.fetch_optional().await?;
    if touched.is_none() {
        return Err(StoreError::NotFound);
    }
    match new.again {
        Some(question) => take_back(tx, id, question).await,
        None => Ok(()),
    }
}

/// The question, and an empty answer after it.
async fn insert_messages(
    tx: &mut Tx,
    new: &NewTurn<'_>,
    started: &StartedTurn,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    const INSERT: &str =
        "INSERT INTO messages (id, conversation_id, position, role, content, status, searchable, created_at)
         SELECT $1, $2, COALESCE(MAX(position), 0) + 1, 'user', $3, 'complete', $4, $5 FROM messages WHERE conversation_id = $2
         UNION ALL
         SELECT $6, $2, COALESCE(MAX(position), 0) + 2, 'assistant', $7, 'running', '', $5 FROM messages WHERE conversation_id = $2";
    tx.query(INSERT)
        .bind(new.again.unwrap_or_else(MessageId::new).0)
        .bind(started.conversation.0)
        .bind(Json([Block::Text { text: new.text.to_owned() }]))
        .bind(new.text.to_lowercase())
        .bind(at)
        .bind(started.message.0)
        .bind(Json(Vec::<Block>::new()))
        .execute()
        .await?;
    Ok(())
}

async fn insert_turn(
    tx: &mut Tx,
    owner: &UserId,
    new: &NewTurn<'_>,
    started: &StartedTurn,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    const INSERT: &str =
        "INSERT INTO turns (id, conversation_id, message_id, user_id, client_message_id, status, node, lease_until, stop_requested, created_at)
         VALUES ($1, $2, $3, $4, $5, 'running', $6, $7, FALSE, $8)";
    tx.query(INSERT)
        .bind(started.turn.0)
        .bind(started.conversation.0)
        .bind(started.message.0)
        .bind(owner.as_str())
        .bind(new.client_message_id)
        .bind(new.node)
        .bind(at + LEASE)
        .bind(at)
        .execute()
        .await?;
    Ok(())
}

/// False when this node does not hold the lease of a running turn.
async fn mark_ended(tx: &mut Tx, end: &TurnEnd<'_>, at: DateTime<Utc>) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE turns SET status = 'ended', ended_at = $3
        WHERE id = $1 AND node = $2 AND status = 'running' RETURNING id";
    let ended: Option<(Uuid,)> =
        tx.query(SQL).bind(end.started.turn.0).bind(end.node).bind(at).fetch_optional().await?;
    Ok(ended.is_some())
}

async fn was_ended_here(tx: &mut Tx, end: &TurnEnd<'_>) -> Result<bool, StoreError> {
    const SQL: &str = "SELECT id FROM turns WHERE id = $1 AND node = $2 AND status = 'ended'";
    let ours: Option<(Uuid,)> = tx.query(SQL).bind(end.started.turn.0).bind(end.node).fetch_optional().await?;
    Ok(ours.is_some())
}

async fn store_answer(tx: &mut Tx, end: &TurnEnd<'_>, at: DateTime<Utc>) -> Result<(), StoreError> {
    const ANSWER: &str =
        "UPDATE messages SET content = $2, status = $3, usage = $4, error = $5, searchable = $6 WHERE id = $1";
    const PREVIEW: &str = "UPDATE conversations SET preview = $2, updated_at = $3 WHERE id = $1";
    tx.query(ANSWER)
        .bind(end.started.message.0)
        .bind(Json(end.content))
        .bind(end.status.as_str())
        .bind(end.usage.map(Json))
        .bind(end.error.as_ref().map(Json))
        .bind(end.text.to_lowercase())
        .execute()
        .await?;
    if !end.text.is_empty() {
        let preview = beginning_of(end.text, PREVIEW_CHARS);
        tx.query(PREVIEW).bind(end.started.conversation.0).bind(preview).bind(at).execute().await?;
    }
    Ok(())
}

fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}

/// The first words of a text on one line, for titles and previews.
fn beginning_of(text: &str, n_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= n_chars {
        return line;
    }
    let cut: String = line.chars().take(n_chars).collect();
    let at_word = cut.rfind(' ').filter(|at| *at > n_chars / 2).unwrap_or(cut.len());
    format!("{}…", &cut[..at_word])
}

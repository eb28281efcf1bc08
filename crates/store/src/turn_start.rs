//! The start of a turn: question, empty answer and turn in one transaction, within the limits of the owner.

use chrono::{DateTime, Utc};
use engine::{Block, ConversationId, MessageId, TurnId, UserId};
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    NewTurn, Start, StartedTurn, Store, StoreError, consents,
    db::Tx,
    limits,
    questions::{Place, place_of},
    turn_log::INSERT_EVENTS,
    turn_open::{OPEN_POSTGRES, OPEN_SQLITE, bind_opening},
    turns::{PREVIEW_CHARS, beginning_of},
};

impl Store {
    /// Stores the user's message, an empty answer and the turn that will fill it. The same `client_message_id` again
    /// returns the existing turn.
    pub async fn start_turn(&self, owner: &UserId, new: &NewTurn<'_>) -> Result<Start, StoreError> {
        self.paces.turn_wrote();
        if new.may_exist()
            && let Some(existing) = self.turn_of_client_message(owner, new.client_message_id).await?
        {
            return Ok(Start::Existing(existing));
        }
        if let Some(limited) = self.is_over(owner, new.limits).await? {
            return Ok(Start::Limited(limited));
        }
        match self.try_to_start(owner, new).await {
            Ok(start) => Ok(start),
            Err(StoreError::Database(error)) if is_unique_violation(&error) => {
                // Another request was faster: the same message sent twice, or another message in this conversation.
                if let Some(existing) = self.turn_of_client_message(owner, new.client_message_id).await? {
                    return Ok(Start::Existing(existing));
                }
                if let Some(id) = new.new_conversation_id {
                    // The conversation exists: another request created it at the same time, or it was deleted a moment
                    // ago.
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
        let lease_until = at + self.lease;
        if new.conversation.is_none() && !new.limits.are_set() && new.decides.is_none() {
            let query = self.write_together(OPEN_SQLITE, OPEN_POSTGRES);
            bind_opening(query, owner, new, &started, at, lease_until).execute().await?;
            return Ok(Start::New(started));
        }
        let mut tx = self.begin().await?;
        if let Some(limited) = limits::exceeded(&mut tx, owner, new.limits, at).await? {
            return Ok(Start::Limited(limited));
        }
        if new.conversation.is_none() {
            let open = tx.in_dialect(OPEN_SQLITE, OPEN_POSTGRES);
            bind_opening(tx.query(open), owner, new, &started, at, lease_until).execute().await?;
        } else {
            touch_conversation(&mut tx, owner, new, &started, at).await?;
            insert_messages(&mut tx, new, &started, at).await?;
            insert_turn(&mut tx, owner, new, &started, at, lease_until).await?;
        }
        if let Some((consent, scope)) = new.decides {
            consents::decide(&mut tx, owner, consent, Some(scope)).await?;
        }
        tx.commit().await?;
        Ok(Start::New(started))
    }
}

/// Shows in an existing conversation that there is a new message.
async fn touch_conversation(
    tx: &mut Tx,
    owner: &UserId,
    new: &NewTurn<'_>,
    started: &StartedTurn,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    const MOVE_CLIENT_ID: &str = "UPDATE turns SET client_message_id = NULL
        WHERE user_id = $1 AND client_message_id = $2 AND status <> 'running'";
    const TOUCH: &str = "UPDATE conversations SET preview = $3, updated_at = $4,
            model = COALESCE($5, model)
        WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL RETURNING id";
    let preview = beginning_of(new.text, PREVIEW_CHARS);
    let query = tx.query(TOUCH).bind(started.conversation.0).bind(owner.as_str()).bind(preview).bind(at);
    let touched: Option<(Uuid,)> = query.bind(new.model).fetch_optional().await?;
    if touched.is_none() {
        return Err(StoreError::NotFound);
    }
    if !new.may_exist() {
        tx.query(MOVE_CLIENT_ID).bind(owner.as_str()).bind(new.client_message_id).execute().await?;
    }
    Ok(())
}

/// Inserts the question and an empty answer, or only the answer if the same question is repeated.
async fn insert_messages(
    tx: &mut Tx,
    new: &NewTurn<'_>,
    started: &StartedTurn,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    const LEAF: &str = "UPDATE conversations SET active_leaf = $2 WHERE id = $1";
    match new.again {
        None => insert_both(tx, new, started, at).await?,
        Some(again) => match place_of(tx, started.conversation, again.question, new.text).await? {
            Place::AnswerTo(question) => insert(tx, started, Row::answer(started, question), at).await?,
            Place::QuestionAfter(parent) => {
                let question = Row::question(new.text, parent);
                let answer = Row::answer(started, question.id);
                insert(tx, started, question, at).await?;
                insert(tx, started, answer, at).await?;
            }
        },
    }
    tx.query(LEAF).bind(started.conversation.0).bind(started.message.0).execute().await?;
    Ok(())
}

/// The usual case in one statement: after the newest message of the branch that is shown.
async fn insert_both(
    tx: &mut Tx,
    new: &NewTurn<'_>,
    started: &StartedTurn,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    const INSERT: &str =
        "INSERT INTO messages (id, conversation_id, position, role, content, status, searchable, created_at, parent_id)
         SELECT $1, $2, COALESCE(MAX(position), 0) + 1, 'user', $3, 'complete', $4, $5,
            (SELECT active_leaf FROM conversations WHERE id = $2)
            FROM messages WHERE conversation_id = $2
         UNION ALL
         SELECT $6, $2, COALESCE(MAX(position), 0) + 2, 'assistant', $7, 'running', '', $5, $1 FROM messages
            WHERE conversation_id = $2";
    let question = Row::question(new.text, None);
    tx.query(INSERT)
        .bind(question.id.0)
        .bind(started.conversation.0)
        .bind(Json(question.content))
        .bind(question.searchable)
        .bind(at)
        .bind(started.message.0)
        .bind(Json(Vec::<Block>::new()))
        .execute()
        .await?;
    Ok(())
}

struct Row {
    id: MessageId,
    parent: Option<MessageId>,
    role: &'static str,
    content: Vec<Block>,
    status: &'static str,
    searchable: String,
}

impl Row {
    fn question(text: &str, parent: Option<MessageId>) -> Self {
        let content = vec![Block::Text { text: text.to_owned() }];
        let (id, searchable) = (MessageId::new(), text.to_lowercase());
        Self { id, parent, role: "user", content, status: "complete", searchable }
    }

    /// An empty answer. The turn fills it.
    fn answer(started: &StartedTurn, question: MessageId) -> Self {
        let (id, parent) = (started.message, Some(question));
        Self { id, parent, role: "assistant", content: vec![], status: "running", searchable: String::new() }
    }
}

async fn insert(tx: &mut Tx, started: &StartedTurn, row: Row, at: DateTime<Utc>) -> Result<(), StoreError> {
    const INSERT: &str =
        "INSERT INTO messages (id, conversation_id, position, role, content, status, searchable, created_at, parent_id)
         SELECT $1, $2, COALESCE(MAX(position), 0) + 1, $3, $4, $5, $6, $7, $8 FROM messages
            WHERE conversation_id = $2";
    tx.query(INSERT)
        .bind(row.id.0)
        .bind(started.conversation.0)
        .bind(row.role)
        .bind(Json(row.content))
        .bind(row.status)
        .bind(row.searchable)
        .bind(at)
        .bind(row.parent.map(|id| id.0))
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
    lease_until: DateTime<Utc>,
) -> Result<(), StoreError> {
    const INSERT: &str =
        "INSERT INTO turns (id, conversation_id, message_id, user_id, client_message_id, status, holder, lease_until, stop_requested, created_at, model, n_events)
         VALUES ($1, $2, $3, $4, $5, 'running', $6, $7, FALSE, $8, (SELECT model FROM conversations WHERE id = $2), $9)";
    let opening = new.opening(started);
    tx.query(INSERT)
        .bind(started.turn.0)
        .bind(started.conversation.0)
        .bind(started.message.0)
        .bind(owner.as_str())
        .bind(new.client_message_id)
        .bind(new.node)
        .bind(lease_until)
        .bind(at)
        .bind(i64::from(opening.is_some()))
        .execute()
        .await?;
    if let Some(events) = opening {
        tx.query(INSERT_EVENTS).bind(started.turn.0).bind(0_i64).bind(events).execute().await?;
    }
    Ok(())
}

fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}

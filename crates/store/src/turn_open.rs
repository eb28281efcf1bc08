//! A new conversation with its first turn: all rows in one statement.

use chrono::{DateTime, Utc};
use engine::{Block, MessageId, UserId};
use sqlx::types::Json;

use super::{
    NewTurn, StartedTurn,
    db::Query,
    turns::{PREVIEW_CHARS, beginning_of},
};

const TITLE_CHARS: usize = 60;

/// The newest message of the conversation will be the answer. Keys to other tables are checked when the statement ends.
pub(super) const OPEN_POSTGRES: &str = "WITH conversation AS (
        INSERT INTO conversations
            (id, user_id, agent, title, title_by, preview, created_at, updated_at, model, active_leaf)
        VALUES ($1, $2, $3, $4, 'question', $5, $6, $6, $7, $8)
    ), said AS (
        INSERT INTO messages (id, conversation_id, position, role, content, status, searchable, created_at, parent_id)
        VALUES ($9, $1, 1, 'user', $10, 'complete', $11, $6, NULL), ($8, $1, 2, 'assistant', $12, 'running', '', $6, $9)
    ), logged AS (
        INSERT INTO turn_log (turn_id, position, events) SELECT $13, 0, $17 WHERE $17 IS NOT NULL
    )
    INSERT INTO turns (id, conversation_id, message_id, user_id, client_message_id, status, holder, lease_until,
        stop_requested, created_at, model, n_events)
    VALUES ($13, $1, $8, $2, $14, 'running', $15, $16, FALSE, $6, $7, CASE WHEN $17 IS NULL THEN 0 ELSE 1 END)";
pub(super) const OPEN_SQLITE: &str = "INSERT INTO conversations
        (id, user_id, agent, title, title_by, preview, created_at, updated_at, model, active_leaf)
    VALUES ($1, $2, $3, $4, 'question', $5, $6, $6, $7, $8);
    INSERT INTO messages (id, conversation_id, position, role, content, status, searchable, created_at, parent_id)
    VALUES ($9, $1, 1, 'user', $10, 'complete', $11, $6, NULL), ($8, $1, 2, 'assistant', $12, 'running', '', $6, $9);
    INSERT INTO turns (id, conversation_id, message_id, user_id, client_message_id, status, holder, lease_until,
        stop_requested, created_at, model, n_events)
    VALUES ($13, $1, $8, $2, $14, 'running', $15, $16, FALSE, $6, $7, CASE WHEN $17 IS NULL THEN 0 ELSE 1 END);
    INSERT INTO turn_log (turn_id, position, events) SELECT $13, 0, $17 WHERE $17 IS NOT NULL";

/// The arguments of both.
pub(super) fn bind_opening<'c>(
    query: Query<'c>,
    owner: &UserId,
    new: &NewTurn<'_>,
    started: &StartedTurn,
    at: DateTime<Utc>,
    lease_until: DateTime<Utc>,
) -> Query<'c> {
    query
        .bind(started.conversation.0)
        .bind(owner.as_str())
        .bind(new.agent)
        .bind(beginning_of(new.text, TITLE_CHARS))
        .bind(beginning_of(new.text, PREVIEW_CHARS))
        .bind(at)
        .bind(new.model)
        .bind(started.message.0)
        .bind(MessageId::new().0)
        .bind(Json([Block::Text { text: new.text.to_owned() }]))
        .bind(new.text.to_lowercase())
        .bind(Json(Vec::<Block>::new()))
        .bind(started.turn.0)
        .bind(new.client_message_id)
        .bind(new.node)
        .bind(lease_until)
        .bind(new.opening(started))
}

//! The end of a turn: the node that holds the lease stores the answer, the last events and the tokens in one
//! transaction.

use chrono::{DateTime, Utc};
use engine::{
    Block, Usage,
    mutants::{Mutant, planted, statement},
};
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    MessageStatus, StartedTurn, Store, StoreError, TurnError,
    conversations::Spent,
    db::Tx,
    journal::close_calls,
    turn_log::{EventRow, INSERT_EVENTS},
    turns::{PREVIEW_CHARS, beginning_of},
};

/// The end of a turn. It is stored in one transaction before a client sees it.
pub struct TurnEnd<'a> {
    pub started: &'a StartedTurn,
    /// The token of the lease under which the turn ran.
    pub token: i64,
    pub content: &'a [Block],
    pub status: MessageStatus,
    pub usage: Option<Usage>,
    /// In US dollars, where the price of the model is known.
    pub cost_usd: Option<f64>,
    pub error: Option<TurnError>,
    pub text: &'a str,
    /// A title made from the results of tools. It replaces the first words of the question.
    pub title: Option<&'a str>,
    /// The number of events that the log already contains.
    pub n_saved: i64,
    /// The events that are not saved yet; the closing event is last.
    pub events: Vec<EventRow>,
    /// The number of events in the log after this save.
    pub n_events: i64,
}

/// The result of storing an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The end is stored, by this or an earlier attempt.
    Stored,
    /// The log contains another number of events than `n_saved`.
    Holds(i64),
    /// Another node holds the turn, or has ended it.
    Lost,
}

impl Store {
    /// Stores the end of a turn. A second attempt is accepted, because the reply to the first may have been lost. Locks
    /// the conversation before the turn, in the same order as the start of a turn, so that the two cannot deadlock.
    pub async fn end_turn(&self, end: &TurnEnd<'_>) -> Result<Ended, StoreError> {
        let at = self.clock.now();
        let mut tx = self.begin().await?;
        if !planted(Mutant::LockOrder) {
            touch_conversation(&mut tx, end, at).await?;
        }
        if !mark_ended(&mut tx, end, at).await? {
            return state(&mut tx, end).await;
        }
        if planted(Mutant::LockOrder) {
            touch_conversation(&mut tx, end, at).await?;
        }
        store_answer(&mut tx, end).await?;
        close_calls(&mut tx, end.started.message, at).await?;
        for (position, events) in &end.events {
            tx.query(INSERT_EVENTS).bind(end.started.turn.0).bind(position).bind(events).execute().await?;
        }
        tx.commit().await?;
        self.notices.notify_events(end.started.turn);
        Ok(Ended::Stored)
    }
}

async fn touch_conversation(tx: &mut Tx, end: &TurnEnd<'_>, at: DateTime<Utc>) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE conversations SET preview = COALESCE($2, preview), updated_at = $3,
            title = CASE WHEN title_by = 'question' THEN COALESCE($4, title) ELSE title END,
            title_by = CASE WHEN title_by = 'question' AND $4 IS NOT NULL THEN 'found' ELSE title_by END
        WHERE id = $1";
    let preview = (!end.text.is_empty()).then(|| beginning_of(end.text, PREVIEW_CHARS));
    tx.query(SQL).bind(end.started.conversation.0).bind(preview).bind(at).bind(end.title).execute().await?;
    Ok(())
}

/// False if this node does not hold the lease of a running turn, or if the number of events differs.
async fn mark_ended(tx: &mut Tx, end: &TurnEnd<'_>, at: DateTime<Utc>) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE turns SET status = 'ended', ended_at = $3, n_events = $5,
            input_tokens = $6, output_tokens = $7, cache_read_tokens = $8, cache_write_tokens = $9
        WHERE id = $1 AND lease_token = $2 AND status = 'running' AND n_events = $4 RETURNING id";
    let tokens = |count: fn(&Usage) -> u64| end.usage.as_ref().and_then(|usage| i64::try_from(count(usage)).ok());
    let ended: Option<(Uuid,)> = tx
        .query(statement(SQL, Mutant::EndUnfenced, "lease_token = $2", "lease_token >= $2"))
        .bind(end.started.turn.0)
        .bind(end.token)
        .bind(at)
        .bind(end.n_saved)
        .bind(end.n_events)
        .bind(tokens(|usage| usage.input_tokens))
        .bind(tokens(|usage| usage.output_tokens))
        .bind(tokens(|usage| usage.cache_read_tokens))
        .bind(tokens(|usage| usage.cache_write_tokens))
        .fetch_optional()
        .await?;
    Ok(ended.is_some())
}

/// The token of an ended turn is that of the node that ended it.
async fn state(tx: &mut Tx, end: &TurnEnd<'_>) -> Result<Ended, StoreError> {
    const SQL: &str = "SELECT lease_token, n_events, status FROM turns WHERE id = $1";
    let row: Option<(i64, i64, String)> = tx.query(SQL).bind(end.started.turn.0).fetch_optional().await?;
    Ok(match row {
        Some((token, _, status)) if token == end.token && status == "ended" => Ended::Stored,
        Some((token, n_events, _)) if token == end.token => Ended::Holds(n_events),
        Some(_) | None => Ended::Lost,
    })
}

async fn store_answer(tx: &mut Tx, end: &TurnEnd<'_>) -> Result<(), StoreError> {
    const SQL: &str =
        "UPDATE messages SET content = $2, status = $3, usage = $4, error = $5, searchable = $6 WHERE id = $1";
    tx.query(SQL)
        .bind(end.started.message.0)
        .bind(Json(end.content))
        .bind(end.status.as_str())
        .bind(end.usage.map(|usage| Json(Spent { usage, cost_usd: end.cost_usd })))
        .bind(end.error.as_ref().map(Json))
        .bind(end.text.to_lowercase())
        .execute()
        .await?;
    Ok(())
}

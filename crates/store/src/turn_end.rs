//! The end of a turn: the node that holds the lease stores the answer, the last events and the tokens in one
//! commit.

use chrono::{DateTime, Utc};
use engine::{
    Block, Failure, Usage,
    mutants::{Mutant, statement},
};
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    MessageStatus, StartedTurn, Store, StoreError, TurnError,
    conversations::Spent,
    db::Query,
    journal::DONE,
    turns::{PREVIEW_CHARS, beginning_of},
};

/// The end of a turn. It is stored in one commit before a client sees it.
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
    /// The events that are not saved yet, as one row; the closing event is last.
    pub events: Option<String>,
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

/// The conversation is locked before the turn, in the same order as at the start of a turn, so that the two cannot deadlock. A
/// node that does not hold the turn changes nothing.
const END_POSTGRES: &str = "WITH locked AS (
        SELECT id FROM conversations WHERE id = $1 FOR NO KEY UPDATE
    ), ended AS (
        UPDATE turns SET status = 'ended', ended_at = $4, n_events = $6,
            input_tokens = $7, output_tokens = $8, cache_read_tokens = $9, cache_write_tokens = $10
        FROM locked WHERE turns.id = $2 AND conversation_id = locked.id
            AND lease_token = $3 AND status = 'running' AND n_events = $5 RETURNING turns.id
    ), touched AS (
        UPDATE conversations SET preview = COALESCE($11, preview), updated_at = $4,
            title = CASE WHEN title_by = 'question' THEN COALESCE($12, title) ELSE title END,
            title_by = CASE WHEN title_by = 'question' AND $12 IS NOT NULL THEN 'found' ELSE title_by END
        FROM ended WHERE conversations.id = $1
    ), answered AS (
        UPDATE messages SET content = $14, status = $15, usage = $16, error = $17, searchable = $18
        FROM ended WHERE messages.id = $13
    ), closed AS (
        UPDATE tool_calls SET result = CASE WHEN status = 'running' THEN $19 ELSE result END,
            retryable = CASE WHEN status = 'running' THEN TRUE END,
            summary = CASE WHEN status = 'settled' THEN $20 END,
            result_count = CASE WHEN status = 'settled' THEN 1 END,
            status = CASE WHEN status = 'running' THEN 'failed' ELSE 'done' END,
            duration_ms = 0, was_retried = FALSE, finished_at = $4
        FROM ended WHERE message_id = $13 AND status IN ('running', 'settled')
    ), logged AS (
        INSERT INTO turn_log (turn_id, position, events) SELECT id, $5, $21 FROM ended WHERE $21 IS NOT NULL
    )
    SELECT id FROM ended";
/// The turn ends last: the condition holds for all statements or for none.
const END_SQLITE: &str = "UPDATE conversations SET preview = COALESCE($11, preview), updated_at = $4,
            title = CASE WHEN title_by = 'question' THEN COALESCE($12, title) ELSE title END,
            title_by = CASE WHEN title_by = 'question' AND $12 IS NOT NULL THEN 'found' ELSE title_by END
        WHERE id = $1 AND EXISTS (SELECT 1 FROM turns
            WHERE id = $2 AND lease_token = $3 AND status = 'running' AND n_events = $5);
    UPDATE messages SET content = $14, status = $15, usage = $16, error = $17, searchable = $18
        WHERE id = $13 AND EXISTS (SELECT 1 FROM turns
            WHERE id = $2 AND lease_token = $3 AND status = 'running' AND n_events = $5);
    UPDATE tool_calls SET result = CASE WHEN status = 'running' THEN $19 ELSE result END,
            retryable = CASE WHEN status = 'running' THEN TRUE END,
            summary = CASE WHEN status = 'settled' THEN $20 END,
            result_count = CASE WHEN status = 'settled' THEN 1 END,
            status = CASE WHEN status = 'running' THEN 'failed' ELSE 'done' END,
            duration_ms = 0, was_retried = FALSE, finished_at = $4
        WHERE message_id = $13 AND status IN ('running', 'settled') AND EXISTS (SELECT 1 FROM turns
            WHERE id = $2 AND lease_token = $3 AND turns.status = 'running' AND n_events = $5);
    INSERT INTO turn_log (turn_id, position, events) SELECT id, $5, $21 FROM turns
        WHERE id = $2 AND lease_token = $3 AND status = 'running' AND n_events = $5 AND $21 IS NOT NULL;
    UPDATE turns SET status = 'ended', ended_at = $4, n_events = $6,
            input_tokens = $7, output_tokens = $8, cache_read_tokens = $9, cache_write_tokens = $10
        WHERE id = $2 AND lease_token = $3 AND status = 'running' AND n_events = $5 RETURNING id";

impl Store {
    /// Stores the end of a turn and closes its open calls: no row stays open after its turn, so that no effect can follow the
    /// end. A second attempt is accepted, because the reply to the first may have been lost.
    pub async fn end_turn(&self, end: &TurnEnd<'_>) -> Result<Ended, StoreError> {
        let fenced = |sql| statement(sql, Mutant::EndUnfenced, "lease_token = $3", "lease_token >= $3");
        let query = self.write_together(fenced(END_SQLITE), fenced(in_planted_order()));
        let query = bind_answer(bind_turn(query, end, self.clock.now()), end);
        let interrupted = Json(Failure::interrupted());
        let ended: Vec<(Uuid,)> = query.bind(interrupted).bind(DONE).bind(end.events.as_deref()).fetch_all().await?;
        if ended.is_empty() {
            return self.state(end).await;
        }
        self.notices.notify_events(end.started.turn);
        Ok(Ended::Stored)
    }

    /// The token of an ended turn is that of the node that ended it.
    async fn state(&self, end: &TurnEnd<'_>) -> Result<Ended, StoreError> {
        const SQL: &str = "SELECT lease_token, n_events, status FROM turns WHERE id = $1";
        let row: Option<(i64, i64, String)> = self.read(SQL).bind(end.started.turn.0).fetch_optional().await?;
        Ok(match row {
            Some((token, _, status)) if token == end.token && status == "ended" => Ended::Stored,
            Some((token, n_events, _)) if token == end.token => Ended::Holds(n_events),
            Some(_) | None => Ended::Lost,
        })
    }
}

/// A planted bug: the turn is locked before the conversation. The pause is as long as a reply that the second of two statements
/// waits for.
fn in_planted_order() -> &'static str {
    let unlocked = statement(END_POSTGRES, Mutant::LockOrder, "FOR NO KEY UPDATE", "");
    let (at_once, later) = ("FROM ended WHERE conv", "FROM ended, (SELECT pg_sleep(0.002)) AS pause WHERE conv");
    statement(unlocked, Mutant::LockOrder, at_once, later)
}

/// $1 to $10.
fn bind_turn<'c>(query: Query<'c>, end: &TurnEnd<'_>, at: DateTime<Utc>) -> Query<'c> {
    let tokens = |count: fn(&Usage) -> u64| end.usage.as_ref().and_then(|usage| i64::try_from(count(usage)).ok());
    query
        .bind(end.started.conversation.0)
        .bind(end.started.turn.0)
        .bind(end.token)
        .bind(at)
        .bind(end.n_saved)
        .bind(end.n_events)
        .bind(tokens(|usage| usage.input_tokens))
        .bind(tokens(|usage| usage.output_tokens))
        .bind(tokens(|usage| usage.cache_read_tokens))
        .bind(tokens(|usage| usage.cache_write_tokens))
}

/// $11 to $18.
fn bind_answer<'c>(query: Query<'c>, end: &TurnEnd<'_>) -> Query<'c> {
    query
        .bind((!end.text.is_empty()).then(|| beginning_of(end.text, PREVIEW_CHARS)))
        .bind(end.title)
        .bind(end.started.message.0)
        .bind(Json(end.content))
        .bind(end.status.as_str())
        .bind(end.usage.map(|usage| Json(Spent { usage, cost_usd: end.cost_usd })))
        .bind(end.error.as_ref().map(Json))
        .bind(end.text.to_lowercase())
}

//! How a turn ends: answer, last events and tokens in one transaction, by the node that holds its lease.

use chrono::{DateTime, Utc};
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    Store, StoreError, TurnEnd,
    db::Tx,
    limits,
    turns::{INSERT_EVENTS, PREVIEW_CHARS, beginning_of},
};

impl Store {
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

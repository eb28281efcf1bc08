//! The journal of tool calls: a row before a tool runs, its outcome after, one truth about what happened.

use std::sync::Arc;

use engine::{Call, CallId, Done, Failure, MessageId, Outcome};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, db::Tx, now};

/// What the journal says of a call. `effect` is what a writing tool returned, committed together with its effect.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    Effect(Value),
    Done(Done),
    Failed(Failure),
}

const CLAIM: &str = "UPDATE tool_calls SET status = 'settled' WHERE id = $1 AND status = 'running' RETURNING id";
const RECORD_EFFECT: &str = "UPDATE tool_calls SET result = $2 WHERE id = $1";
const SETTLED: &str = "SELECT result FROM tool_calls WHERE id = $1";

/// Performs `effect` and settles the journal row of `call` in the same transaction. The row is claimed first, which
/// also locks it: a second attempt at the same call waits, finds it settled, and returns what the first one returned.
pub(crate) async fn settle<T, F>(tx: &mut Tx, call: Option<CallId>, effect: F) -> Result<T, StoreError>
where
    T: Serialize + DeserializeOwned,
    F: AsyncFnOnce(&mut Tx) -> Result<T, StoreError>,
{
    let Some(call) = call else { return effect(tx).await };
    let claimed: Option<(Uuid,)> = tx.query(CLAIM).bind(call.0).fetch_optional().await?;
    if claimed.is_none() {
        let row: Option<(Option<Json<Settled>>,)> = tx.query(SETTLED).bind(call.0).fetch_optional().await?;
        return earlier_effect(row.and_then(|row| row.0));
    }
    let output = effect(tx).await?;
    let recorded = Json(Settled::effect(&output)?);
    tx.query(RECORD_EFFECT).bind(call.0).bind(recorded).execute().await?;
    Ok(output)
}

impl Settled {
    pub(crate) fn effect(output: &impl Serialize) -> Result<Self, StoreError> {
        serde_json::to_value(output).map(Settled::Effect).map_err(|error| sqlx::Error::Encode(error.into()).into())
    }

    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done(done) => Settled::Done(Done::clone(done)),
            Outcome::Failed(failure) => Settled::Failed(failure.clone()),
        }
    }

    /// What was committed, as an outcome. An effect whose tool was cut off afterwards is done all the same.
    pub fn into_outcome(self) -> Outcome {
        match self {
            Settled::Done(done) => Outcome::Done(Arc::new(done)),
            Settled::Failed(failure) => Outcome::Failed(failure),
            Settled::Effect(mut output) => {
                if let Value::Object(fields) = &mut output {
                    fields.insert("summary".into(), "Done".into());
                    fields.insert("durationMs".into(), 0.into());
                }
                let (timings, was_retried) = (Default::default(), false);
                Outcome::Done(Arc::new(Done {
                    summary: "Done".into(),
                    count: 1,
                    duration_ms: 0,
                    output,
                    timings,
                    was_retried,
                }))
            }
        }
    }
}

/// What the first attempt at a call answered, for a second one.
fn earlier_effect<T: DeserializeOwned>(row: Option<Json<Settled>>) -> Result<T, StoreError> {
    match row {
        Some(Json(Settled::Effect(output))) => {
            serde_json::from_value(output).map_err(|error| sqlx::Error::Decode(error.into()).into())
        }
        _ => Err(StoreError::Conflict("this call is already closed")),
    }
}

/// A row of the journal, for exports and recovery.
#[derive(Debug, Clone)]
pub struct JournalRow {
    pub id: CallId,
    pub settled: Option<Settled>,
}

impl Store {
    pub async fn begin_call(&self, call: &Call) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO tool_calls (id, message_id, user_id, tool_name, parameters, status, created_at)
            VALUES ($1, $2, $3, $4, $5, 'running', $6) ON CONFLICT (id) DO NOTHING";
        self.write(SQL)
            .bind(call.id.0)
            .bind(call.message.map(|message| message.0))
            .bind(call.owner.as_str())
            .bind(&call.name)
            .bind(Json(&*call.input))
            .bind(now())
            .execute()
            .await?;
        Ok(())
    }

    /// Settles a call whose whole effect is its output. Returns the output that counts: that of the first attempt.
    pub async fn settle_call(&self, call: CallId, output: Value) -> Result<Value, StoreError> {
        let mut tx = self.begin().await?;
        let output = settle(&mut tx, Some(call), async |_| Ok(output)).await?;
        tx.commit().await?;
        Ok(output)
    }

    /// Closes a row. What is committed already wins over an outcome that only says the call was cut off.
    pub async fn finish_call(&self, call: CallId, outcome: Outcome) -> Result<Outcome, StoreError> {
        const SQL: &str = "UPDATE tool_calls SET status = $2, result = $3, finished_at = $4
            WHERE id = $1 AND (status = 'running' OR (status = 'settled' AND $2 = 'done')) RETURNING id";
        let status = match &outcome {
            Outcome::Done(_) => "done",
            Outcome::Failed(_) => "failed",
        };
        let closed: Option<(Uuid,)> = self
            .write(SQL)
            .bind(call.0)
            .bind(status)
            .bind(Json(Settled::of(&outcome)))
            .bind(now())
            .fetch_optional()
            .await?;
        if closed.is_some() {
            return Ok(outcome);
        }
        let row: Option<(Option<Json<Settled>>,)> = self.read(SETTLED).bind(call.0).fetch_optional().await?;
        Ok(row.and_then(|row| row.0).map_or(outcome, |Json(settled)| settled.into_outcome()))
    }

    pub async fn calls_of(&self, message: MessageId) -> Result<Vec<JournalRow>, StoreError> {
        const SQL: &str = "SELECT id, result FROM tool_calls WHERE message_id = $1";
        let rows: Vec<(Uuid, Option<Json<Settled>>)> = self.read(SQL).bind(message.0).fetch_all().await?;
        Ok(rows
            .into_iter()
            .map(|(id, result)| JournalRow { id: CallId(id), settled: result.map(|json| json.0) })
            .collect())
    }
}

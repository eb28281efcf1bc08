//! The journal of tool calls: a row before a tool runs, and its outcome after it.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use engine::{
    Call, CallId, Cause, Done, Failure, MessageId, Outcome, Recorded,
    mutants::{Mutant, planted, statement},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, db::Tx};

/// The lease token of calls without a turn.
pub const NO_TURN: i64 = 0;

/// The lease tokens under which this process has begun its calls. An effect commits only under the same token.
#[derive(Default)]
pub(super) struct CallLeases(Mutex<HashMap<CallId, i64>>);

impl CallLeases {
    pub(super) fn hold(&self, call: CallId, token: i64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call, token);
    }

    pub(super) fn of(&self, call: CallId) -> i64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&call).copied().unwrap_or(NO_TURN)
    }

    /// Only the lease under which the call was closed: this node may have taken the turn over meanwhile, and begun the
    /// call again under the next one.
    fn release(&self, call: CallId, token: i64) {
        let mut leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if leases.get(&call) == Some(&token) {
            leases.remove(&call);
        }
    }
}

/// Also checks the turn: a node that was paused before it opened the row has the token of the row, but not of the turn.
const CLAIM: &str = "UPDATE tool_calls SET status = 'settled'
    WHERE id = $1 AND status = 'running' AND lease_token = $2
      AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.message_id = tool_calls.message_id
        AND NOT (turns.lease_token = $2 AND turns.status = 'running')) RETURNING id";
const RECORD_EFFECT: &str = "UPDATE tool_calls SET result = $2 WHERE id = $1";

/// A journal row as it is read.
struct Row {
    id: Uuid,
    status: String,
    result: Option<Json<Value>>,
    summary: Option<String>,
    result_count: Option<i64>,
    duration_ms: Option<i64>,
    retryable: Option<bool>,
    was_retried: Option<bool>,
}
from_row!(Row { id, status, result, summary, result_count, duration_ms, retryable, was_retried });

const ROW: &str = "SELECT id, status, result, summary, result_count, duration_ms, retryable, was_retried
    FROM tool_calls WHERE id = $1";
const ROWS: &str = "SELECT id, status, result, summary, result_count, duration_ms, retryable, was_retried
    FROM tool_calls WHERE message_id = $1
        AND NOT (status = 'running' AND EXISTS (SELECT 1 FROM consents WHERE call_id = tool_calls.id))";

/// A call in the journal, for exports and takeovers.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalRow {
    pub id: CallId,
    pub recorded: Recorded,
}

impl Row {
    fn recorded(self) -> Recorded {
        let output = self.result.map(|json| json.0).unwrap_or_default();
        match self.status.as_str() {
            "running" => Recorded::Begun,
            "settled" => Recorded::Effect(outcome_of_effect(output)),
            "done" => Recorded::Closed(Outcome::Done(Arc::new(Done {
                summary: self.summary.unwrap_or_default(),
                count: self.result_count.and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
                duration_ms: self.duration_ms.unwrap_or(0).unsigned_abs(),
                output: Arc::new(output),
                timings: Default::default(),
                was_retried: self.was_retried.unwrap_or(false),
            }))),
            _ => Recorded::Closed(Outcome::Failed(Failure {
                error: output.get("error").and_then(Value::as_str).unwrap_or("failed").to_owned(),
                retryable: self.retryable.unwrap_or(false),
                was_retried: self.was_retried.unwrap_or(false),
                duration_ms: self.duration_ms.unwrap_or(0).unsigned_abs(),
                consent_id: output.get("consentId").and_then(Value::as_str).and_then(|id| id.parse().ok()),
                cause: Cause::Unknown,
            })),
        }
    }
}

/// The committed effect as an outcome. An effect counts as done even if the tool was interrupted after it.
pub(super) fn outcome_of_effect(mut output: Value) -> Outcome {
    if let Value::Object(fields) = &mut output {
        fields.insert("summary".into(), DONE.into());
        fields.insert("durationMs".into(), 0.into());
    }
    let (timings, was_retried) = (Default::default(), false);
    let output = Arc::new(output);
    Outcome::Done(Arc::new(Done { summary: DONE.into(), count: 1, duration_ms: 0, output, timings, was_retried }))
}

pub(super) const DONE: &str = "Done";

/// The columns of an outcome.
struct Columns<'a> {
    status: &'static str,
    result: Cow<'a, Value>,
    summary: Option<&'a str>,
    count: Option<i64>,
    duration_ms: i64,
    retryable: Option<bool>,
    was_retried: bool,
}

impl<'a> Columns<'a> {
    fn of(outcome: &'a Outcome) -> Self {
        match outcome {
            Outcome::Done(done) => Self {
                status: "done",
                result: Cow::Borrowed(&*done.output),
                summary: Some(&done.summary),
                count: i64::try_from(done.count).ok(),
                duration_ms: i64::try_from(done.duration_ms).unwrap_or(i64::MAX),
                retryable: None,
                was_retried: done.was_retried,
            },
            Outcome::Failed(failure) => Self {
                status: "failed",
                result: Cow::Owned(serde_json::to_value(failure).expect("a failure is plain data")),
                summary: None,
                count: None,
                duration_ms: i64::try_from(failure.duration_ms).unwrap_or(i64::MAX),
                retryable: Some(failure.retryable),
                was_retried: failure.was_retried,
            },
        }
    }
}

impl Store {
    /// Performs `effect` and settles the journal row of `call` in the same transaction. The row is claimed first, which
    /// also locks it: a second attempt at the same call waits, finds the row settled, and returns the output of the
    /// first. A row cannot be claimed if this node no longer holds its lease.
    pub(super) async fn settle<T, E, F>(&self, tx: &mut Tx, call: Option<CallId>, effect: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<StoreError>,
        F: AsyncFnOnce(&mut Tx) -> Result<T, E>,
    {
        let call = call.filter(|_| !planted(Mutant::EffectWithoutJournal));
        let Some(call) = call else { return effect(tx).await };
        settle_under(tx, call, self.call_leases.of(call), effect).await
    }

    /// Opens a row, or takes over a row that another node has opened. False if this node does not hold the lease of the
    /// turn: the call must not be made, because only effects in this database are fenced again.
    pub async fn begin_call(&self, call: &Call, title: &str, token: i64) -> Result<bool, StoreError> {
        const SQL: &str =
            "INSERT INTO tool_calls (id, message_id, user_id, tool_name, title, parameters, status, lease_token, created_at)
             SELECT $1, $2, $3, $4, $5, $6, 'running', $7, $8
             WHERE NOT EXISTS (SELECT 1 FROM turns WHERE message_id = $2 AND NOT (lease_token = $7 AND status = 'running'))
             ON CONFLICT (id) DO NOTHING RETURNING id";
        self.call_leases.hold(call.id, token);
        let begun: Option<(Uuid,)> = self
            .write(SQL)
            .bind(call.id.0)
            .bind(call.message.map(|message| message.0))
            .bind(call.owner.as_str())
            .bind(&call.name)
            .bind(title)
            .bind(Json(&*call.input))
            .bind(token)
            .bind(self.clock.now())
            .fetch_optional()
            .await?;
        match (begun, call.message) {
            (None, Some(message)) => self.holds_turn_of(message, token).await,
            _ => Ok(true),
        }
    }

    /// Whether the turn of an answer, if it has one, runs under this token.
    async fn holds_turn_of(&self, answer: MessageId, token: i64) -> Result<bool, StoreError> {
        const SQL: &str =
            "SELECT id FROM turns WHERE message_id = $1 AND NOT (lease_token = $2 AND status = 'running')";
        let lost: Option<(Uuid,)> = self.read(SQL).bind(answer.0).bind(token).fetch_optional().await?;
        Ok(lost.is_none())
    }

    /// Stores a call that was refused before it ran, unless another node has the turn.
    pub async fn refuse_call(&self, call: &Call, title: &str, failure: &Failure, token: i64) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO tool_calls
                (id, message_id, user_id, tool_name, title, parameters, status, result, duration_ms, retryable,
                 was_retried, created_at, finished_at)
             SELECT $1, $2, $3, $4, $5, $6, 'refused', $7, $8, $9, $10, $11, $11
             WHERE NOT EXISTS (SELECT 1 FROM turns WHERE message_id = $2 AND NOT (lease_token = $12 AND status = 'running'))
             ON CONFLICT (id) DO NOTHING";
        self.write(SQL)
            .bind(call.id.0)
            .bind(call.message.map(|message| message.0))
            .bind(call.owner.as_str())
            .bind(&call.name)
            .bind(title)
            .bind(Json(&*call.input))
            .bind(Json(failure))
            .bind(i64::try_from(failure.duration_ms).unwrap_or(i64::MAX))
            .bind(failure.retryable)
            .bind(failure.was_retried)
            .bind(self.clock.now())
            .bind(token)
            .execute()
            .await?;
        Ok(())
    }

    /// Settles a call whose only effect is its output. Returns the output of the first attempt.
    pub async fn settle_call(&self, call: CallId, token: i64, output: Value) -> Result<Value, StoreError> {
        let mut tx = self.begin().await?;
        let output = settle_under(&mut tx, call, token, async |_| Ok::<_, StoreError>(output)).await?;
        tx.commit().await?;
        Ok(output)
    }

    /// Closes a row. A committed effect takes precedence over an outcome that says the call was interrupted.
    pub async fn finish_call(&self, call: CallId, token: i64, outcome: Outcome) -> Result<Outcome, StoreError> {
        let row = match self.close_call(call, token, &outcome).await? {
            true => None,
            false => self.read(ROW).bind(call.0).fetch_optional::<Row>().await?,
        };
        let outcome = match row.map(Row::recorded) {
            Some(Recorded::Effect(effect)) => {
                // The row then contains what the event of the call says.
                self.close_call(call, token, &effect).await?;
                effect
            }
            Some(Recorded::Closed(recorded)) => recorded,
            Some(Recorded::Begun) | None => outcome,
        };
        self.call_leases.release(call, token);
        Ok(outcome)
    }

    /// False if the row is closed, belongs to another lease, or is settled and `outcome` is a failure.
    async fn close_call(&self, call: CallId, token: i64, outcome: &Outcome) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE tool_calls SET status = $2, result = $3, summary = $4, result_count = $5,
                duration_ms = $6, retryable = $7, was_retried = $8, finished_at = $9
            WHERE id = $1 AND lease_token = $10
              AND (status = 'running' OR (status = 'settled' AND $2 = 'done')) RETURNING id";
        let columns = Columns::of(outcome);
        let closed: Option<(Uuid,)> = self
            .write(statement(SQL, Mutant::FinishUnfenced, "lease_token = $10", "lease_token >= $10"))
            .bind(call.0)
            .bind(columns.status)
            .bind(Json(&columns.result))
            .bind(columns.summary)
            .bind(columns.count)
            .bind(columns.duration_ms)
            .bind(columns.retryable)
            .bind(columns.was_retried)
            .bind(self.clock.now())
            .bind(token)
            .fetch_optional()
            .await?;
        Ok(closed.is_some())
    }

    /// The output of a call that is closed and did not fail.
    pub async fn output_of(&self, call: CallId) -> Result<Option<Value>, StoreError> {
        const SQL: &str = "SELECT result FROM tool_calls WHERE id = $1 AND status = 'done'";
        let row: Option<(Option<Json<Value>>,)> = self.read(SQL).bind(call.0).fetch_optional().await?;
        Ok(row.and_then(|(result,)| result).map(|json| json.0))
    }

    /// The calls of an answer. A call that waits for consent has not run and is left out, so that a node that takes the
    /// turn over asks for the same consent again.
    pub async fn calls_of(&self, message: MessageId) -> Result<Vec<JournalRow>, StoreError> {
        let rows: Vec<Row> = self.read(ROWS).bind(message.0).fetch_all().await?;
        Ok(rows.into_iter().map(|row| JournalRow { id: CallId(row.id), recorded: row.recorded() }).collect())
    }
}

async fn settle_under<T, E, F>(tx: &mut Tx, call: CallId, token: i64, effect: F) -> Result<T, E>
where
    T: Serialize + DeserializeOwned,
    E: From<StoreError>,
    F: AsyncFnOnce(&mut Tx) -> Result<T, E>,
{
    let claim = statement(CLAIM, Mutant::SettleUnfenced, "lease_token = $2", "lease_token >= $2 AND $2 >= 0");
    let claim = tx.query(claim).bind(call.0).bind(token);
    let claimed: Option<(Uuid,)> = claim.fetch_optional().await.map_err(StoreError::from)?;
    if claimed.is_none() {
        let row = tx.query(ROW).bind(call.0).fetch_optional::<Row>().await.map_err(StoreError::from)?;
        return Ok(earlier_effect(row)?);
    }
    let output = effect(tx).await?;
    let recorded =
        serde_json::to_value(&output).map_err(|error| StoreError::from(sqlx::Error::Encode(error.into())))?;
    tx.query(RECORD_EFFECT).bind(call.0).bind(Json(recorded)).execute().await.map_err(StoreError::from)?;
    Ok(output)
}

/// The output of the first attempt at a call, for a second one.
fn earlier_effect<T: DeserializeOwned>(row: Option<Row>) -> Result<T, StoreError> {
    match row {
        Some(Row { status, result: Some(Json(output)), .. }) if status == "settled" => {
            serde_json::from_value(output).map_err(|error| sqlx::Error::Decode(error.into()).into())
        }
        _ => Err(StoreError::Conflict("this call is already closed")),
    }
}

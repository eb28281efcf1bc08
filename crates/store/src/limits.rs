//! Rate limits per user. They are counted in the database, so that they apply across all nodes.

use chrono::{DateTime, TimeDelta, Utc};
use engine::UserId;

use super::{Store, StoreError, db::Tx, locks::lock_user, spending::used_up};

/// 0 = no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnLimits {
    pub per_minute: u32,
    pub at_once: u32,
    pub tokens_per_day: u64,
}

/// A request over the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Limited {
    /// The message for the user.
    pub message: String,
    pub retry_after_seconds: u64,
}

/// How many direct tool calls count as one turn. A turn makes about as many.
const CALLS_PER_TURN: i64 = 10;
/// The end of a running turn cannot be predicted, so a fixed delay is returned.
const TRY_AGAIN_SECONDS: u64 = 5;

pub(crate) const MINUTE: TimeDelta = TimeDelta::minutes(1);

const COUNT: &str = "SELECT
    (SELECT COUNT(*) FROM turns WHERE user_id = $1 AND status = 'running') AS n_running,
    (SELECT COUNT(*) FROM rate_events WHERE user_id = $1 AND kind = 'turn' AND at > $2) AS n_recent,
    (SELECT MIN(at) FROM rate_events WHERE user_id = $1 AND kind = 'turn' AND at > $2) AS oldest_recent,
    (SELECT tokens FROM token_days WHERE user_id = $1 AND day = $3) AS tokens_today";

const FORGET_EVENTS: &str = "DELETE FROM rate_events WHERE user_id = $1 AND at <= $2";
const ADD_EVENT: &str = "INSERT INTO rate_events (user_id, kind, at) VALUES ($1, $2, $3)";

/// A user's running turns and recent messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) n_running: i64,
    pub(crate) n_recent: i64,
    pub(crate) oldest_recent: Option<DateTime<Utc>>,
    pub(crate) tokens_today: Option<i64>,
}
from_row!(Counts { n_running, n_recent, oldest_recent, tokens_today });

impl TurnLimits {
    pub(crate) fn are_set(&self) -> bool {
        self.per_minute > 0 || self.at_once > 0 || self.tokens_per_day > 0
    }

    /// Why another turn must wait; `None` if it may start.
    pub(crate) fn exceeded_by(&self, counts: &Counts, at: DateTime<Utc>) -> Option<Limited> {
        if self.tokens_per_day > 0 && counts.tokens_today.unwrap_or(0).unsigned_abs() >= self.tokens_per_day {
            let message = used_up(self.tokens_per_day);
            return Some(Limited { message, retry_after_seconds: seconds_to_midnight(at) });
        }
        if self.at_once > 0 && counts.n_running >= i64::from(self.at_once) {
            let message =
                format!("{} answers are running already. Wait for one to end, or stop one.", counts.n_running);
            return Some(Limited { message, retry_after_seconds: TRY_AGAIN_SECONDS });
        }
        if self.per_minute > 0 && counts.n_recent >= i64::from(self.per_minute) {
            let message = format!("More than {} messages a minute. Please wait a moment.", self.per_minute);
            let frees_at = counts.oldest_recent.unwrap_or(at) + MINUTE;
            return Some(Limited { message, retry_after_seconds: whole_seconds(frees_at - at) });
        }
        None
    }

    fn exceeded_by_calls(&self, n_calls: i64) -> Option<Limited> {
        let most = i64::from(self.per_minute) * CALLS_PER_TURN;
        if self.per_minute == 0 || n_calls < most {
            return None;
        }
        let message = format!("More than {most} tool calls a minute. Please wait a moment.");
        Some(Limited { message, retry_after_seconds: TRY_AGAIN_SECONDS })
    }
}

/// Why another turn of this user must wait; `None` if it may start. Blocks other starts of the same user until the
/// transaction ends, so that two concurrent starts cannot both be the last one allowed. SQLite has one writer, so the
/// transaction itself is the lock.
pub(crate) async fn exceeded(
    tx: &mut Tx,
    owner: &UserId,
    limits: TurnLimits,
    at: DateTime<Utc>,
) -> Result<Option<Limited>, StoreError> {
    if !limits.are_set() {
        return Ok(None);
    }
    lock_user(tx, owner.as_str()).await?;
    let counts: Counts = tx.query(COUNT).bind(owner.as_str()).bind(at - MINUTE).bind(day_of(at)).fetch_one().await?;
    let limited = limits.exceeded_by(&counts, at);
    if limited.is_none() && limits.per_minute > 0 {
        count_event(tx, owner, "turn", at).await?;
    }
    Ok(limited)
}

async fn count_event(tx: &mut Tx, owner: &UserId, kind: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
    tx.query(FORGET_EVENTS).bind(owner.as_str()).bind(at - MINUTE).execute().await?;
    tx.query(ADD_EVENT).bind(owner.as_str()).bind(kind).bind(at).execute().await?;
    Ok(())
}

impl Store {
    /// The same check without a transaction, so that a user over a limit does not block the writer. `exceeded` counts a
    /// turn that passes this check.
    pub(crate) async fn is_over(&self, owner: &UserId, limits: TurnLimits) -> Result<Option<Limited>, StoreError> {
        if !limits.are_set() {
            return Ok(None);
        }
        let at = self.clock.now();
        let query = self.read(COUNT).bind(owner.as_str()).bind(at - MINUTE).bind(day_of(at));
        Ok(limits.exceeded_by(&query.fetch_one::<Counts>().await?, at))
    }

    /// Counts a direct tool call, or returns why it must wait. Concurrent calls are counted one after the other.
    pub async fn count_call(&self, owner: &UserId, limits: TurnLimits) -> Result<Option<Limited>, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM rate_events WHERE user_id = $1 AND kind = 'call' AND at > $2";
        if limits.per_minute == 0 {
            return Ok(None);
        }
        let at = self.clock.now();
        let (n_calls,): (i64,) = self.read(SQL).bind(owner.as_str()).bind(at - MINUTE).fetch_one().await?;
        if let Some(limited) = limits.exceeded_by_calls(n_calls) {
            return Ok(Some(limited));
        }
        let mut tx = self.begin().await?;
        lock_user(&mut tx, owner.as_str()).await?;
        let (n_calls,): (i64,) = tx.query(SQL).bind(owner.as_str()).bind(at - MINUTE).fetch_one().await?;
        if let Some(limited) = limits.exceeded_by_calls(n_calls) {
            return Ok(Some(limited));
        }
        count_event(&mut tx, owner, "call", at).await?;
        tx.commit().await?;
        Ok(None)
    }
}

pub(crate) fn day_of(at: DateTime<Utc>) -> i64 {
    at.timestamp().div_euclid(24 * 60 * 60)
}

pub(crate) fn seconds_to_midnight(at: DateTime<Utc>) -> u64 {
    let day = 24 * 60 * 60;
    (day - at.timestamp().rem_euclid(day)).unsigned_abs()
}

/// Rounded up, so that a client that waits this many seconds is not too early.
fn whole_seconds(time: TimeDelta) -> u64 {
    time.num_milliseconds().max(1).unsigned_abs().div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_at_its_number_and_returns_when_to_retry() {
        let at: DateTime<Utc> = "2026-03-01T23:59:00Z".parse().unwrap();
        let limits = TurnLimits { per_minute: 20, at_once: 3, tokens_per_day: 1000 };
        let counts = |n_running, n_recent, tokens| Counts {
            n_running,
            n_recent,
            oldest_recent: Some(at - TimeDelta::milliseconds(47_500)),
            tokens_today: Some(tokens),
        };
        let cases = [
            (limits, counts(0, 0, 0), None),
            (limits, counts(2, 19, 999), None),
            (limits, counts(3, 0, 0), Some(5)),
            (limits, counts(0, 20, 0), Some(13)),
            (limits, counts(0, 0, 1000), Some(60)),
            (TurnLimits::default(), counts(99, 99, i64::MAX), None),
        ];
        for (limits, counts, expected) in cases {
            let limited = limits.exceeded_by(&counts, at);
            assert_eq!(limited.map(|limited| limited.retry_after_seconds), expected, "{counts:?}");
        }
    }
}

//! Leases: a turn belongs to the node that renews its lease. When a lease expires, another node takes the turn over
//! with a new token; the node with the old token can no longer store anything.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use engine::{
    TurnId,
    mutants::{Mutant, planted},
};
use uuid::Uuid;

use super::{Store, StoreError, db::Db, writer::in_one_transaction};

/// A node that has not renewed its leases for this long is considered dead.
pub const TURN_LEASE: TimeDelta = TimeDelta::seconds(10);
/// The token of a turn that was never taken over.
pub const FIRST_TOKEN: i64 = 1;

/// A running turn whose lease has expired.
#[derive(Debug, Clone)]
pub struct DeadTurn {
    pub id: Uuid,
    pub conversation_id: Uuid,
    pub message_id: Uuid,
    pub holder: String,
    pub lease_token: i64,
    pub n_takeovers: i64,
    pub n_events: i64,
    pub stop_requested: bool,
    pub created_at: DateTime<Utc>,
    pub user_id: String,
    pub agent: String,
}
from_row!(DeadTurn {
    id,
    conversation_id,
    message_id,
    holder,
    lease_token,
    n_takeovers,
    n_events,
    stop_requested,
    created_at,
    user_id,
    agent
});

/// What a node does with a turn that it takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// Continues the turn; these takeovers are counted.
    Continue,
    /// Closes the turn as interrupted.
    Close,
}

/// The database's time. Lease expiry uses it, so node clocks may be skewed or jump.
pub(crate) struct Clock(Mutex<(DateTime<Utc>, Instant)>);

/// The time of this node, with the precision of both databases. Used only if the database has no clock, and before the
/// database was asked for its time.
fn now() -> DateTime<Utc> {
    Utc::now().trunc_subsecs(6)
}

impl Default for Clock {
    fn default() -> Self {
        Self(Mutex::new((now(), Instant::now())))
    }
}

impl Clock {
    pub fn now(&self) -> DateTime<Utc> {
        let (told, at) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = TimeDelta::from_std(at.elapsed()).unwrap_or_default();
        (told + passed).trunc_subsecs(6)
    }

    fn set(&self, told: DateTime<Utc>, at: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (told, at);
    }
}

const RENEW: &str =
    "UPDATE turns SET lease_until = $3 WHERE id = $1 AND lease_token = $2 AND status = 'running' RETURNING id";
const RENEW_ALL: &str = "WITH held AS (
        SELECT turns.id FROM turns JOIN UNNEST($1::uuid[], $2::bigint[]) AS h (turn_id, token) ON turn_id = turns.id
        WHERE lease_token = token AND status = 'running' FOR UPDATE OF turns SKIP LOCKED
    )
    UPDATE turns SET lease_until = $3 FROM held WHERE turns.id = held.id RETURNING turns.id";

impl Store {
    /// Moves the lease clock, so that a test need not wait until a lease expires.
    #[cfg(feature = "test-util")]
    pub fn advance_clock(&self, by: TimeDelta) {
        self.clock.set(self.clock.now() + by, Instant::now());
    }

    /// The database's time.
    pub fn time(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Reads the time from the database. SQLite has no clock, so the node's clock is used.
    pub async fn set_clock(&self) -> Result<(), StoreError> {
        let asked = Instant::now();
        let told = match &self.db {
            Db::Sqlite { .. } => now(),
            Db::Postgres { pool, .. } => {
                let mut lent = pool.lend().await?;
                let (told,) = sqlx::query_as("SELECT clock_timestamp()").fetch_one(&mut *lent).await?;
                lent.give_back();
                told
            }
        };
        self.clock.set(told, asked);
        Ok(())
    }

    /// The duration of a lease; tests shorten it.
    pub fn lease(&self) -> TimeDelta {
        self.lease
    }

    #[must_use]
    pub fn with_lease(mut self, lease: TimeDelta) -> Self {
        self.lease = lease;
        self
    }

    /// Renews the leases of the turns that run on this node, each with its token. Returns the lost ones: the turn has
    /// ended, or another node holds it.
    pub async fn renew_leases(&self, held: &[(TurnId, i64)]) -> Result<Vec<TurnId>, StoreError> {
        if held.is_empty() || planted(Mutant::LeaseNotRenewed) {
            return Ok(Vec::new());
        }
        let until = self.clock.now() + self.lease;
        let renewed: HashSet<_> = self.renew_together(held, until).await?.into_iter().collect();
        let mut lost = Vec::new();
        for (turn, token) in held.iter().filter(|(turn, _)| !renewed.contains(&turn.0)) {
            let query = self.write(RENEW).bind(turn.0).bind(*token).bind(until);
            if query.fetch_optional::<(Uuid,)>().await?.is_none() {
                lost.push(*turn);
            }
        }
        Ok(lost)
    }

    /// Renews leases in one commit and returns those turns. One that another statement is writing at this moment is left out:
    /// no turn makes the others wait.
    async fn renew_together(&self, held: &[(TurnId, i64)], until: DateTime<Utc>) -> Result<Vec<Uuid>, StoreError> {
        #[cfg(debug_assertions)]
        crate::failpoint::reached();
        match &self.db {
            Db::Sqlite { write, .. } => {
                let mut lent = write.lend().await?.closes_unless_given_back();
                let mut renewed = Vec::new();
                for (at, (turn, token)) in held.iter().enumerate() {
                    let query = sqlx::query_as(in_one_transaction(RENEW, at, held.len()));
                    let rows: Vec<(Uuid,)> = query.bind(turn.0).bind(*token).bind(until).fetch_all(&mut *lent).await?;
                    renewed.extend(rows.into_iter().map(|(id,)| id));
                }
                lent.give_back();
                write.flush().await?;
                Ok(renewed)
            }
            Db::Postgres { pool, .. } => {
                let mut lent = pool.lend().await?;
                let rows: Vec<(Uuid,)> = sqlx::query_as(RENEW_ALL)
                    .bind(held.iter().map(|(turn, _)| turn.0).collect::<Vec<_>>())
                    .bind(held.iter().map(|(_, token)| *token).collect::<Vec<_>>())
                    .bind(until)
                    .fetch_all(&mut *lent)
                    .await?;
                lent.give_back();
                Ok(rows.into_iter().map(|(id,)| id).collect())
            }
        }
    }

    /// Running turns whose lease has expired, or that an earlier process of the node `reborn` left running.
    pub async fn dead_turns(&self, reborn: Option<&str>) -> Result<Vec<DeadTurn>, StoreError> {
        const SQL: &str = "SELECT turns.id, conversation_id, message_id, holder, lease_token, n_takeovers, n_events,
                stop_requested, turns.created_at, turns.user_id, agent
            FROM turns JOIN conversations ON conversations.id = conversation_id
            WHERE status = 'running' AND (lease_until < $1 OR holder = $2) ORDER BY turns.created_at";
        let (at, reborn) = (self.expiry_time(), reborn.unwrap_or_default());
        Ok(self.read(SQL).bind(at).bind(reborn).fetch_all().await?)
    }

    /// Takes over a dead node's turn and returns its new token. Returns `None` if another node was faster, the lease is
    /// valid again, or the turn has saved events since `dead` was read: then its node is alive. Running tool calls get
    /// the new token too, so that the old node can no longer commit their effects.
    pub async fn take_over(&self, dead: &DeadTurn, node: &str, what: Takeover) -> Result<Option<i64>, StoreError> {
        const SQL: &str = "UPDATE turns SET holder = $3, lease_token = lease_token + 1, lease_until = $4,
                n_takeovers = n_takeovers + $6
            WHERE id = $1 AND lease_token = $2 AND status = 'running' AND (lease_until < $5 OR holder = $3)
                AND n_events = $7
            RETURNING lease_token";
        const CALLS: &str = "UPDATE tool_calls SET lease_token = $2 WHERE message_id = $1
            AND status IN ('running', 'settled')";
        let at = self.clock.now();
        let mut tx = self.begin().await?;
        let row: Option<(i64,)> = tx
            .query(SQL)
            .bind(dead.id)
            .bind(dead.lease_token)
            .bind(node)
            .bind(at + self.lease)
            .bind(self.expiry_time())
            .bind(i64::from(what == Takeover::Continue))
            .bind(dead.n_events)
            .fetch_optional()
            .await?;
        let Some((token,)) = row else { return Ok(None) };
        if !planted(Mutant::CallsKeepToken) {
            tx.query(CALLS).bind(dead.message_id).bind(token).execute().await?;
        }
        tx.commit().await?;
        Ok(Some(token))
    }

    /// The time at which expired leases are determined.
    fn expiry_time(&self) -> DateTime<Utc> {
        let early = if planted(Mutant::LeaseIgnored) { TimeDelta::hours(1) } else { TimeDelta::zero() };
        self.clock.now() + early
    }

    /// Ends the lease of a turn that this node cannot finish, so that another node need not wait for its expiry.
    pub async fn release(&self, turn: TurnId, token: i64) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE turns SET lease_until = $3, holder = ''
            WHERE id = $1 AND lease_token = $2 AND status = 'running'";
        let over = self.clock.now() - TimeDelta::milliseconds(1);
        self.write(SQL).bind(turn.0).bind(token).bind(over).execute().await?;
        Ok(())
    }

    /// Releases a turn that was taken over and could not be started. The takeover is not counted.
    pub async fn release_unbegun(&self, turn: TurnId, token: i64) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE turns SET lease_until = $3, holder = '', n_takeovers = n_takeovers - 1
            WHERE id = $1 AND lease_token = $2 AND status = 'running' AND n_takeovers > 0";
        let over = self.clock.now() - TimeDelta::milliseconds(1);
        self.write(SQL).bind(turn.0).bind(token).bind(over).execute().await?;
        Ok(())
    }
}

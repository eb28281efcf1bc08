//! Leases: a turn belongs to the node that renews its lease; when it runs out, any node may close the turn.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use engine::TurnId;
use uuid::Uuid;

use super::{Store, StoreError, db::Db, now};

/// A node that has not renewed its leases for this long is taken for dead.
pub(crate) const LEASE: TimeDelta = TimeDelta::seconds(15);

/// A running turn whose node no longer renews its lease.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct DeadTurn {
    pub id: Uuid,
    pub conversation_id: Uuid,
    pub message_id: Uuid,
    pub node: String,
    pub user_id: String,
    pub agent: String,
}

/// The database's time. Nodes whose own clocks disagree, or jump, agree on it.
pub(super) struct Clock(Mutex<(DateTime<Utc>, Instant)>);

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

impl Store {
    /// Moves the clock that leases go by, so that a test need not wait until one runs out.
    #[cfg(feature = "test-util")]
    pub fn advance_clock(&self, by: TimeDelta) {
        self.clock.set(self.clock.now() + by, Instant::now());
    }

    /// Asks the database what time it is. SQLite has no clock but ours.
    pub async fn set_clock(&self) -> Result<(), StoreError> {
        let asked = Instant::now();
        let told = match &self.db {
            Db::Sqlite { .. } => now(),
            Db::Postgres(pool) => sqlx::query_as::<_, (_,)>("SELECT clock_timestamp()").fetch_one(pool).await?.0,
        };
        self.clock.set(told, asked);
        Ok(())
    }

    /// Renews the leases of the turns that really run here: one whose end could not be stored is left to run out.
    pub async fn renew_leases(&self, node: &str, turns: &[TurnId]) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE turns SET lease_until = $3 WHERE id = $2 AND node = $1 AND status = 'running'";
        if turns.is_empty() {
            return Ok(());
        }
        let until = self.clock.now() + LEASE;
        let mut tx = self.begin().await?;
        for turn in turns {
            tx.query(SQL).bind(node).bind(turn.0).bind(until).execute().await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Running turns whose lease ran out, or that an earlier life of `reborn` left behind.
    pub async fn dead_turns(&self, reborn: Option<&str>) -> Result<Vec<DeadTurn>, StoreError> {
        const SQL: &str = "SELECT turns.id, conversation_id, message_id, node, turns.user_id, agent
            FROM turns JOIN conversations ON conversations.id = conversation_id
            WHERE status = 'running' AND (lease_until < $1 OR node = $2)";
        let (at, reborn) = (self.clock.now(), reborn.unwrap_or_default());
        Ok(self.read(SQL).bind(at).bind(reborn).fetch_all().await?)
    }

    /// Takes a dead node's turn over. False when someone else was faster, or its node lives after all.
    pub async fn take_over(&self, dead: &DeadTurn, node: &str) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE turns SET node = $3, lease_until = $4
            WHERE id = $1 AND node = $2 AND status = 'running' AND (lease_until < $5 OR node = $3) RETURNING id";
        let at = self.clock.now();
        let row: Option<(Uuid,)> = self
            .write(SQL)
            .bind(dead.id)
            .bind(&dead.node)
            .bind(node)
            .bind(at + LEASE)
            .bind(at)
            .fetch_optional()
            .await?;
        Ok(row.is_some())
    }
}

//! Steps that are done again, or gone without: when a source comes and goes, a prompt changes, or someone asks for it.

use std::time::Duration;

use super::{Store, StoreError, in_transaction, now, writing};
use crate::enrich::{Priority, Step};

impl Store {
    /// The source will be away for a while: tracks that wait for it go on without, and come back to it later.
    pub(crate) async fn go_on_without(&self, step: Step, wait: Duration, why: &str) -> Result<(), StoreError> {
        const SETTLE: &str = "UPDATE ingest_steps SET settled_at = $2, due_at = $3, error = $4
            WHERE step = $1 AND state = 'waiting' AND settled_at IS NULL";
        const BEGIN: &str = "UPDATE ingest_steps SET state = 'waiting', due_at = $1 WHERE step = 'describe'
            AND state = 'blocked' AND NOT EXISTS (SELECT 1 FROM ingest_steps e WHERE e.isrc = ingest_steps.isrc
                AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL)";
        in_transaction!(self, |tx| {
            let query = sqlx::query(SETTLE).bind(step.name()).bind(now()).bind(now() + wait).bind(why);
            query.execute(&mut *tx).await?;
            sqlx::query(BEGIN).bind(now()).execute(&mut *tx).await?;
        });
        Ok(())
    }

    /// A source that was off is on: what went without it is done after all.
    pub(crate) async fn switch_on(&self, step: Step) -> Result<u64, StoreError> {
        const SQL: &str =
            "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $2 WHERE step = $1 AND state = 'off'";
        let n_on = writing!(self, |db| sqlx::query(SQL)
            .bind(step.name())
            .bind(now())
            .execute(db)
            .await
            .map(|done| done.rows_affected()))?;
        Ok(n_on)
    }

    /// Descriptions of another version are made again, in the background and after everything else.
    pub(crate) async fn describe_again(&self, version: &str, replaces: &str) -> Result<u64, StoreError> {
        const SQL: &str = "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $3, priority = $4
            WHERE step = 'describe' AND state = 'done' AND version <> $1 AND version LIKE $2";
        let again = writing!(self, |db| sqlx::query(SQL)
            .bind(version)
            .bind(replaces)
            .bind(now())
            .bind(Priority::Again as i32)
            .execute(db)
            .await
            .map(|done| done.rows_affected()))?;
        Ok(again)
    }

    /// Gives steps that failed another chance; answers how many.
    pub async fn retry_failed_steps(&self) -> Result<u64, StoreError> {
        const SQL: &str = "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $1 WHERE state = 'failed'";
        let n_again =
            writing!(self, |db| sqlx::query(SQL).bind(now()).execute(db).await.map(|done| done.rows_affected()))?;
        Ok(n_again)
    }

    /// Asks every source again about every track; what came with a file stays. Old results serve meanwhile.
    pub async fn force_steps(&self) -> Result<u64, StoreError> {
        const ASK: &str = "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $1, settled_at = NULL,
                node = NULL, priority = $2
            WHERE step IN ('lyrics', 'features') AND state <> 'parked' AND COALESCE(version, '') <> 'file'";
        const DESCRIBE: &str = "UPDATE ingest_steps SET state = CASE WHEN EXISTS (SELECT 1 FROM ingest_steps e
                    WHERE e.isrc = ingest_steps.isrc AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL)
                THEN 'blocked' ELSE 'waiting' END, tries = 0, due_at = $1, node = NULL, priority = $2
            WHERE step = 'describe' AND state <> 'parked'";
        let priority = Priority::Again as i32;
        let n_tracks = in_transaction!(self, |tx| {
            sqlx::query(ASK).bind(now()).bind(priority).execute(&mut *tx).await?;
            sqlx::query(DESCRIBE).bind(now()).bind(priority).execute(&mut *tx).await?.rows_affected()
        });
        Ok(n_tracks)
    }
}

//! Steps that are repeated or skipped: when a source is enabled or unavailable, when a prompt changes, or when a user
//! requests it.

use std::time::Duration;

use super::{Priority, Step, Store, StoreError};

impl Store {
    /// The source is unavailable for a while: tracks that wait for it continue without it, and the step is retried
    /// later.
    pub async fn go_on_without(&self, step: Step, wait: Duration, why: &str) -> Result<(), StoreError> {
        const SETTLE: &str = "UPDATE ingest_steps SET settled_at = $2, due_at = $3, error = $4
            WHERE step = $1 AND state = 'waiting' AND settled_at IS NULL";
        const BEGIN: &str = "UPDATE ingest_steps SET state = 'waiting', due_at = $1 WHERE step = 'describe'
            AND state = 'blocked' AND NOT EXISTS (SELECT 1 FROM ingest_steps e WHERE e.document_id = ingest_steps.document_id
                AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL)";
        let mut tx = self.begin().await?;
        let query = tx.query(SETTLE).bind(step.name()).bind_now().bind_in(wait).bind(why);
        query.execute().await?;
        tx.query(BEGIN).bind_now().execute().await?;
        tx.commit().await?;
        Ok(())
    }

    /// A source was enabled: schedules the steps that were skipped while it was disabled.
    pub async fn switch_on(&self, step: Step) -> Result<u64, StoreError> {
        const SQL: &str =
            "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $2 WHERE step = $1 AND state = 'off'";
        let n_on = self.write(SQL).bind(step.name()).bind_now().execute().await?;
        Ok(n_on)
    }

    /// Schedules descriptions of another version again, in the background and with the lowest priority.
    pub async fn describe_again(&self, version: &str, replaces: &str) -> Result<u64, StoreError> {
        const SQL: &str = "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $3, priority = $4
            WHERE step = 'describe' AND state = 'done' AND version <> $1 AND version LIKE $2";
        let again =
            self.write(SQL).bind(version).bind(replaces).bind_now().bind(Priority::Again as i32).execute().await?;
        Ok(again)
    }

    /// Retries steps that failed. Returns how many.
    pub async fn retry_failed_steps(&self) -> Result<u64, StoreError> {
        const SQL: &str = "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $1 WHERE state = 'failed'";
        let n_again = self.write(SQL).bind_now().execute().await?;
        Ok(n_again)
    }

    /// Requests data of every track from every source again. Data of the user's files is kept. The old results are used
    /// until then.
    pub async fn force_steps(&self) -> Result<u64, StoreError> {
        const ASK: &str = "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $1, settled_at = NULL,
                node = NULL, priority = $2
            WHERE step IN ('lyrics', 'features') AND state <> 'parked' AND COALESCE(version, '') <> 'file'";
        const DESCRIBE: &str = "UPDATE ingest_steps SET state = CASE WHEN EXISTS (SELECT 1 FROM ingest_steps e
                    WHERE e.document_id = ingest_steps.document_id AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL)
                THEN 'blocked' ELSE 'waiting' END, tries = 0, due_at = $1, node = NULL, priority = $2
            WHERE step = 'describe' AND state <> 'parked'";
        let priority = Priority::Again as i32;
        let mut tx = self.begin().await?;
        tx.query(ASK).bind_now().bind(priority).execute().await?;
        let n_tracks = tx.query(DESCRIBE).bind_now().bind(priority).execute().await?;
        tx.commit().await?;
        Ok(n_tracks)
    }
}

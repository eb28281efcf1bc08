//! Steps that are repeated or skipped: when a source is enabled or unavailable, when a prompt changes, or when a user
//! requests it.

use std::{sync::LazyLock, time::Duration};

use super::{Priority, Step, Store, StoreError, db::Dialects, locks::update_steps};

impl Store {
    /// The source is unavailable for a while: tracks that wait for it continue without it, and the step is retried
    /// later.
    pub async fn go_on_without(&self, step: Step, wait: Duration, why: &str) -> Result<(), StoreError> {
        // One statement, so that its documents are locked together. The description of a track begins when no other source is
        // waited for.
        static SQL: LazyLock<Dialects> = LazyLock::new(|| {
            update_steps(
                "state = 'waiting', settled_at = CASE state WHEN 'waiting' THEN $2 ELSE settled_at END,
                due_at = CASE state WHEN 'waiting' THEN $3 ELSE $2 END,
                error = CASE state WHEN 'waiting' THEN $4 ELSE error END",
                "((step = $1 AND state = 'waiting' AND settled_at IS NULL) OR (step = 'describe' AND state = 'blocked'
                AND NOT EXISTS (SELECT 1 FROM ingest_steps e WHERE e.document_id = ingest_steps.document_id
                    AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL
                    AND NOT (e.step = $1 AND e.state = 'waiting'))))",
            )
        });
        let query = self.write(self.text_of(&SQL)).bind(step.name()).bind_now().bind_in(wait).bind(why);
        query.execute().await?;
        Ok(())
    }

    /// A source was enabled: schedules the steps that were skipped while it was disabled.
    pub async fn switch_on(&self, step: Step) -> Result<u64, StoreError> {
        static SQL: LazyLock<Dialects> =
            LazyLock::new(|| update_steps("state = 'waiting', tries = 0, due_at = $2", "step = $1 AND state = 'off'"));
        let n_on = self.write(self.text_of(&SQL)).bind(step.name()).bind_now().execute().await?;
        Ok(n_on)
    }

    /// Schedules descriptions of another version again, in the background and with the lowest priority.
    pub async fn describe_again(&self, version: &str, replaces: &str) -> Result<u64, StoreError> {
        static SQL: LazyLock<Dialects> = LazyLock::new(|| {
            update_steps(
                "state = 'waiting', tries = 0, due_at = $3, priority = $4",
                "step = 'describe' AND state = 'done' AND version <> $1 AND version LIKE $2",
            )
        });
        let sql = self.text_of(&SQL);
        let again =
            self.write(sql).bind(version).bind(replaces).bind_now().bind(Priority::Again as i32).execute().await?;
        Ok(again)
    }

    /// Retries steps that failed. Returns how many.
    pub async fn retry_failed_steps(&self) -> Result<u64, StoreError> {
        static SQL: LazyLock<Dialects> =
            LazyLock::new(|| update_steps("state = 'waiting', tries = 0, due_at = $1", "state = 'failed'"));
        let n_again = self.write(self.text_of(&SQL)).bind_now().execute().await?;
        Ok(n_again)
    }

    /// Requests data of every track from every source again. Data of the user's files is kept. The old results are used
    /// until then.
    pub async fn force_steps(&self) -> Result<u64, StoreError> {
        // One statement, so that all documents are locked together. A description waits for the sources that are asked again.
        static SQL: LazyLock<Dialects> = LazyLock::new(|| {
            update_steps(
                "tries = 0, due_at = $1, node = NULL, priority = $2,
                settled_at = CASE WHEN step = 'describe' THEN settled_at END,
                state = CASE WHEN step = 'describe' AND EXISTS (SELECT 1 FROM ingest_steps e
                    WHERE e.document_id = ingest_steps.document_id AND e.step IN ('lyrics', 'features')
                    AND (e.settled_at IS NULL OR (e.state <> 'parked' AND COALESCE(e.version, '') <> 'file')))
                THEN 'blocked' ELSE 'waiting' END",
                "state <> 'parked' AND (step = 'describe'
                OR (step IN ('lyrics', 'features') AND COALESCE(version, '') <> 'file'))",
            )
        });
        const N_TRACKS: &str = "SELECT COUNT(*) FROM ingest_steps WHERE step = 'describe' AND state <> 'parked'";
        let query = self.write(self.text_of(&SQL)).bind_now().bind(Priority::Again as i32);
        query.execute().await?;
        let (n_tracks,): (i64,) = self.read(N_TRACKS).fetch_one().await?;
        Ok(n_tracks.unsigned_abs())
    }
}

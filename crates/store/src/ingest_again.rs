//! Steps that are repeated or skipped: when a source is enabled or unavailable, when a prompt changes, or when a user
//! requests it.
//!
//! Such a change is about the steps of all tracks. It is written in short transactions, because SQLite has one writer: the steps
//! of 100,000 tracks in one statement took two seconds, in which no turn could save anything.

use std::{sync::LazyLock, time::Duration};

use sqlx::types::Json;

use super::{Priority, Step, Store, StoreError, db::Query, locks::lock_documents_by_id};

/// The documents that are found at once.
const AT_ONCE: usize = 1000;

/// An update of the steps of any number of documents. A step that is updated does not match any more.
struct StepUpdate {
    /// The next documents with a step that matches.
    next: String,
    /// The last argument is the list of documents.
    update: String,
}

impl StepUpdate {
    /// `which` has the first arguments, and `set` those up to `n_arguments`.
    fn new(which: &str, set: &str, n_arguments: usize) -> Self {
        let documents = n_arguments + 1;
        Self {
            next: format!("SELECT DISTINCT document_id FROM ingest_steps WHERE {which} LIMIT {AT_ONCE}"),
            update: format!(
                "UPDATE ingest_steps SET {set} WHERE {which}
                    AND document_id IN (SELECT value FROM json_each(${documents}))"
            ),
        }
    }
}

impl Store {
    /// The source is unavailable for a while: tracks that wait for it continue without it, and the step is retried
    /// later.
    pub async fn go_on_without(&self, step: Step, wait: Duration, why: &str) -> Result<(), StoreError> {
        // The description of a track begins when no other source is waited for.
        static UPDATE: LazyLock<StepUpdate> = LazyLock::new(|| {
            StepUpdate::new(
                "((step = $1 AND state = 'waiting' AND settled_at IS NULL) OR (step = 'describe' AND state = 'blocked'
                    AND NOT EXISTS (SELECT 1 FROM ingest_steps e WHERE e.document_id = ingest_steps.document_id
                        AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL
                        AND NOT (e.step = $1 AND e.state = 'waiting'))))",
                "state = 'waiting', settled_at = CASE state WHEN 'waiting' THEN $2 ELSE settled_at END,
                    due_at = CASE state WHEN 'waiting' THEN $3 ELSE $2 END,
                    error = CASE state WHEN 'waiting' THEN $4 ELSE error END",
                4,
            )
        });
        let set = self.update_steps(
            &UPDATE,
            |query| query.bind(step.name()),
            |query| query.bind_now().bind_in(wait).bind(why),
        );
        set.await.map(drop)
    }

    /// A source was enabled: schedules the steps that were skipped while it was disabled.
    pub async fn switch_on(&self, step: Step) -> Result<u64, StoreError> {
        static UPDATE: LazyLock<StepUpdate> = LazyLock::new(|| {
            StepUpdate::new("step = $1 AND state = 'off'", "state = 'waiting', tries = 0, due_at = $2", 2)
        });
        self.update_steps(&UPDATE, |query| query.bind(step.name()), |query| query.bind_now()).await
    }

    /// Schedules descriptions of another version again, in the background and with the lowest priority.
    pub async fn describe_again(&self, version: &str, replaces: &str) -> Result<u64, StoreError> {
        static UPDATE: LazyLock<StepUpdate> = LazyLock::new(|| {
            StepUpdate::new(
                "step = 'describe' AND state = 'done' AND version <> $1 AND version LIKE $2",
                "state = 'waiting', tries = 0, due_at = $3, priority = $4",
                4,
            )
        });
        let set = self.update_steps(
            &UPDATE,
            |query| query.bind(version).bind(replaces),
            |query| query.bind_now().bind(Priority::Again as i32),
        );
        set.await
    }

    /// Retries steps that failed. Returns how many.
    pub async fn retry_failed_steps(&self) -> Result<u64, StoreError> {
        static UPDATE: LazyLock<StepUpdate> =
            LazyLock::new(|| StepUpdate::new("state = 'failed'", "state = 'waiting', tries = 0, due_at = $1", 1));
        self.update_steps(&UPDATE, |query| query, |query| query.bind_now()).await
    }

    /// Requests data of every track from every source again. Data of the user's files is kept. The old results are used
    /// until then.
    pub async fn force_steps(&self) -> Result<u64, StoreError> {
        // A description waits for the sources that are asked again. What is updated is due at this time, with this priority.
        static UPDATE: LazyLock<StepUpdate> = LazyLock::new(|| {
            StepUpdate::new(
                "state <> 'parked' AND (step = 'describe'
                        OR (step IN ('lyrics', 'features') AND COALESCE(version, '') <> 'file'))
                    AND NOT (due_at = $1 AND priority = $2)",
                "tries = 0, due_at = $1, node = NULL, priority = $2,
                    settled_at = CASE WHEN step = 'describe' THEN settled_at END,
                    state = CASE WHEN step = 'describe' AND EXISTS (SELECT 1 FROM ingest_steps e
                        WHERE e.document_id = ingest_steps.document_id AND e.step IN ('lyrics', 'features')
                        AND (e.settled_at IS NULL OR (e.state <> 'parked' AND COALESCE(e.version, '') <> 'file')))
                    THEN 'blocked' ELSE 'waiting' END",
                2,
            )
        });
        const N_TRACKS: &str = "SELECT COUNT(*) FROM ingest_steps WHERE step = 'describe' AND state <> 'parked'";
        let at = self.clock.now();
        self.update_steps(&UPDATE, |query| query.bind(at).bind(Priority::Again as i32), |query| query).await?;
        let (n_tracks,): (i64,) = self.read(N_TRACKS).fetch_one().await?;
        Ok(n_tracks.unsigned_abs())
    }

    /// Updates all steps that match, the steps of a few documents in each transaction. Returns how many.
    async fn update_steps(
        &self,
        steps: &'static StepUpdate,
        which: impl for<'c> Fn(Query<'c>) -> Query<'c>,
        set: impl for<'c> Fn(Query<'c>) -> Query<'c>,
    ) -> Result<u64, StoreError> {
        let mut n_all = 0;
        loop {
            let found: Vec<(String,)> = which(self.read(&steps.next)).fetch_all().await?;
            let ids: Vec<String> = found.into_iter().map(|(id,)| id).collect();
            let mut n_round = 0;
            let mut rest = ids.as_slice();
            while !rest.is_empty() {
                let (part, after) = self.paces.steps.part(rest);
                let mut tx = self.begin_short().await?;
                let written = async {
                    lock_documents_by_id(&mut tx, part).await?;
                    let n_steps = set(which(tx.query(&steps.update))).bind(Json(part)).execute().await?;
                    self.commit_short(tx, &self.paces.steps, part.len()).await?;
                    Ok::<u64, StoreError>(n_steps)
                };
                n_round += self.undisturbed(written).await?;
                rest = after;
            }
            // Another node may have changed everything that was found.
            if n_round == 0 {
                return Ok(n_all);
            }
            n_all += n_round;
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::UserId;

    use super::*;
    use crate::NewTask;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_user_writes_while_the_steps_of_all_tracks_are_scheduled_again() {
        const N: i64 = 5_000;
        const NUMBERS: &str = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)";
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("s.db").display()), 2).await.unwrap();
        static DOCUMENTS: LazyLock<String> = LazyLock::new(|| {
            format!(
                "{NUMBERS} INSERT INTO ingested_tracks (id, recording_id, owner, is_overlay, name, track, updated_at)
                SELECT 'd' || n, 'r' || n, '', FALSE, '', '{{}}', '' FROM n"
            )
        });
        static STEPS: LazyLock<String> = LazyLock::new(|| {
            format!(
                "{NUMBERS} INSERT INTO ingest_steps (document_id, step, state, priority, tries, due_at)
                SELECT 'd' || n, 'lyrics', 'off', 0, 0, '' FROM n"
            )
        });
        store.write(&DOCUMENTS).execute().await.unwrap();
        store.write(&STEPS).execute().await.unwrap();
        let n_off = async || {
            let n: (i64,) =
                store.read("SELECT COUNT(*) FROM ingest_steps WHERE state = 'off'").fetch_one().await.unwrap();
            n.0
        };
        let scheduling = tokio::spawn({
            let store = store.clone();
            async move { store.switch_on(Step::Lyrics).await.unwrap() }
        });
        let mut is_between = false;
        while !scheduling.is_finished() {
            store.add_task(&UserId::new("ann"), NewTask { title: "a", description: "" }, None).await.unwrap();
            is_between |= (1..N).contains(&n_off().await);
        }
        assert_eq!(scheduling.await.unwrap(), N as u64);
        assert_eq!(n_off().await, 0);
        assert!(is_between, "one transaction wrote all steps");
    }
}

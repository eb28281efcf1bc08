//! The steps that enrich and index a track: a node claims a step, then stores its result or releases it.

use std::{collections::BTreeMap, sync::LazyLock, time::Duration};

use serde_json::Value;
use sqlx::types::Json;

use super::{
    Claimed, Ending, Step, Store, StoreError,
    db::{Dialects, Sql, Tx},
    documents::{KNOWN_BY_ID, KnownRow, project},
    locks::{lock_documents_by_id, update_steps},
};
use music::DocumentId;

/// The lease of a step. After this time another node may run the step.
pub const LEASE: Duration = Duration::from_secs(120);
/// The maximum time after which a step is retried, also if its source asks for a longer pause.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// All users who wait for a step of this kind, sorted. The query jumps from user to user in the index, so it does not
/// read all waiting steps.
const WAITING_USERS: &str = "WITH RECURSIVE waiting (for_user) AS (
        SELECT MIN(for_user) FROM ingest_steps WHERE step = $1 AND state = 'waiting'
        UNION ALL
        SELECT (SELECT MIN(s.for_user) FROM ingest_steps s
            WHERE s.step = $1 AND s.state = 'waiting' AND s.for_user > waiting.for_user)
        FROM waiting WHERE waiting.for_user IS NOT NULL
    )
    SELECT for_user FROM waiting WHERE for_user IS NOT NULL";
static CLAIM: LazyLock<Dialects> = LazyLock::new(|| {
    Dialects::locking(
        "UPDATE ingest_steps SET state = 'running', tries = tries + 1, node = $2, lease_until = $3
        WHERE step = $1 AND document_id IN (SELECT document_id FROM ingest_steps
            WHERE step = $1 AND state = 'waiting' AND for_user = $6 AND due_at <= $4
            ORDER BY priority, due_at LIMIT $5 FOR UPDATE SKIP LOCKED)
        RETURNING document_id, tries",
    )
});

impl Store {
    /// Claims up to `limit` steps that are due, divided between the users they are for. Several nodes may claim at the
    /// same time; each step is claimed by one node.
    pub async fn claim_steps(&self, step: Step, node: &str, limit: usize) -> Result<Vec<Claimed>, StoreError> {
        let users: Vec<(String,)> = self.read(WAITING_USERS).bind(step.name()).fetch_all().await?;
        if users.is_empty() {
            return Ok(vec![]);
        }
        let mut round = self.served.round(step.name(), users.into_iter().map(|(user,)| user).collect(), limit);
        let mut tx = self.begin_short().await?;
        let sql = tx.text_of(&CLAIM);
        let claim = async {
            let mut tries: BTreeMap<String, i32> = BTreeMap::new();
            while let Some((user, share)) = round.next() {
                let query = tx.query(sql).bind(step.name()).bind(node).bind_in(LEASE).bind_now();
                let claimed: Vec<(String, i32)> = query.bind(share as i64).bind(&user).fetch_all().await?;
                self.served.remember(step.name(), &user);
                round.took(user, share, claimed.len());
                tries.extend(claimed);
            }
            tx.commit().await?;
            Ok::<_, StoreError>(tries)
        };
        let tries = self.undisturbed(claim).await?;
        let ids: Vec<&str> = tries.keys().map(String::as_str).collect();
        let known = self.known_so_far(&ids).await?;
        let claimed = known.into_iter().map(|row| {
            let tries = tries.get(&row.id).copied().unwrap_or(1).unsigned_abs();
            Ok(Claimed { id: document_id(&row.id)?, tries, track: row.track()? })
        });
        claimed.collect()
    }

    async fn known_so_far(&self, ids: &[&str]) -> Result<Vec<KnownRow>, StoreError> {
        if ids.is_empty() {
            return Ok(vec![]);
        }
        Ok(self.read(&KNOWN_BY_ID).bind(Json(ids)).fetch_all().await?)
    }

    /// Stores the outcomes of attempts, each with its result, and starts the next steps, in short transactions. A step
    /// that this node no longer holds is skipped: the node with the lease stores its outcome.
    pub async fn settle_steps(
        &self,
        step: Step,
        node: &str,
        endings: Vec<(DocumentId, Ending)>,
    ) -> Result<(), StoreError> {
        let mut rest = endings.as_slice();
        while !rest.is_empty() {
            let (part, after) = self.paces.steps.part(rest);
            let mut tx = self.begin_short().await?;
            let settled = async {
                let ids: Vec<String> = part.iter().map(|(id, _)| id.to_string()).collect();
                lock_documents_by_id(&mut tx, &ids).await?;
                for (id, ending) in part {
                    settle_step(&mut tx, step, node, &id.to_string(), ending).await?;
                }
                self.commit_short(tx, &self.paces.steps, part.len()).await
            };
            self.undisturbed(settled).await?;
            rest = after;
        }
        Ok(())
    }

    /// The last step: writes the documents of the tracks, which the index reads.
    pub async fn put_in_index(&self, node: &str, ids: &[DocumentId]) -> Result<(), StoreError> {
        let ids: Vec<String> = ids.iter().map(DocumentId::to_string).collect();
        let mut rest = ids.as_slice();
        while !rest.is_empty() {
            let (part, after) = self.paces.documents.part(rest);
            let mut tx = self.begin_short().await?;
            let written = async {
                put_part(&mut tx, node, part).await?;
                self.commit_short(tx, &self.paces.documents, part.len()).await
            };
            self.undisturbed(written).await?;
            rest = after;
        }
        Ok(())
    }

    /// Releases the steps of one kind that this node has claimed and could not finish.
    pub async fn give_back(&self, step: Step, node: &str) -> Result<(), StoreError> {
        static SQL: LazyLock<Dialects> = LazyLock::new(|| {
            update_steps(
                "state = 'waiting', node = NULL, lease_until = NULL",
                "step = $1 AND node = $2 AND state = 'running'",
            )
        });
        self.write(self.text_of(&SQL)).bind(step.name()).bind(node).execute().await?;
        Ok(())
    }

    /// Releases the steps of a dead node: at once if the node has restarted, otherwise when their leases have expired.
    pub async fn release_steps(&self, dead_node: Option<&str>) -> Result<u64, StoreError> {
        static STEPS: LazyLock<Dialects> = LazyLock::new(|| {
            update_steps(
                "state = 'waiting', node = NULL, lease_until = NULL",
                "state = 'running' AND (lease_until < $1 OR node = $2)",
            )
        });
        static ENTRIES: LazyLock<Dialects> = LazyLock::new(|| {
            Dialects::locking(
                "UPDATE open_entries SET node = NULL, lease_until = NULL
                WHERE id IN (SELECT id FROM open_entries WHERE node IS NOT NULL AND (lease_until < $1 OR node = $2)
                    ORDER BY id FOR UPDATE)",
            )
        });
        let mut n_released = 0;
        for sql in [&*STEPS, &*ENTRIES] {
            n_released += self.write(self.text_of(sql)).bind_now().bind(dead_node).execute().await?;
        }
        Ok(n_released)
    }
}

fn document_id(text: &str) -> Result<DocumentId, StoreError> {
    text.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)).into())
}

async fn put_part(tx: &mut Tx, node: &str, ids: &[String]) -> Result<(), StoreError> {
    const DONE: &str = "UPDATE ingest_steps SET state = 'done', error = NULL, settled_at = $3, node = NULL,
            lease_until = NULL
        WHERE document_id = $1 AND step = 'index' AND node = $2 AND state = 'running'";
    lock_documents_by_id(tx, ids).await?;
    let rows: Vec<KnownRow> = tx.query(&KNOWN_BY_ID).bind(Json(ids)).fetch_all().await?;
    for id in ids {
        tx.query(DONE).bind(id).bind(node).bind_now().execute().await?;
    }
    let recordings: Vec<String> = rows.into_iter().map(|row| row.recording_id).collect();
    project(tx, &recordings).await
}

static SETTLE: Sql = Sql::new(|| settle(""));
/// A new result replaces the earlier one. Without one, the earlier result stays.
static SETTLE_DONE: Sql = Sql::new(|| settle(", result = $9, version = $10"));

fn settle(result: &str) -> String {
    format!(
        "UPDATE ingest_steps SET state = $4, tries = tries - $5, due_at = $6, error = $7, settled_at = $8,
            node = NULL, lease_until = NULL{result}
        WHERE document_id = $1 AND step = $2 AND node = $3 AND state = 'running'"
    )
}

/// Stores the outcome of one attempt and starts the next steps, unless this node no longer holds the step.
async fn settle_step(tx: &mut Tx, step: Step, node: &str, id: &str, ending: &Ending) -> Result<(), StoreError> {
    let row = SettledRow::of(ending);
    let query = tx.query(if row.result.is_some() { &SETTLE_DONE } else { &SETTLE });
    let query = query.bind(id).bind(step.name()).bind(node).bind(row.state).bind(row.uncounted).bind_in(row.wait);
    let query = query.bind(row.error).bind_now();
    let query = match row.result {
        Some((result, version)) => query.bind(Json(result)).bind(version),
        None => query,
    };
    let n_settled = query.execute().await?;
    if n_settled > 0
        && let Some(sql) = begin_after(step)
    {
        tx.query(sql).bind(id).bind_now().bind(row.result.is_some()).execute().await?;
    }
    Ok(())
}

struct SettledRow<'a> {
    state: &'static str,
    uncounted: i32,
    wait: Duration,
    error: Option<&'a str>,
    /// A new result and its version.
    result: Option<(&'a Value, &'a str)>,
}

impl<'a> SettledRow<'a> {
    fn of(ending: &'a Ending) -> Self {
        let empty = Self { state: "done", uncounted: 0, wait: Duration::ZERO, error: None, result: None };
        match ending {
            Ending::Done { result, version } => Self { result: Some((result, version)), ..empty },
            Ending::Off => Self { state: "off", ..empty },
            Ending::Failed { error } => Self { state: "failed", error: Some(error), ..empty },
            Ending::Later { wait, counts, error } => {
                let (wait, uncounted) = ((*wait).min(LONGEST_WAIT), i32::from(!counts));
                Self { state: "waiting", uncounted, wait, error: Some(error), ..empty }
            }
        }
    }
}

/// A description begins when every source has answered. $3: a new result also repeats a description that ran without it.
const BEGIN_DESCRIBE: &str =
    "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $2, node = NULL, lease_until = NULL
    WHERE document_id = $1 AND step = 'describe'
        AND (state = 'blocked' OR ($3 AND state IN ('done', 'failed', 'running')))
        AND NOT EXISTS (SELECT 1 FROM ingest_steps e WHERE e.document_id = $1
            AND e.step IN ('lyrics', 'features') AND e.settled_at IS NULL)";
const BEGIN_INDEX: &str =
    "UPDATE ingest_steps SET state = 'waiting', tries = 0, due_at = $2, node = NULL, lease_until = NULL
    WHERE document_id = $1 AND step = 'index'
        AND (state = 'blocked' OR ($3 AND state IN ('done', 'failed', 'running')))";

/// The statement that starts the next step after a step has ended.
fn begin_after(step: Step) -> Option<&'static str> {
    match step {
        Step::Lyrics | Step::Features => Some(BEGIN_DESCRIBE),
        Step::Describe => Some(BEGIN_INDEX),
        Step::Index => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Priority, plan::NewDocument, schedule::schedule};
    use music::Track;

    #[tokio::test]
    async fn a_track_that_a_user_waits_for_comes_before_an_import_and_both_before_improvements() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("s.db").display()), 2).await.unwrap();
        let track = |isrc: &str| -> Track {
            serde_json::from_value(json!({"isrc": isrc, "title": isrc, "artist": "A", "album": "B"})).unwrap()
        };
        let (again, import, by_hand) = (track("XSGUE2690001"), track("XSGUE2690002"), track("XSGUE2690003"));
        for (track, priority) in [(&again, Priority::Again), (&import, Priority::Import), (&by_hand, Priority::ByHand)]
        {
            let mut tx = store.begin().await.unwrap();
            schedule(&mut tx, &[NewDocument::public(track.clone())], priority, "").await.unwrap();
            tx.commit().await.unwrap();
        }
        for expected in [by_hand, import, again] {
            let claimed = store.claim_steps(Step::Lyrics, "node", 1).await.unwrap();
            let found: Vec<_> = claimed.iter().map(|claimed| claimed.track.isrc.clone()).collect();
            assert_eq!(found, [expected.isrc]);
        }
    }
}

//! How far ingestion is, and what needs a person.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Step, Store, StoreError};

/// A step that needs a person.
#[derive(Clone, Debug, Serialize, JsonSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub isrc: String,
    pub title: String,
    pub artist: String,
    /// `lyrics`, `features`, `describe` or `index`.
    pub step: String,
    pub reason: String,
    pub at: DateTime<Utc>,
}

/// How many tracks are in which state of each step.
pub type StepCounts = BTreeMap<Step, BTreeMap<String, u64>>;

impl Store {
    pub async fn step_counts(&self) -> Result<StepCounts, StoreError> {
        const SQL: &str = "SELECT step, state, COUNT(*) FROM ingest_steps GROUP BY step, state";
        let rows: Vec<(String, String, i64)> = self.read(SQL).fetch_all().await?;
        let mut counts: StepCounts = Step::ALL.into_iter().map(|step| (step, BTreeMap::new())).collect();
        for (step, state, n) in rows {
            if let Some(step) = Step::named(&step) {
                counts.entry(step).or_default().insert(state, n.unsigned_abs());
            }
        }
        Ok(counts)
    }

    /// The owner's tracks with a step that needs a person, newest first.
    pub async fn failures(&self, owner: &UserId, limit: u32) -> Result<Vec<Failure>, StoreError> {
        const SQL: &str = "SELECT s.isrc, o.title, o.artist, s.step, COALESCE(s.error, '') AS reason,
                s.settled_at AS at
            FROM ingest_steps s JOIN library_tracks o ON o.isrc = s.isrc AND o.user_id = $1 AND o.removed_at IS NULL
            WHERE s.state = 'failed' ORDER BY s.settled_at DESC, s.isrc LIMIT $2";
        Ok(self.read(SQL).bind(owner.as_str()).bind(i64::from(limit)).fetch_all().await?)
    }
}

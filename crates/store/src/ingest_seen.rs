//! The progress of enrichment, and the steps that need a user's action.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Step, Store, StoreError};

/// A step that needs a user's action.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Failure")]
pub struct FailedStep {
    /// Empty if the track has none.
    pub isrc: String,
    pub track_id: String,
    pub title: String,
    pub artist: String,
    /// `lyrics`, `features`, `describe` or `index`.
    pub step: String,
    pub reason: String,
    pub at: DateTime<Utc>,
}
from_row!(FailedStep { isrc, track_id, title, artist, step, reason, at });

/// The number of tracks in each state of each step.
pub type StepCounts = BTreeMap<Step, BTreeMap<String, u64>>;

impl Store {
    /// The counts of the whole installation, for its operator.
    pub async fn step_counts(&self) -> Result<StepCounts, StoreError> {
        const SQL: &str = "SELECT step, state, COUNT(*) FROM ingest_steps GROUP BY step, state";
        Ok(counts(self.read(SQL).fetch_all().await?))
    }

    /// The number of tracks, of all users, for which a step has not ended.
    pub async fn n_steps_left(&self, step: Step) -> Result<u64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM ingest_steps
            WHERE step = $1 AND state IN ('waiting', 'blocked', 'running')";
        let (n,): (i64,) = self.read(SQL).bind(step.name()).fetch_one().await?;
        Ok(n.unsigned_abs())
    }

    /// The counts for the recordings of one user.
    pub async fn step_counts_of(&self, owner: &UserId) -> Result<StepCounts, StoreError> {
        const SQL: &str = "SELECT s.step, s.state, COUNT(*) FROM ingest_steps s
            JOIN ingested_tracks i ON i.id = s.document_id AND i.owner IN ('', $1)
            WHERE i.recording_id IN (SELECT recording_id FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL
                UNION SELECT recording_id FROM library_album_tracks WHERE user_id = $1)
            GROUP BY s.step, s.state";
        Ok(counts(self.read(SQL).bind(owner.as_str()).fetch_all().await?))
    }

    /// The owner's tracks with a step that needs an action, newest first. SQLite reads the tables of a cross join in
    /// the given order: failed steps, which are few, come first.
    pub async fn failures(&self, owner: &UserId, limit: u32) -> Result<Vec<FailedStep>, StoreError> {
        const SQL: &str = "SELECT COALESCE(o.isrc, '') AS isrc, o.recording_id AS track_id, o.title, o.artist, s.step,
                COALESCE(s.error, '') AS reason, s.settled_at AS at
            FROM ingest_steps s CROSS JOIN ingested_tracks i CROSS JOIN library_tracks o
            WHERE s.state = 'failed' AND i.id = s.document_id AND i.owner IN ('', $1)
                AND o.recording_id = i.recording_id AND o.user_id = $1 AND o.removed_at IS NULL
            ORDER BY s.settled_at DESC, o.recording_id LIMIT $2";
        Ok(self.read(SQL).bind(owner.as_str()).bind(i64::from(limit)).fetch_all().await?)
    }
}

fn counts(rows: Vec<(String, String, i64)>) -> StepCounts {
    let mut counts: StepCounts = Step::ALL.into_iter().map(|step| (step, BTreeMap::new())).collect();
    for (step, state, n) in rows {
        if let Some(step) = Step::named(&step) {
            counts.entry(step).or_default().insert(state, n.unsigned_abs());
        }
    }
    counts
}

//! The ids that a user's files give a recording, and the recordings that the user merged.

use std::collections::HashMap;

use engine::UserId;
use sqlx::types::Json;

use super::{Store, StoreError};
use music::TrackId;

impl Store {
    /// The user's recordings with these ids, by id.
    pub async fn own_named(
        &self,
        owner: &UserId,
        kind: &str,
        values: &[String],
    ) -> Result<HashMap<String, TrackId>, StoreError> {
        const SQL: &str = "SELECT value, MIN(recording_id) FROM own_names
            WHERE user_id = $1 AND kind = $2 AND value IN (SELECT value FROM json_each($3)) GROUP BY value";
        let rows: Vec<(String, String)> =
            self.read(SQL).bind(owner.as_str()).bind(kind).bind(Json(values)).fetch_all().await?;
        rows.into_iter().map(|(value, id)| Ok((value, parsed(&id)?))).collect()
    }

    /// The recordings that the user merged, and the recording each was merged into.
    pub async fn merged(&self, owner: &UserId) -> Result<HashMap<TrackId, TrackId>, StoreError> {
        const SQL: &str = "SELECT recording_id, into_id FROM track_merges
            WHERE user_id = $1 AND kind = 'merge' AND undone_at IS NULL";
        let rows: Vec<(String, String)> = self.read(SQL).bind(owner.as_str()).fetch_all().await?;
        let merged = rows.into_iter().map(|(from, into)| Ok((parsed(&from)?, parsed(&into)?)));
        Ok(followed(&merged.collect::<Result<_, StoreError>>()?))
    }
}

/// Follows merges of merged recordings to the last recording.
fn followed(merged: &HashMap<TrackId, TrackId>) -> HashMap<TrackId, TrackId> {
    let last = |from: &TrackId| {
        let mut at = *from;
        // There can be no cycle, because a merged track is not in the library. The bound protects against damaged rows.
        for _ in 0..merged.len() {
            match merged.get(&at) {
                Some(next) => at = *next,
                None => break,
            }
        }
        at
    };
    merged.keys().map(|from| (*from, last(from))).collect()
}

fn parsed(id: &str) -> Result<TrackId, StoreError> {
    id.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)).into())
}

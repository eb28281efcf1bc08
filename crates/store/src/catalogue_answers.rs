//! Answers of external catalogues. They are stored, so that the same question is not sent again for some days.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Serialize, de::DeserializeOwned};
use sqlx::types::Json;

use super::{Store, StoreError};

impl Store {
    /// The stored answer of a catalogue, unless it is too old.
    pub async fn catalogue_answer<C: DeserializeOwned + Send + Unpin + 'static>(
        &self,
        catalogue: &str,
        question: &str,
        found_for: TimeDelta,
        nothing_for: TimeDelta,
    ) -> Result<Option<Vec<C>>, StoreError> {
        const SQL: &str =
            "SELECT candidates, answered_at FROM catalogue_answers WHERE catalogue = $1 AND question = $2";
        let row: Option<(Json<Vec<C>>, DateTime<Utc>)> =
            self.read(SQL).bind(catalogue).bind(question).fetch_optional().await?;
        let Some((Json(candidates), at)) = row else { return Ok(None) };
        let good_for = if candidates.is_empty() { nothing_for } else { found_for };
        Ok((self.clock.now() - at < good_for).then_some(candidates))
    }

    pub async fn remember_answer<C: Serialize + Sync>(
        &self,
        catalogue: &str,
        question: &str,
        candidates: &[C],
    ) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO catalogue_answers (catalogue, question, candidates, answered_at)
            VALUES ($1, $2, $3, $4) ON CONFLICT (catalogue, question)
            DO UPDATE SET candidates = excluded.candidates, answered_at = excluded.answered_at";
        self.write(SQL).bind(catalogue).bind(question).bind(Json(candidates)).bind_now().execute().await?;
        Ok(())
    }
}

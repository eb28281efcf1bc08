//! What catalogues elsewhere answered, so that nobody asks them the same within a while.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::types::Json;

use super::{Store, StoreError, now, reading, writing};
use crate::import::Candidate;

impl Store {
    /// What a catalogue answered before, unless that is too long ago.
    pub(crate) async fn catalogue_answer(
        &self,
        catalogue: &str,
        question: &str,
        found_for: TimeDelta,
        nothing_for: TimeDelta,
    ) -> Result<Option<Vec<Candidate>>, StoreError> {
        const SQL: &str =
            "SELECT candidates, answered_at FROM catalogue_answers WHERE catalogue = $1 AND question = $2";
        let row: Option<(Json<Vec<Candidate>>, DateTime<Utc>)> =
            reading!(self, |db| sqlx::query_as(SQL).bind(catalogue).bind(question).fetch_optional(db).await)?;
        let Some((Json(candidates), at)) = row else { return Ok(None) };
        let good_for = if candidates.is_empty() { nothing_for } else { found_for };
        Ok((now() - at < good_for).then_some(candidates))
    }

    pub(crate) async fn remember_answer(
        &self,
        catalogue: &str,
        question: &str,
        candidates: &[Candidate],
    ) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO catalogue_answers (catalogue, question, candidates, answered_at)
            VALUES ($1, $2, $3, $4) ON CONFLICT (catalogue, question)
            DO UPDATE SET candidates = excluded.candidates, answered_at = excluded.answered_at";
        writing!(self, |db| sqlx::query(SQL)
            .bind(catalogue)
            .bind(question)
            .bind(Json(candidates))
            .bind(now())
            .execute(db)
            .await
            .map(drop))?;
        Ok(())
    }
}

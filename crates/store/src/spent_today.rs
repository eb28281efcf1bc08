//! What a user's answers have used since midnight UTC.

use chrono::{DateTime, Utc};
use engine::{Usage, UserId};

use super::{Store, StoreError, limits::day_of};

#[derive(Clone, Debug, PartialEq)]
pub struct SpentToday {
    /// Midnight UTC.
    pub since: DateTime<Utc>,
    /// The tokens of answers that have ended, by the name of the model that the conversation chose; none: the active one.
    pub answers: Vec<(Option<String>, Usage)>,
    /// What counts against the limit of tokens per day. It stays 0 while there is no limit.
    pub n_counted: u64,
}

/// PostgreSQL sums whole numbers as NUMERIC.
const ANSWERS: &str = "SELECT model, CAST(SUM(input_tokens) AS BIGINT), CAST(SUM(output_tokens) AS BIGINT)
    FROM turns WHERE user_id = $1 AND ended_at >= $2 AND input_tokens IS NOT NULL GROUP BY model ORDER BY model";
const COUNTED: &str = "SELECT tokens FROM token_days WHERE user_id = $1 AND day = $2";

impl Store {
    pub async fn spent_today(&self, owner: &UserId) -> Result<SpentToday, StoreError> {
        let day = day_of(self.clock.now());
        let since = DateTime::from_timestamp(day * 24 * 60 * 60, 0).unwrap_or_default();
        let rows: Vec<(Option<String>, i64, i64)> =
            self.read(ANSWERS).bind(owner.as_str()).bind(since).fetch_all().await?;
        let counted: Option<(i64,)> = self.read(COUNTED).bind(owner.as_str()).bind(day).fetch_optional().await?;
        let usage = |input: i64, output: i64| Usage {
            input_tokens: input.unsigned_abs(),
            output_tokens: output.unsigned_abs(),
            ..Usage::default()
        };
        let answers = rows.into_iter().map(|(model, input, output)| (model, usage(input, output))).collect();
        Ok(SpentToday { since, answers, n_counted: counted.map_or(0, |(n,)| n.unsigned_abs()) })
    }
}

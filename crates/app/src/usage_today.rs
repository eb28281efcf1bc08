//! What a user's answers have used and cost today, and the limit of the day.

use chrono::{DateTime, TimeDelta, Utc};
use engine::UserId;
use tracing::instrument;

use store::Store;

use crate::{Error, models::Models};

pub struct UsageToday {
    /// Input and output tokens. With a limit, exactly what counts against it.
    pub n_tokens: u64,
    /// `SEGUE_TOKENS_PER_DAY`; none: no limit.
    pub tokens_per_day: Option<u64>,
    /// In US dollars, of the answers whose models have a price; none: no such answer.
    pub cost_usd: Option<f64>,
    /// Midnight UTC.
    pub resets_at: DateTime<Utc>,
}

pub struct DailyUsage<'a> {
    pub(crate) store: &'a Store,
    pub(crate) models: &'a Models,
    /// 0: no limit.
    pub(crate) tokens_per_day: u64,
}

impl DailyUsage<'_> {
    #[instrument(name = "usage.today", skip_all, fields(user.id = %owner))]
    pub async fn today(&self, owner: &UserId) -> Result<UsageToday, Error> {
        let spent = self.store.spent_today(owner).await?;
        let tokens_per_day = Some(self.tokens_per_day).filter(|limit| *limit > 0);
        let costs = spent
            .answers
            .iter()
            .filter_map(|(model, usage)| self.models.cost(self.models.of(model.as_deref()).as_ref(), usage));
        let costs: Vec<f64> = costs.collect();
        let of_answers = spent.answers.iter().map(|(_, usage)| usage.input_tokens + usage.output_tokens).sum();
        Ok(UsageToday {
            n_tokens: if tokens_per_day.is_some() { spent.n_counted } else { of_answers },
            tokens_per_day,
            cost_usd: (!costs.is_empty()).then(|| costs.iter().sum()),
            resets_at: spent.since + TimeDelta::days(1),
        })
    }
}

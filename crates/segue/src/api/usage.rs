//! What the caller's answers have used and cost today.

use chrono::{DateTime, Utc};

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new().api_route(
        "/api/usage",
        get_with(today, |op| op.summary("Tokens and cost of your answers today, and the limit")),
    )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UsageToday {
    /// Input and output tokens since midnight UTC. With a limit, exactly what counts against it, descriptions and
    /// rewording included.
    tokens: u64,
    /// The limit of the day; absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_per_day: Option<u64>,
    /// In US dollars, of the answers whose models have a price (`SEGUE_MODELS`); absent: no such answer today.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// When both begin at 0 again.
    resets_at: DateTime<Utc>,
}

async fn today(State(state): Shared, caller: Caller) -> Result<Json<UsageToday>> {
    let today = state.app.usage().today(&caller.id).await?;
    Ok(Json(UsageToday {
        tokens: today.n_tokens,
        tokens_per_day: today.tokens_per_day,
        cost_usd: today.cost_usd,
        resets_at: today.resets_at,
    }))
}

//! Search and the state of the index.

use std::sync::Arc;

use aide::axum::routing::get_with;
use app::library::IndexStatus;
use axum::{Json, extract::State, response::Response};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::tools::answer;
use crate::{
    auth::Caller,
    error::ApiError,
    extract::Params,
    router::{Doors, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/search",
            get_with(search, |op| op.summary("Search the indexed collection by meaning and words")),
        )
        .api_route("/api/index", get_with(index, |op| op.summary("What is indexed")))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchQuery {
    q: String,
    /// 1 to 50, default 20.
    #[serde(default)]
    limit: Option<u32>,
}

/// The same as the tool `semanticSearch`, journalled and limited like it.
async fn search(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Params(query): Params<SearchQuery>,
) -> Result<Response, ApiError> {
    let input = json!({"query": query.q, "limit": query.limit.unwrap_or(20)});
    answer(doors.app.call_tool(&caller.id, "semanticSearch", input).await?)
}

async fn index(State(doors): State<Arc<Doors>>, _: Caller) -> Result<Json<IndexStatus>, ApiError> {
    Ok(Json(doors.app.index_status().await?))
}

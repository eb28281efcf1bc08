//! Search and the state of the index.

use app::library::{IngestStatus, SearchLimit};
use engine::Effect;
use serde_json::json;

use super::{prelude::*, tools::answer};
use crate::protocols::sse::{EventStream, respond_json};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/search",
            get_with(search, |op| op.summary("Search the indexed collection by meaning and words")),
        )
        .api_route(
            "/api/index",
            get_with(index, |op| op.summary("How many tracks are indexed, are waiting, and have failed")),
        )
        .api_route(
            "/api/index/stream",
            get_with(follow, |op| {
                op.summary("The state of the index after each change, until no track is waiting")
                    .response::<200, EventStream<IngestStatus>>()
            }),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchQuery {
    q: String,
    #[serde(default)]
    limit: SearchLimit,
}

/// Calls the tool `semanticSearch`, with its journal row and its limits.
async fn search(State(state): Shared, caller: Caller, Query(query): Query<SearchQuery>) -> Result<Response> {
    let input = json!({"query": query.q, "limit": query.limit});
    answer(state.app.call_tool(&caller.id, "semanticSearch", input).await?, Effect::Reads)
}

async fn index(State(state): Shared, caller: Caller) -> Result<Json<IngestStatus>> {
    Ok(Json(state.app.library().ingest_status(&caller.id).await?))
}

async fn follow(State(state): Shared, caller: Caller) -> Result<Response> {
    Ok(respond_json(state.app.library().follow_ingest(&caller.id, state.app.shutdown.clone()).await?))
}

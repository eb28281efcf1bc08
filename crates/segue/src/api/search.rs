//! Search and the state of the index.

use std::{sync::Arc, time::Duration};

use aide::axum::routing::get_with;
use app::{App, library::IngestStatus};
use axum::{extract::State, response::Response};
use engine::{Effect, UserId};
use futures::Stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::tools::answer;
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Query},
    protocols::sse::{EventStream, respond_json},
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/search",
            get_with(search, |op| op.summary("Search the indexed collection by meaning and words")),
        )
        .api_route("/api/index", get_with(index, |op| op.summary("What is indexed, what is on its way, what failed")))
        .api_route(
            "/api/index/stream",
            get_with(follow, |op| {
                op.summary("The same as it changes, to the end of what is on its way")
                    .response::<200, EventStream<IngestStatus>>()
            }),
        )
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
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Query(query): Query<SearchQuery>,
) -> Result<Response, ApiError> {
    let input = json!({"query": query.q, "limit": query.limit.unwrap_or(20)});
    answer(state.app.call_tool(&caller.id, "semanticSearch", input).await?, Effect::Reads)
}

async fn index(State(state): State<Arc<AppState>>, caller: Caller) -> Result<Json<IngestStatus>, ApiError> {
    Ok(Json(state.app.library().ingest_status(&caller.id).await?))
}

/// Often enough to see it move; counting is work for the database.
const NOT_OFTENER_THAN: Duration = Duration::from_millis(500);

async fn follow(State(state): State<Arc<AppState>>, caller: Caller) -> Result<Response, ApiError> {
    let first = state.app.library().ingest_status(&caller.id).await?;
    Ok(respond_json(statuses(state.app.clone(), caller.id, first)))
}

/// A status whenever it has changed; the last one says that nothing is left.
fn statuses(app: Arc<App>, owner: UserId, first: IngestStatus) -> impl Stream<Item = IngestStatus> + Send {
    async_stream::stream! {
        let mut news = app.library().ingest_news();
        let mut is_done = first.is_done();
        yield first;
        while !is_done {
            tokio::select! {
                () = app.shutdown.cancelled() => return,
                () = tokio::time::sleep(NOT_OFTENER_THAN) => {}
            }
            // Other nodes work too, and do not tell us.
            let _ = tokio::time::timeout(NOT_OFTENER_THAN, news.changed()).await;
            let status = match app.library().ingest_status(&owner).await {
                Ok(status) => status,
                Err(error) => {
                    tracing::warn!("The progress of ingestion cannot be told: {error}");
                    return;
                }
            };
            is_done = status.is_done();
            yield status;
        }
    }
}

//! Search and the state of the index.

use std::time::Duration;

use app::{App, library::IngestStatus};
use engine::{Effect, UserId};
use futures::Stream;
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
    /// 1 to 50, default 20.
    #[serde(default)]
    limit: Option<u32>,
}

/// Calls the tool `semanticSearch`, with its journal row and its limits.
async fn search(State(state): Shared, caller: Caller, Query(query): Query<SearchQuery>) -> Result<Response> {
    let input = json!({"query": query.q, "limit": query.limit.unwrap_or(20)});
    answer(state.app.call_tool(&caller.id, "semanticSearch", input).await?, Effect::Reads)
}

async fn index(State(state): Shared, caller: Caller) -> Result<Json<IngestStatus>> {
    Ok(Json(state.app.library().ingest_status(&caller.id).await?))
}

/// Each status is a count in the database, so there are at most two a second.
const NOT_OFTENER_THAN: Duration = Duration::from_millis(500);

async fn follow(State(state): Shared, caller: Caller) -> Result<Response> {
    let first = state.app.library().ingest_status(&caller.id).await?;
    Ok(respond_json(statuses(state.app.clone(), caller.id, first)))
}

/// A status after each change; in the last one no track is waiting.
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
            // Changes by other nodes are not announced here, so the wait for news is limited.
            let _ = tokio::time::timeout(NOT_OFTENER_THAN, news.changed()).await;
            let status = match app.library().ingest_status(&owner).await {
                Ok(status) => status,
                Err(error) => {
                    tracing::warn!("The progress of ingestion cannot be read: {error}");
                    return;
                }
            };
            is_done = status.is_done();
            yield status;
        }
    }
}

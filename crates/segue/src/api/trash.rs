//! The trash: what was deleted in the last 30 days.

use std::sync::Arc;

use aide::axum::routing::{delete_with, get_with};
use app::services::trash::Deleted;
use axum::{extract::State, http::StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::page::limit_of;
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path, Query},
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/trash",
            get_with(list, |op| {
                op.summary("What you deleted in the last 30 days, newest first").description(
                    "Each kind is restored by its own endpoint, such as `POST /api/tasks/{task_id}/restore`.",
                )
            })
            .delete_with(empty, |op| op.summary("Delete everything in the trash for good").response::<204, ()>()),
        )
        .api_route(
            "/api/trash/{trash_id}",
            delete_with(erase, |op| op.summary("Delete one thing in the trash for good").response::<204, ()>()),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// 1 to 200, default 200.
    #[serde(default)]
    limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct TrashList {
    items: Vec<Deleted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct TrashPath {
    trash_id: Uuid,
}

async fn list(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<TrashList>, ApiError> {
    let page = state.app.trash().page(&caller.id, limit_of(query.limit)?, query.cursor.as_deref()).await?;
    Ok(Json(TrashList { items: page.items, next: page.next }))
}

async fn erase(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<TrashPath>,
) -> Result<StatusCode, ApiError> {
    state.app.trash().erase(&caller.id, path.trash_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn empty(State(state): State<Arc<AppState>>, caller: Caller) -> Result<StatusCode, ApiError> {
    state.app.trash().empty(&caller.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

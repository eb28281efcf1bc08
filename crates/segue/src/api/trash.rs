//! The trash: what was deleted in the last 30 days.

use app::services::trash::Deleted;

use super::{page::PageLimit, prelude::*};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/trash",
            get_with(list, |op| {
                op.summary("What you deleted in the last 30 days, newest first").description(
                    "Each kind is restored by its own endpoint, such as `POST /api/tasks/{task_id}/restore`.",
                )
            })
            .delete_with(empty, |op| op.summary("Delete everything in the trash permanently").response::<204, ()>()),
        )
        .api_route(
            "/api/trash/{trash_id}",
            delete_with(erase, |op| op.summary("Delete one item in the trash permanently").response::<204, ()>()),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    #[serde(default)]
    limit: PageLimit,
    /// The `next` of the previous page.
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

async fn list(State(state): Shared, caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<TrashList>> {
    let page = state.app.trash().page(&caller.id, query.limit.checked("limit")?, query.cursor.as_deref()).await?;
    Ok(Json(TrashList { items: page.items, next: page.next }))
}

async fn erase(State(state): Shared, caller: Caller, Path(path): Path<TrashPath>) -> Result<StatusCode> {
    state.app.trash().erase(&caller.id, path.trash_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn empty(State(state): Shared, caller: Caller) -> Result<StatusCode> {
    state.app.trash().empty(&caller.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

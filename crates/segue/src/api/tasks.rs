//! Tasks without an agent. The list is the one that the Tasks agent uses.

use app::services::tasks::{NewTask, Task, TaskChange, TaskFilter, TaskId};

use super::{page::PageLimit, prelude::*};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/tasks",
            get_with(list, |op| op.summary("Your tasks in your order; new ones are last"))
                .post_with(add, |op| op.summary("Add a task").response::<201, Json<Task>>()),
        )
        .api_route(
            "/api/tasks/{task_id}",
            patch_with(change, |op| op.summary("Change, complete or move a task"))
                .delete_with(delete, |op| op.summary("Delete a task")),
        )
        .api_route("/api/tasks/{task_id}/restore", post_with(restore, |op| op.summary("Undo a deletion")))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    #[serde(default)]
    filter: TaskFilter,
    #[serde(default)]
    limit: PageLimit,
    /// The `next` of the previous page.
    #[serde(default)]
    cursor: Option<Uuid>,
}

#[derive(Serialize, JsonSchema)]
struct TaskList {
    tasks: Vec<Task>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Uuid>,
}

#[derive(Deserialize, JsonSchema)]
struct TaskPath {
    task_id: TaskId,
}

async fn list(State(state): Shared, caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<TaskList>> {
    let limit = query.limit.checked("limit")?;
    let (tasks, next) = state.app.tasks().page(&caller.id, query.filter, limit, query.cursor).await?;
    Ok(Json(TaskList { tasks, next }))
}

async fn add(State(state): Shared, caller: Caller, Json(new): Json<NewTask>) -> Result<(StatusCode, Json<Task>)> {
    Ok((StatusCode::CREATED, Json(state.app.tasks().add(&caller.id, new).await?)))
}

async fn change(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<TaskPath>,
    Json(change): Json<TaskChange>,
) -> Result<Json<Task>> {
    Ok(Json(state.app.tasks().change(&caller.id, path.task_id, change).await?))
}

async fn delete(State(state): Shared, caller: Caller, Path(path): Path<TaskPath>) -> Result<StatusCode> {
    state.app.tasks().delete(&caller.id, path.task_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(State(state): Shared, caller: Caller, Path(path): Path<TaskPath>) -> Result<Json<Task>> {
    Ok(Json(state.app.tasks().restore(&caller.id, path.task_id).await?))
}

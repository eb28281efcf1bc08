//! Tasks without an agent: the same list, by hand.

use std::sync::Arc;

use aide::axum::routing::{get_with, patch_with, post_with};
use app::store::{Task, TaskChange, TaskFilter, TaskId};
use axum::{Json, extract::State, http::StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Body, Named, Params},
    router::{Doors, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/tasks",
            get_with(list, |op| op.summary("Your tasks, oldest first"))
                .post_with(add, |op| op.summary("Add a task").response::<201, Json<Task>>()),
        )
        .api_route(
            "/api/tasks/{task_id}",
            patch_with(change, |op| op.summary("Change or complete a task"))
                .delete_with(delete, |op| op.summary("Delete a task")),
        )
        .api_route("/api/tasks/{task_id}/restore", post_with(restore, |op| op.summary("Undo a deletion")))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    #[serde(default)]
    filter: TaskFilter,
}

#[derive(Serialize, JsonSchema)]
struct TaskList {
    tasks: Vec<Task>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTask {
    /// 1 to 200 characters.
    title: String,
    /// At most 2000 characters.
    #[serde(default)]
    description: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    completed: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct TaskPath {
    task_id: TaskId,
}

async fn list(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<TaskList>, ApiError> {
    Ok(Json(TaskList { tasks: doors.app.store.tasks(&caller.id, query.filter).await? }))
}

async fn add(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Body(new): Body<NewTask>,
) -> Result<(StatusCode, Json<Task>), ApiError> {
    let title = checked_title(&new.title)?;
    let description = checked_description(&new.description)?;
    let task = doors.app.store.add_task(&caller.id, title, description, None).await?;
    Ok((StatusCode::CREATED, Json(task)))
}

async fn change(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<TaskPath>,
    Body(change): Body<Change>,
) -> Result<Json<Task>, ApiError> {
    let title = change.title.as_deref().map(checked_title).transpose()?;
    let description = change.description.as_deref().map(checked_description).transpose()?;
    if title.is_none() && description.is_none() && change.completed.is_none() {
        return Err(ApiError::invalid("Give at least one of title, description and completed."));
    }
    let change = TaskChange {
        title: title.map(str::to_owned),
        description: description.map(str::to_owned),
        completed: change.completed,
    };
    Ok(Json(doors.app.store.update_task(&caller.id, path.task_id, &change, None).await?))
}

async fn delete(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<TaskPath>,
) -> Result<StatusCode, ApiError> {
    doors.app.store.delete_task(&caller.id, path.task_id, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<TaskPath>,
) -> Result<Json<Task>, ApiError> {
    Ok(Json(doors.app.store.restore_task(&caller.id, path.task_id).await?))
}

fn checked_title(text: &str) -> Result<&str, ApiError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 200 {
        return Err(ApiError::invalid_field("title", "must have 1 to 200 characters"));
    }
    Ok(text)
}

fn checked_description(text: &str) -> Result<&str, ApiError> {
    let text = text.trim();
    if text.chars().count() > 2000 {
        return Err(ApiError::invalid_field("description", "must have at most 2000 characters"));
    }
    Ok(text)
}

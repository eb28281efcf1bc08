//! `delete_task`: take something off the list.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{late_database, task_error, task_id};
use crate::services::tasks::{TaskId, Tasks};
use crate::services::undo::UndoId;

/// Delete one task. The user can undo it.
///
/// Only when the user clearly asks to remove it; a task that is done is completed, not deleted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its id, from `list_tasks` or `add_task`.
    task_id: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    title: String,
    message: String,
    /// For `POST /api/undo/{id}`.
    #[serde(rename = "undoId")]
    undo_id: UndoId,
}

impl Report for Output {
    fn summary(&self) -> String {
        self.message.clone()
    }
    fn count(&self) -> usize {
        1
    }
}

pub struct DeleteTask {
    pub tasks: Tasks,
}

impl Tool for DeleteTask {
    const NAME: &'static str = "delete_task";
    const TITLE: &'static str = "Delete a task";
    const EFFECT: Effect = Effect::Deletes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let id = task_id(&self.tasks, cx, &input.task_id).await?;
        match self.tasks.delete(cx, id).await {
            Ok(task) => {
                let message = format!("Deleted '{}'", task.title);
                Ok(Output { task_id: id, message, title: task.title, undo_id: UndoId(cx.call.0) })
            }
            Err(error) => Err(task_error(&self.tasks, cx, error).await),
        }
    }

    fn for_model(output: &Value) -> Value {
        serde_json::json!({"title": output["title"], "summary": output["summary"]})
    }

    fn late() -> ToolError {
        late_database()
    }
}

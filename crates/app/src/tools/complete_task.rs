//! `complete_task`: tick something off.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{compact, late_database, task_error, task_id};
use crate::services::tasks::{Task, Tasks};
use crate::services::undo::UndoId;

/// Mark one task as done.
///
/// Completing a task twice is the same as once.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its id, from `list_tasks` or `add_task`.
    task_id: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    task: Task,
    /// For `POST /api/undo/{id}`.
    #[serde(rename = "undoId")]
    undo_id: UndoId,
}

impl Report for Output {
    fn summary(&self) -> String {
        format!("Completed '{}'", self.task.title)
    }
    fn count(&self) -> usize {
        1
    }
}

pub struct CompleteTask {
    pub tasks: Tasks,
}

impl Tool for CompleteTask {
    const NAME: &'static str = "complete_task";
    const TITLE: &'static str = "Complete a task";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let id = task_id(&self.tasks, cx, &input.task_id).await?;
        match self.tasks.complete(cx, id).await {
            Ok(task) => Ok(Output { task, undo_id: UndoId(cx.call.0) }),
            Err(error) => Err(task_error(&self.tasks, cx, error).await),
        }
    }

    fn for_model(output: &Value) -> Value {
        compact::changed_task(output)
    }

    fn late() -> ToolError {
        late_database()
    }
}

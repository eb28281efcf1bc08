//! `update_task`: say it differently.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{compact, late_database, task_error, task_id};
use crate::services::tasks::{Task, TaskChange, TaskDescription, TaskTitle, Tasks};
use crate::services::undo::UndoId;

/// Change the title or the description of one task. Give at least one of them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its id, from `list_tasks` or `add_task`.
    task_id: String,
    /// The new title, 1 to 200 characters.
    #[serde(default)]
    title: Option<TaskTitle>,
    /// The new description, at most 2000 characters; an empty text removes it.
    #[serde(default)]
    description: Option<TaskDescription>,
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
        format!("Updated '{}'", self.task.title)
    }
    fn count(&self) -> usize {
        1
    }
}

pub struct UpdateTask {
    pub tasks: Tasks,
}

impl Tool for UpdateTask {
    const NAME: &'static str = "update_task";
    const TITLE: &'static str = "Change a task";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        if input.title.is_none() && input.description.is_none() {
            return Err(ToolError::BadInput("Give a new title, a new description, or both".into()));
        }
        // Models send `null` for what they leave out, so `null` changes nothing here; an empty text clears.
        let change =
            TaskChange { title: input.title, description: input.description.map(Some), ..TaskChange::default() };
        let id = task_id(&self.tasks, cx, &input.task_id).await?;
        match self.tasks.change(cx, id, change).await {
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

//! `add_task`: put something on the list.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{compact, late_database, tool_error};
use crate::services::tasks::{NewTask, Task, TaskDescription, TaskTitle, Tasks};
use crate::services::undo::UndoId;

/// Add a task to the user's to-do list.
///
/// Use once for each thing the user wants to remember; several things in one message are several calls.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What is to be done, in the user's own words, 1 to 200 characters.
    title: TaskTitle,
    /// Details, if the user gave any, at most 2000 characters.
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
        format!("Added '{}'", self.task.title)
    }
    fn count(&self) -> usize {
        1
    }
}

pub struct AddTask {
    pub tasks: Tasks,
}

impl Tool for AddTask {
    const NAME: &'static str = "add_task";
    const TITLE: &'static str = "Add a task";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let new = NewTask { title: input.title, description: input.description.unwrap_or_default() };
        let task = self.tasks.add(cx, new).await.map_err(tool_error)?;
        Ok(Output { task, undo_id: UndoId(cx.call.0) })
    }

    fn for_model(output: &Value) -> Value {
        compact::changed_task(output)
    }

    fn late() -> ToolError {
        late_database()
    }
}

//! `add_task`: put something on the list.

use engine::{Effect, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{changed_task::ChangedTask, compact, late_database, tool_error};
use crate::services::tasks::{NewTask, TaskDescription, TaskTitle, Tasks};

/// Add a task to the user's to-do list.
///
/// Use once for each thing the user wants to remember; several things in one message are several calls.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What is to be done, in the user's own words.
    title: TaskTitle,
    /// Details, if the user gave any.
    #[serde(default)]
    description: Option<TaskDescription>,
}

pub struct AddTask {
    pub tasks: Tasks,
}

impl Tool for AddTask {
    const NAME: &'static str = "add_task";
    const TITLE: &'static str = "Add a task";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = ChangedTask;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<ChangedTask, ToolError> {
        let new = NewTask { title: input.title, description: input.description.unwrap_or_default() };
        let task = self.tasks.add(cx, new).await.map_err(tool_error)?;
        Ok(ChangedTask::new("Added", task, cx))
    }

    fn for_model(output: &Value) -> Value {
        compact::changed_task(output)
    }

    fn late() -> ToolError {
        late_database()
    }
}

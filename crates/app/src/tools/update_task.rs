//! `update_task`: say it differently.

use engine::{Effect, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{changed_task::ChangedTask, compact, late_database, task_error, task_id};
use crate::services::tasks::{TaskChange, TaskDescription, TaskTitle, Tasks};

/// Change the title or the description of one task. Give at least one of them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its id, from `list_tasks` or `add_task`.
    task_id: String,
    /// The new title.
    #[serde(default)]
    title: Option<TaskTitle>,
    /// The new description; an empty text removes it.
    #[serde(default)]
    description: Option<TaskDescription>,
}

pub struct UpdateTask {
    pub tasks: Tasks,
}

impl Tool for UpdateTask {
    const NAME: &'static str = "update_task";
    const TITLE: &'static str = "Change a task";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = ChangedTask;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<ChangedTask, ToolError> {
        if input.title.is_none() && input.description.is_none() {
            return Err(ToolError::BadInput("Give a new title, a new description, or both".into()));
        }
        // Models send `null` for what they leave out, so `null` changes nothing here; an empty text clears.
        let change =
            TaskChange { title: input.title, description: input.description.map(Some), ..TaskChange::default() };
        let id = task_id(&self.tasks, cx, &input.task_id).await?;
        match self.tasks.change(cx, id, change).await {
            Ok(task) => Ok(ChangedTask::new("Updated", task, cx)),
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

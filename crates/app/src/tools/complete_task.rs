//! `complete_task`: tick something off.

use engine::{Effect, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{changed_task::ChangedTask, compact, late_database, task_error, task_id};
use crate::services::tasks::Tasks;

/// Mark one task as done. Completing a task twice is the same as once.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its id, from `list_tasks` or `add_task`.
    task_id: String,
}

pub struct CompleteTask {
    pub tasks: Tasks,
}

impl Tool for CompleteTask {
    const NAME: &'static str = "complete_task";
    const TITLE: &'static str = "Complete a task";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = ChangedTask;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<ChangedTask, ToolError> {
        let id = task_id(&self.tasks, cx, &input.task_id).await?;
        match self.tasks.complete(cx, id).await {
            Ok(task) => Ok(ChangedTask::new("Completed", task, cx)),
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

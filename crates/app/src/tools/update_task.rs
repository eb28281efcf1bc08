//! `update_task`: say it differently.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{checked_text, task_error, task_id};
use store::{Store, Task, TaskChange};

/// Change the title or the description of one task. Give at least one of them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The task's id, as returned by `list_tasks` or `add_task`.
    task_id: String,
    /// The new title, 1 to 200 characters.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    title: Option<String>,
    /// The new description, at most 2000 characters; an empty text removes it.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    description: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    task: Task,
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
    pub store: Store,
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
        let change = TaskChange {
            title: input.title.map(|title| checked_text("title", &title, 200)).transpose()?,
            description: input.description.map(description).transpose()?,
            completed: None,
        };
        let id = task_id(&input.task_id)?;
        let task = self.store.update_task(&cx.owner, id, &change, Some(cx.call)).await.map_err(task_error)?;
        Ok(Output { task })
    }
}

fn description(text: String) -> Result<String, ToolError> {
    if text.trim().is_empty() { Ok(String::new()) } else { checked_text("description", &text, 2000) }
}

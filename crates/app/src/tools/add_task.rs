//! `add_task`: put something on the list.

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{checked_text, task_error};
use store::{Store, Task};

/// Add a task to the user's to-do list.
///
/// Use once for each thing the user wants to remember; several things in one message are several calls.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What is to be done, in the user's own words, 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// Details, if the user gave any, at most 2000 characters.
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
        format!("Added '{}'", self.task.title)
    }
    fn count(&self) -> usize {
        1
    }
}

pub struct AddTask {
    pub store: Store,
}

impl Tool for AddTask {
    const NAME: &'static str = "add_task";
    const TITLE: &'static str = "Add a task";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let title = checked_text("title", &input.title, 200)?;
        let description = description(input.description)?;
        let task = self.store.add_task(&cx.owner, &title, &description, Some(cx.call)).await.map_err(task_error)?;
        Ok(Output { task })
    }
}

fn description(text: Option<String>) -> Result<String, ToolError> {
    match text.filter(|text| !text.trim().is_empty()) {
        None => Ok(String::new()),
        Some(text) => checked_text("description", &text, 2000),
    }
}

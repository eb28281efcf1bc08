//! `list_tasks`: what is on the list?

use engine::{Effect, Report, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{compact, late_database, tool_error};
use crate::services::tasks::{Task, TaskFilter, Tasks};

/// List the user's tasks, oldest first, with the ids the other task tools need.
///
/// Use before completing, changing or deleting a task the user names by title or by position.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Which tasks: all, pending (not done yet) or completed.
    #[serde(default)]
    filter: TaskFilter,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// At most 500, and 512 KiB of texts.
    tasks: Vec<Task>,
    /// Set if there are more; `GET /api/tasks` has pages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_more: bool,
}

/// How many tasks one call lists, and how many bytes of their texts.
const MOST: u32 = 500;
const MOST_BYTES: usize = 512 << 10;

impl Report for Output {
    fn summary(&self) -> String {
        match self.tasks.len() {
            n if self.has_more => format!("The first {n} tasks; there are more"),
            0 => "No tasks".into(),
            1 => "1 task".into(),
            n => format!("{n} tasks"),
        }
    }
    fn count(&self) -> usize {
        self.tasks.len()
    }
}

pub struct ListTasks {
    pub tasks: Tasks,
}

impl Tool for ListTasks {
    const NAME: &'static str = "list_tasks";
    const TITLE: &'static str = "List tasks";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    async fn call(&self, cx: &ToolContext, input: Input) -> Result<Output, ToolError> {
        let (mut tasks, next) = self.tasks.page(&cx.owner, input.filter, MOST, None).await.map_err(tool_error)?;
        let (n_tasks, mut n_bytes) = (tasks.len(), 0);
        let fits = |task: &&Task| {
            n_bytes += task.title.len() + task.description.len();
            n_bytes <= MOST_BYTES
        };
        let n_fitting = tasks.iter().take_while(fits).count();
        tasks.truncate(n_fitting);
        Ok(Output { tasks, has_more: next.is_some() || n_fitting < n_tasks })
    }

    fn for_model(output: &Value) -> Value {
        compact::tasks(output)
    }

    fn late() -> ToolError {
        late_database()
    }
}

//! The output of a tool that changed one task.

use engine::{Report, ToolContext};
use schemars::JsonSchema;
use serde::Serialize;

use crate::services::{tasks::Task, undo::UndoId};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Output")]
pub struct ChangedTask {
    #[serde(flatten)]
    task: Task,
    /// For `POST /api/undo/{id}`.
    #[serde(rename = "undoId")]
    undo_id: UndoId,
    /// What was done, for the summary: "Added".
    #[serde(skip)]
    verb: &'static str,
}

impl ChangedTask {
    pub(super) fn new(verb: &'static str, task: Task, cx: &ToolContext) -> Self {
        Self { task, undo_id: UndoId(cx.call.0), verb }
    }
}

impl Report for ChangedTask {
    fn summary(&self) -> String {
        format!("{} '{}'", self.verb, self.task.title)
    }
    fn count(&self) -> usize {
        1
    }
}

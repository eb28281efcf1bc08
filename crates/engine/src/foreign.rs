//! Tools of others: known only when the process starts, called like our own.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{ToolContext, ToolError, ToolSpec};

/// A tool whose types we do not have. Its deadline is for one attempt, as for any tool.
pub trait ForeignTool: Send + Sync + 'static {
    fn spec(&self) -> &ToolSpec;
    fn deadline(&self) -> Duration;
    fn call<'a>(&'a self, cx: &'a ToolContext, input: &'a Value) -> BoxFuture<'a, Result<ForeignOutput, ToolError>>;
}

pub struct ForeignOutput {
    pub summary: String,
    pub count: usize,
    /// An object.
    pub output: Value,
}

pub(crate) struct Foreign(pub(crate) Arc<dyn ForeignTool>);

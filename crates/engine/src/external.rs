//! Tools of other servers. They are known only at start, and are called like Segue's own tools.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{ToolContext, ToolError, ToolSpec};

/// A tool without Rust types. Its deadline applies to one attempt, as for every tool.
pub trait ExternalTool: Send + Sync + 'static {
    fn spec(&self) -> &ToolSpec;
    fn deadline(&self) -> Duration;
    fn call<'a>(&'a self, cx: &'a ToolContext, input: &'a Value) -> BoxFuture<'a, Result<ExternalOutput, ToolError>>;
}

pub struct ExternalOutput {
    pub summary: String,
    pub count: usize,
    /// An object.
    pub output: Value,
}

pub(crate) struct External(pub(crate) Arc<dyn ExternalTool>);

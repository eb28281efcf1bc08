//! One attempt of a call: a deadline, a stop, and one retry after a transient failure.

use std::time::Duration;

use serde_json::Value;
use tracing::warn;

use super::any_tool::{AnyTool, Reported};
use crate::{Effect, ToolContext, ToolError};

const RETRY_AFTER: Duration = Duration::from_secs(1);
/// A stopped writing tool may still commit its effect. It has this long to report the outcome.
const WRITE_GRACE: Duration = Duration::from_millis(500);

/// Retries once, after one second, and only after a transient failure.
pub(super) async fn attempt_twice(
    tool: &dyn AnyTool,
    cx: &ToolContext,
    input: &Value,
) -> (Result<Reported, ToolError>, bool) {
    let first = attempt(tool, cx, input).await;
    let Err(ToolError::Unavailable { message, .. }) = &first else { return (first, false) };
    warn!(tool.name = &*tool.spec().name, "Tool {} will be retried: {message}", tool.spec().name);
    tokio::select! {
        () = tokio::time::sleep(RETRY_AFTER) => (attempt(tool, cx, input).await, true),
        () = cx.cancel.cancelled() => (Err(interrupted()), false),
    }
}

async fn attempt(tool: &dyn AnyTool, cx: &ToolContext, input: &Value) -> Result<Reported, ToolError> {
    let work = tokio::time::timeout(tool.deadline(), tool.call(cx, input));
    tokio::pin!(work);
    let result = tokio::select! {
        biased;
        result = &mut work => result,
        () = cx.cancel.cancelled(), if tool.spec().effect == Effect::Reads => return Err(interrupted()),
        () = stopped_too_long(cx) => return Err(interrupted()),
    };
    result.unwrap_or_else(|_| Err(tool.late()))
}

async fn stopped_too_long(cx: &ToolContext) {
    cx.cancel.cancelled().await;
    tokio::time::sleep(WRITE_GRACE).await;
}

fn interrupted() -> ToolError {
    ToolError::Refused("Interrupted".into())
}

//! Tools without an agent: list them, and call one.

use engine::{Effect, Failure, Outcome, ToolSpec};
use serde_json::Value;

use super::prelude::*;

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route("/api/tools", get_with(list, |op| op.summary("Every tool with its schemas")))
        .api_route("/api/tools/{name}", post_with(call, |op| op.summary("Call a tool; the body is its input")))
}

#[derive(Serialize, JsonSchema)]
struct ToolList {
    tools: Vec<ToolSpec>,
}

#[derive(Deserialize, JsonSchema)]
struct ToolPath {
    name: String,
}

async fn list(State(state): Shared, _: Caller) -> Json<ToolList> {
    Json(ToolList { tools: state.app.toolbox.specs() })
}

async fn call(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ToolPath>,
    Json(input): Json<Value>,
) -> Result<Response> {
    let Some(effect) = state.app.toolbox.spec(&path.name).map(|spec| spec.effect) else {
        return Err(ApiError::not_found());
    };
    answer(state.app.call_tool(&caller.id, &path.name, input).await?, effect)
}

/// The output of a call, or its failure.
pub(super) fn answer(outcome: Outcome, effect: Effect) -> Result<Response> {
    match outcome {
        Outcome::Done(done) => Ok(Json(&done.output).into_response()),
        Outcome::Failed(failure) => Ok(refusal(&failure, effect)),
    }
}

/// A failed call has the fields of every error and those of a failed tool.
fn refusal(failure: &Failure, effect: Effect) -> Response {
    let error = ApiError::of_call(failure, effect);
    let more = serde_json::json!({
        "retryable": failure.retryable,
        "wasRetried": failure.was_retried,
        "durationMs": failure.duration_ms,
    });
    error.into_response_with(more)
}

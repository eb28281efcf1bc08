//! Tools without an agent: what there is, and one call of one.

use std::sync::Arc;

use aide::axum::routing::{get_with, post_with};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{Effect, Failure, Outcome, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    router::{AppState, Routes},
};

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

async fn list(State(state): State<Arc<AppState>>, _: Caller) -> Json<ToolList> {
    Json(ToolList { tools: state.app.toolbox.specs() })
}

async fn call(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ToolPath>,
    Json(input): Json<Value>,
) -> Result<Response, ApiError> {
    let Some(effect) = state.app.toolbox.spec(&path.name).map(|spec| spec.effect) else {
        return Err(ApiError::not_found());
    };
    answer(state.app.call_tool(&caller.id, &path.name, input).await?, effect)
}

/// The output, or why there is none.
pub(super) fn answer(outcome: Outcome, effect: Effect) -> Result<Response, ApiError> {
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

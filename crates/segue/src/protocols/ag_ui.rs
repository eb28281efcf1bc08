//! AG-UI 1.0, for CopilotKit and other agent front ends.
//!
//! The AG-UI client splits frames only at `\n\n`, expects no `[DONE]`, and rejects `null`.

use std::sync::Arc;

use aide::axum::routing::post_with;
use app::Again;
use axum::{extract::State, response::Response};
use engine::{Event, Failure, Kind, StopReason, UserId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    client_ids::{Chat, start},
    sse::{self, EventStream},
};
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Query},
    router::{AppState, Routes},
};

pub(crate) fn routes() -> Routes {
    Routes::new().api_route(
        "/ag-ui",
        post_with(run, |op| {
            op.summary("Run an agent, for AG-UI clients")
                .description("Answers with AG-UI events. Segue uses its stored history; only the last message of the request is read.")
                .response::<200, EventStream<Value>>()
        }),
    )
}

/// The fields of `RunAgentInput` that Segue reads. State, tools and context of the front end are ignored.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunInput {
    thread_id: String,
    run_id: String,
    messages: Vec<Message>,
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    id: String,
    role: String,
    /// A text, or parts of which the text parts are read.
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize, JsonSchema)]
struct RunQuery {
    /// The `id` of an agent of `GET /api/about`, for a new thread; default: the first one.
    #[serde(default)]
    agent: Option<String>,
}

async fn run(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Query(query): Query<RunQuery>,
    Json(input): Json<RunInput>,
) -> Result<Response, ApiError> {
    let chat = Chat::named(&state.app, &caller.id, &input.thread_id).await?;
    let Some(message) = input.messages.last().filter(|message| message.role == "user") else {
        return Err(ApiError::invalid_field("messages", "must end with a message of the user"));
    };
    let mut ask = chat.ask(text_of(message)?, query.agent);
    ask.client_message_id = Some(chat.message_id(&message.id));
    ask.again = answered_question(&state, &caller.id, &chat, message).await?;
    let (_, events) = start(&state.app, &caller.id, ask).await?;
    let (thread, run) = (input.thread_id, input.run_id);
    Ok(sse::respond(events, move |event, buffer| {
        for frame in encode(&thread, &run, event) {
            sse::write_data(buffer, &frame);
        }
    }))
}

/// A message that already has its answer is asked again, because the protocol has no other request for a new attempt.
/// If the answer is still running, the client only follows it.
async fn answered_question(
    state: &AppState,
    owner: &UserId,
    chat: &Chat,
    message: &Message,
) -> Result<Option<Again>, ApiError> {
    let Some(turn) = chat.turn_of(&state.app, owner, &message.id).await? else { return Ok(None) };
    if state.app.turns.is_running(owner, turn.turn).await? {
        return Ok(None);
    }
    let (question, _) = state.app.conversations().question(owner, chat.id(), Some(turn.message)).await?;
    Ok(Some(Again { question, moves_client_id: true }))
}

fn text_of(message: &Message) -> Result<String, ApiError> {
    match &message.content {
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => parts
            .iter()
            .map(|part| match (part["type"].as_str(), part["text"].as_str()) {
                (Some("text"), Some(text)) => Ok(text),
                _ => Err(ApiError::invalid_field("messages", "must contain only text")),
            })
            .collect::<Result<Vec<_>, _>>()
            .map(|texts| texts.join("\n")),
        _ => Err(ApiError::invalid_field("messages", "must end with a message that has text")),
    }
}

/// Encodes one event as AG-UI events. `thread` and `run` are the client's ids of this turn.
fn encode(thread: &str, run: &str, event: &Event) -> Vec<Value> {
    let text_id = |block: &u32| format!("{run}.{block}");
    match &event.kind {
        Kind::Started { turn, conversation, .. } => vec![json!({
            "type": "RUN_STARTED", "threadId": thread, "runId": run,
            "metadata": {"turnId": turn, "conversationId": conversation},
        })],
        Kind::StepStarted { step, .. } => vec![json!({"type": "STEP_STARTED", "stepName": step_name(*step)})],
        Kind::TextStarted { block } => {
            vec![json!({"type": "TEXT_MESSAGE_START", "messageId": text_id(block), "role": "assistant"})]
        }
        Kind::TextDelta { block, text } => {
            vec![json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": text_id(block), "delta": text})]
        }
        Kind::TextDone { block, .. } => vec![json!({"type": "TEXT_MESSAGE_END", "messageId": text_id(block)})],
        Kind::Reasoned { text } => reasoning(&format!("{run}.reasoning-{}", event.seq), text),
        Kind::Reading { n_read, n_total } => vec![json!({
            "type": "CUSTOM", "name": "reading", "value": {"tokensRead": n_read, "tokensTotal": n_total},
        })],
        Kind::ToolStarted { call, name, input, .. } => vec![
            json!({"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": name}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": input.to_string()}),
            json!({"type": "TOOL_CALL_END", "toolCallId": call}),
        ],
        Kind::ToolDone { call, done, .. } => vec![json!({
            "type": "TOOL_CALL_RESULT", "messageId": format!("{call}.result"), "toolCallId": call, "role": "tool",
            "content": done.output.to_string(),
        })],
        // The event has no field for a failure, so the failure is the text, and the metadata marks it.
        Kind::ToolFailed { call, failure, .. } => vec![json!({
            "type": "TOOL_CALL_RESULT", "messageId": format!("{call}.result"), "toolCallId": call, "role": "tool",
            "content": failure.error, "metadata": failure_metadata(failure),
        })],
        Kind::Replied { .. } | Kind::TakenOver { .. } => Vec::new(),
        Kind::StepDone { step, .. } => vec![json!({"type": "STEP_FINISHED", "stepName": step_name(*step)})],
        Kind::Ended { usage, stop, .. } => vec![json!({
            "type": "RUN_FINISHED", "threadId": thread, "runId": run, "outcome": {"type": outcome(*stop)},
            "usage": [{"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}],
        })],
        Kind::Failed { code, message, .. } => vec![json!({"type": "RUN_ERROR", "message": message, "code": code})],
    }
}

/// A piece of reasoning is a message of its own: it is complete in one event.
fn reasoning(id: &str, text: &str) -> Vec<Value> {
    vec![
        json!({"type": "REASONING_START", "messageId": id}),
        json!({"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}),
        json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": text}),
        json!({"type": "REASONING_MESSAGE_END", "messageId": id}),
        json!({"type": "REASONING_END", "messageId": id}),
    ]
}

fn step_name(step: u32) -> String {
    format!("step-{step}")
}

fn outcome(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Stopped => "cancelled",
        StopReason::Complete | StopReason::MaxSteps => "success",
    }
}

fn failure_metadata(failure: &Failure) -> Value {
    let mut metadata = json!({"isError": true, "retryable": failure.retryable});
    if let Some(id) = failure.consent_id {
        metadata["consentId"] = json!(id);
    }
    metadata
}

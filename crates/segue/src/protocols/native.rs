//! The native protocol: start a turn, follow it from any event, stop it.

use std::sync::Arc;

use aide::axum::routing::{get_with, post_with};
use app::{Again, Ask, MessageText, turns::Events};
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use engine::{ConversationId, Event, Failure, FailureCode, Kind, MessageId, Notice, StopReason, TurnId, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sse::{self, EventStream};
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path, Query},
    openapi,
    router::{AppState, Routes},
};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/chat/stream",
            post_with(chat, |op| {
                op.summary("Send a message and stream the answer").response::<200, EventStream<Frame<'static>>>()
            }),
        )
        .api_route(
            "/api/turns/{turn_id}/stream",
            get_with(follow, |op| {
                op.summary("Stream a turn, from any event on").response::<200, EventStream<Frame<'static>>>()
            }),
        )
        .api_route("/api/turns/{turn_id}/stop", post_with(stop, |op| op.summary("Stop a turn").response::<202, ()>()))
        .api_route(
            "/api/conversations/{conversation_id}/stream",
            get_with(follow_conversation, |op| {
                op.summary("Stream the running turn of a conversation; 204 if none is running")
                    .tag(openapi::CONVERSATIONS)
                    .response::<200, EventStream<Frame<'static>>>()
                    .response::<204, ()>()
            }),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChatRequest {
    message: MessageText,
    #[serde(default)]
    conversation_id: Option<ConversationId>,
    /// The `id` of an agent of `GET /api/about`, for a new conversation; default: the first one.
    #[serde(default)]
    agent: Option<String>,
    /// A model of the list in the settings, for this message and later ones of the conversation.
    #[serde(default)]
    model: Option<String>,
    /// The id of an earlier question of this conversation, which is asked again with the text `message`. Another text
    /// adds a sibling question, the same text another answer. The earlier messages stay on their own branch.
    #[serde(default)]
    edit_of: Option<MessageId>,
    /// Makes a repeated request safe: the same id attaches to the existing turn.
    #[serde(default)]
    client_message_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct After {
    /// Only events after this one.
    #[serde(default)]
    after: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
struct TurnPath {
    turn_id: TurnId,
}

#[derive(Deserialize, JsonSchema)]
struct ConversationPath {
    conversation_id: ConversationId,
}

async fn chat(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Json(request): Json<ChatRequest>,
) -> Result<Response, ApiError> {
    let ask = Ask {
        text: request.message.into_string(),
        conversation: request.conversation_id,
        agent: request.agent,
        model: request.model,
        client_message_id: request.client_message_id,
        again: request.edit_of.map(|question| Again { question, moves_client_id: false }),
        ..Ask::default()
    };
    let started = state.app.converse(&caller.id, ask).await?;
    let events = state.app.turns.follow_started(&caller.id, &started).await?;
    Ok(stream(events))
}

async fn follow(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<TurnPath>,
    Query(query): Query<After>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let last_seen = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    // No turn has so many events, and adding one must not overflow.
    let after = query.after.or(last_seen).unwrap_or(0).min(u32::MAX - 1);
    let events = state.app.turns.follow(&caller.id, path.turn_id, after).await?;
    Ok(stream_with_ids(events))
}

async fn follow_conversation(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ConversationPath>,
) -> Result<Response, ApiError> {
    let app = &state.app;
    app.conversations().get(&caller.id, path.conversation_id).await?;
    let Some(turn) = app.turns.running_in(&caller.id, path.conversation_id).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    Ok(stream_with_ids(app.turns.follow(&caller.id, turn, 0).await?))
}

async fn stop(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<TurnPath>,
) -> Result<StatusCode, ApiError> {
    state.app.turns.stop(&caller.id, path.turn_id).await?;
    Ok(StatusCode::ACCEPTED)
}

pub(crate) fn stream(events: Events) -> Response {
    sse::respond(events, |event, buffer| {
        if let Some(frame) = encode(event) {
            sse::write_data(buffer, &frame);
        }
    })
}

fn stream_with_ids(events: Events) -> Response {
    sse::respond(events, |event, buffer| {
        if let Some(frame) = encode(event) {
            buffer.extend_from_slice(format!("id: {}\n", event.seq).as_bytes());
            sse::write_data(buffer, &frame);
        }
    })
}

/// Encodes one event. Events that only delimit steps and blocks have no frame.
pub fn encode(event: &Event) -> Option<Frame<'_>> {
    let seq = event.seq;
    Some(match &event.kind {
        Kind::Started { turn, conversation, message } => {
            Frame::MessageStart { seq, message_id: *message, conversation_id: *conversation, turn_id: *turn }
        }
        Kind::TextDelta { text, .. } => Frame::TextDelta { seq, content: text },
        Kind::Reasoned { text } => Frame::Reasoning { seq, content: text },
        Kind::Reading { n_read, n_total } => Frame::Reading { seq, tokens_read: *n_read, tokens_total: *n_total },
        Kind::ToolStarted { call, name, title, input } => {
            Frame::ToolCallStart { seq, tool_call_id: *call, tool_name: name, title: Some(title), input }
        }
        Kind::ToolDone { call, done, .. } => Frame::ToolCallEnd {
            seq,
            tool_call_id: *call,
            summary: &done.summary,
            result_count: done.count,
            duration_ms: done.duration_ms,
            output: (done.count > 0).then_some(&*done.output),
        },
        Kind::ToolFailed { call, failure, .. } => Frame::ToolCallError { seq, tool_call_id: *call, failure },
        Kind::Ended { usage, stop, notices, cost_usd } => {
            Frame::MessageEnd { seq, usage: UsageFrame::from(usage), stop_reason: *stop, notices, cost_usd: *cost_usd }
        }
        Kind::Failed { code, message, retryable } => Frame::Error { seq, code: *code, message, retryable: *retryable },
        Kind::StepStarted { .. }
        | Kind::TextStarted { .. }
        | Kind::TextDone { .. }
        | Kind::Replied { .. }
        | Kind::TakenOver { .. }
        | Kind::StepDone { .. } => {
            return None;
        }
    })
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Frame<'a> {
    MessageStart {
        seq: u32,
        message_id: MessageId,
        conversation_id: ConversationId,
        turn_id: TurnId,
    },
    TextDelta {
        seq: u32,
        content: &'a str,
    },
    /// A piece of the model's reasoning. Consecutive pieces are joined as they are; the message contains them as one block
    /// `reasoning`. It is no part of the answer's text.
    Reasoning {
        seq: u32,
        content: &'a str,
    },
    /// The model's server is still reading the prompt. Only servers that report it, such as llama.cpp, lead to this event.
    Reading {
        seq: u32,
        tokens_read: u32,
        tokens_total: u32,
    },
    ToolCallStart {
        seq: u32,
        tool_call_id: engine::CallId,
        tool_name: &'a str,
        /// The tool's name for users.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        input: &'a Value,
    },
    ToolCallEnd {
        seq: u32,
        tool_call_id: engine::CallId,
        summary: &'a str,
        result_count: usize,
        duration_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<&'a Value>,
    },
    ToolCallError {
        seq: u32,
        tool_call_id: engine::CallId,
        #[serde(flatten)]
        failure: &'a Failure,
    },
    MessageEnd {
        seq: u32,
        usage: UsageFrame,
        stop_reason: StopReason,
        /// Notes about the answer for the user, e.g. `UNCONFIRMED_CLAIM`.
        #[serde(skip_serializing_if = "<[Notice]>::is_empty")]
        notices: &'a [Notice],
        /// The cost of the answer in US dollars, if the settings contain the model's price.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
    },
    Error {
        seq: u32,
        code: FailureCode,
        message: &'a str,
        retryable: bool,
    },
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageFrame {
    input_tokens: u64,
    output_tokens: u64,
}

impl From<&Usage> for UsageFrame {
    fn from(usage: &Usage) -> Self {
        Self { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens }
    }
}

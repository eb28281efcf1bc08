//! The Vercel AI SDK: `useChat` with its UI message stream.
//!
//! Segue sends only chunks that version 5 of the `ai` package supports, so that later versions can read them too. A
//! field without a value is omitted, because the package rejects `null`.

use std::sync::Arc;

use aide::axum::routing::{get_with, post_with};
use app::{Again, Ask, turns::Events};
use axum::{
    extract::State,
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use engine::{Event, Kind, MessageId, StopReason, UserId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    client_ids::{Chat, own_message, start},
    sse::{self, EventStream},
};
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    router::{AppState, Routes},
};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .api_route(
            "/api/ai/chat",
            post_with(chat, |op| {
                op.summary("Send a message, for useChat of the Vercel AI SDK").description(
                    "Answers with the UI message stream. Segue uses its stored history; only the last message of the request is read.",
                )
            }),
        )
        .api_route(
            "/api/ai/chat/{id}/stream",
            get_with(resume, |op| {
                op.summary("Resume a running answer, for useChat; 204 if no answer is running")
                    .description("A full replay of the UI message stream from its start.")
                    .response::<200, EventStream<Value>>()
                    .response::<204, ()>()
            }),
        )
}

/// The request of `DefaultChatTransport`. Front ends add their own fields, so unknown fields are accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChatRequest {
    /// The chat: a conversation id of Segue, or any id that the front end chose.
    id: String,
    /// The chat as the front end sees it, or
    #[serde(default)]
    messages: Vec<UiMessage>,
    /// only the new message.
    #[serde(default)]
    message: Option<UiMessage>,
    #[serde(default)]
    trigger: Trigger,
    /// The message that is edited or regenerated.
    #[serde(default)]
    message_id: Option<String>,
    /// The `id` of an agent of `GET /api/about`, for a new chat; default: the first one.
    #[serde(default)]
    agent: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Trigger {
    #[default]
    SubmitMessage,
    RegenerateMessage,
}

#[derive(Deserialize, JsonSchema)]
struct UiMessage {
    id: String,
    role: String,
    parts: Vec<Part>,
}

#[derive(Deserialize, JsonSchema)]
struct Part {
    r#type: String,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct ChatPath {
    id: String,
}

async fn chat(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Json(request): Json<ChatRequest>,
) -> Result<Response, ApiError> {
    let chat = Chat::named(&state.app, &caller.id, &request.id).await?;
    let ask = match request.trigger {
        Trigger::SubmitMessage => submitted(&state, &caller.id, &chat, &request).await?,
        Trigger::RegenerateMessage => regenerated(&state, &caller.id, &chat, &request).await?,
    };
    let (_, events) = start(&state.app, &caller.id, ask).await?;
    Ok(stream(events))
}

async fn resume(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ChatPath>,
) -> Result<Response, ApiError> {
    let app = &state.app;
    let Chat::Known(conversation) = Chat::named(app, &caller.id, &path.id).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let Some(turn) = app.turns.running_in(&caller.id, conversation).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    Ok(stream(app.turns.follow(&caller.id, turn, 0).await?))
}

/// A new message, the same message again, or (with `messageId`) an edited earlier message.
async fn submitted(state: &AppState, owner: &UserId, chat: &Chat, request: &ChatRequest) -> Result<Ask, ApiError> {
    let Some(message) = request.message.as_ref().or(request.messages.last()).filter(|message| message.role == "user")
    else {
        return Err(ApiError::invalid_field("messages", "must end with a message of the user"));
    };
    let mut ask = chat.ask(text_of(message)?, request.agent.clone());
    ask.client_message_id = Some(chat.message_id(&message.id));
    if request.message_id.is_some() {
        ask.again = question_named(state, owner, chat, &message.id).await?.map(again);
    }
    Ok(ask)
}

/// The same question again. The front end has removed the later messages, so the question is the last one.
async fn regenerated(state: &AppState, owner: &UserId, chat: &Chat, request: &ChatRequest) -> Result<Ask, ApiError> {
    let last_user = request.messages.iter().rev().find(|message| message.role == "user");
    let named = match last_user {
        Some(message) => question_named(state, owner, chat, &message.id).await?,
        None => None,
    };
    let answer = named.or_else(|| request.message_id.as_deref().and_then(own_message));
    let (question, text) = state.app.conversations().question(owner, chat.id(), answer).await?;
    let mut ask = chat.ask(text, None);
    ask.again = Some(again(question));
    ask.client_message_id = last_user.map(|message| chat.message_id(&message.id));
    Ok(ask)
}

/// The question that a message id of the front end refers to: the front end sent the message or loaded it from Segue.
async fn question_named(
    state: &AppState,
    owner: &UserId,
    chat: &Chat,
    name: &str,
) -> Result<Option<MessageId>, ApiError> {
    let answer = match chat.turn_of(&state.app, owner, name).await? {
        Some(turn) => Some(turn.message),
        None => own_message(name),
    };
    let Some(answer) = answer else { return Ok(None) };
    Ok(Some(state.app.conversations().question(owner, chat.id(), Some(answer)).await?.0))
}

/// The front end's id belongs to the question, so it moves to the turn that answers it now.
fn again(question: MessageId) -> Again {
    Again { question, moves_client_id: true }
}

fn text_of(message: &UiMessage) -> Result<String, ApiError> {
    if message.parts.iter().any(|part| part.r#type == "file") {
        return Err(ApiError::invalid_field("messages", "must contain only text; files cannot be sent"));
    }
    let texts = message.parts.iter().filter(|part| part.r#type == "text").filter_map(|part| part.text.as_deref());
    Ok(texts.collect::<Vec<_>>().join("\n"))
}

fn stream(events: Events) -> Response {
    let mut response = sse::respond(events, |event, buffer| {
        for chunk in encode(event) {
            sse::write_data(buffer, &chunk);
        }
        if event.kind.is_last() {
            buffer.extend_from_slice(b"data: [DONE]\n\n");
        }
    });
    response.headers_mut().insert("x-vercel-ai-ui-message-stream", HeaderValue::from_static("v1"));
    response
}

/// Encodes one event as AI SDK chunks.
fn encode(event: &Event) -> Vec<Value> {
    match &event.kind {
        Kind::Started { turn, conversation, message } => vec![json!({
            "type": "start",
            "messageId": message,
            // The ids that the stop button and Segue's own API need.
            "messageMetadata": {"turnId": turn, "conversationId": conversation},
        })],
        Kind::StepStarted { .. } => vec![json!({"type": "start-step"})],
        Kind::TextStarted { block } => vec![json!({"type": "text-start", "id": block.to_string()})],
        Kind::TextDelta { block, text } => {
            vec![json!({"type": "text-delta", "id": block.to_string(), "delta": text})]
        }
        Kind::TextDone { block, .. } => vec![json!({"type": "text-end", "id": block.to_string()})],
        Kind::Reasoned { text } => reasoning(&format!("reasoning-{}", event.seq), text),
        // Transient: it reaches `onData` and is no part of the message.
        Kind::Reading { n_read, n_total } => vec![json!({"type": "data-reading", "transient": true,
            "data": {"tokensRead": n_read, "tokensTotal": n_total}})],
        // Segue executes the tool: the front end must neither call it nor send its result back.
        Kind::ToolStarted { call, name, input, .. } => vec![
            json!({"type": "tool-input-start", "toolCallId": call, "toolName": name,
                   "providerExecuted": true, "dynamic": true}),
            json!({"type": "tool-input-available", "toolCallId": call, "toolName": name, "input": input,
                   "providerExecuted": true, "dynamic": true}),
        ],
        Kind::ToolDone { call, done, .. } => vec![json!({"type": "tool-output-available", "toolCallId": call,
            "output": done.output, "providerExecuted": true, "dynamic": true})],
        Kind::ToolFailed { call, name, failure } => {
            let error = json!({"type": "tool-output-error", "toolCallId": call,
                "errorText": failure.error, "providerExecuted": true, "dynamic": true});
            let consent = failure.consent_id.map(|id| {
                json!({"type": "data-consent", "id": id, "data": {"consentId": id, "toolCallId": call, "toolName": name}})
            });
            [error].into_iter().chain(consent).collect()
        }
        Kind::Replied { .. } | Kind::TakenOver { .. } => Vec::new(),
        Kind::StepDone { .. } => vec![json!({"type": "finish-step"})],
        Kind::Ended { stop: StopReason::Stopped, .. } => vec![json!({"type": "abort"})],
        Kind::Ended { stop: StopReason::Complete | StopReason::MaxSteps, usage, .. } => vec![json!({
            "type": "finish",
            "messageMetadata": {"usage": {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}},
        })],
        Kind::Failed { message, .. } => vec![json!({"type": "error", "errorText": message})],
    }
}

/// A piece of reasoning is a part of its own: it is complete in one event.
fn reasoning(id: &str, text: &str) -> Vec<Value> {
    vec![
        json!({"type": "reasoning-start", "id": id}),
        json!({"type": "reasoning-delta", "id": id, "delta": text}),
        json!({"type": "reasoning-end", "id": id}),
    ]
}

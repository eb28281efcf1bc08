//! `POST /api/{user_id}/chat`: the Tasks agent for one named user, as a stream or as one JSON answer.

use std::sync::Arc;

use aide::axum::routing::post_with;
use app::Ask;
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use engine::{CallId, ConversationId, Event, Kind, MessageId};
use futures::StreamExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::native;
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    router::{AppState, Routes},
};

pub(crate) fn routes() -> Routes {
    Routes::new().api_route(
        "/api/{user_id}/chat",
        post_with(chat, |op| {
            op.summary("Send a message to the Tasks agent").response::<200, Json<Answer>>().description(
                "With `Accept: text/event-stream`, the native stream. Otherwise one JSON answer after the end of the turn.",
            )
        }),
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Request {
    message: String,
    #[serde(default)]
    conversation_id: Option<ConversationId>,
}

#[derive(Deserialize, JsonSchema)]
struct UserPath {
    user_id: String,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    conversation_id: ConversationId,
    message_id: MessageId,
    response: String,
    tool_calls: Vec<ToolCall>,
}

#[derive(Serialize, JsonSchema)]
struct ToolCall {
    id: CallId,
    tool_name: String,
    parameters: Value,
    result: Value,
}

async fn chat(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<UserPath>,
    headers: HeaderMap,
    Json(request): Json<Request>,
) -> Result<Response, ApiError> {
    if path.user_id != caller.id.as_str() {
        return Err(ApiError::forbidden("The path names another user."));
    }
    if let Some(id) = request.conversation_id {
        // Only conversations of the Tasks agent are available here.
        let conversation = state.app.conversations().get(&caller.id, id).await?;
        if conversation.agent != "tasks" {
            return Err(ApiError::not_found());
        }
    }
    let ask = Ask {
        text: request.message,
        conversation: request.conversation_id,
        agent: Some("tasks".into()),
        ..Ask::default()
    };
    let started = state.app.converse(&caller.id, ask).await?;
    let events = state.app.turns.follow_started(&caller.id, &started).await?;
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("text/event-stream") {
        return Ok(native::stream(events));
    }
    let events: Vec<_> = events.collect::<Vec<_>>().await.into_iter().flatten().collect();
    let mut answer = Answer {
        conversation_id: started.conversation,
        message_id: started.message,
        response: String::new(),
        tool_calls: Vec::new(),
    };
    for event in &events {
        answer.add(event)?;
    }
    if !events.last().is_some_and(|event| event.kind.is_last()) {
        // This node released the turn; another node finishes it.
        let message = "The answer is still running. Please read the conversation again in a moment.";
        return Err(ApiError::of_turn(engine::FailureCode::Interrupted, message));
    }
    Ok(Json(answer).into_response())
}

impl Answer {
    /// Adds one event. A failed turn is an error, not an answer.
    fn add(&mut self, event: &Event) -> Result<(), ApiError> {
        match &event.kind {
            Kind::TextDone { text, .. } if self.response.is_empty() => self.response.clone_from(text),
            Kind::TextDone { text, .. } => self.response = format!("{}\n\n{text}", self.response),
            Kind::ToolStarted { call, name, input, .. } => self.tool_calls.push(ToolCall {
                id: *call,
                tool_name: name.clone(),
                parameters: input.as_ref().clone(),
                result: Value::Null,
            }),
            Kind::ToolDone { call, done, .. } => self.set_result(*call, Value::clone(&done.output)),
            Kind::ToolFailed { call, failure, .. } => {
                self.set_result(*call, serde_json::to_value(failure).expect("a failure is plain data"));
            }
            Kind::Failed { code, message, .. } => return Err(ApiError::of_turn(*code, message)),
            Kind::Started { .. }
            | Kind::StepStarted { .. }
            | Kind::TextStarted { .. }
            | Kind::TextDelta { .. }
            | Kind::Reasoned { .. }
            | Kind::Reading { .. }
            | Kind::Replied { .. }
            | Kind::TakenOver { .. }
            | Kind::StepDone { .. }
            | Kind::Ended { .. } => {}
        }
        Ok(())
    }

    fn set_result(&mut self, call: CallId, result: Value) {
        if let Some(found) = self.tool_calls.iter_mut().find(|found| found.id == call) {
            found.result = result;
        }
    }
}

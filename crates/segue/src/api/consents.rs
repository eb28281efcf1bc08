//! Consents: a person's decision about a call that waits for them.

use std::sync::Arc;

use aide::axum::routing::post_with;
use app::services::consents::Decision;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::{ConversationId, MessageId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path},
    protocols::native,
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new().api_route(
        "/api/consents/{consent_id}",
        post_with(decide, |op| {
            op.summary("Decide about a call that waits for your consent")
                .description(
                    "`once` and `conversation` start a turn that makes exactly this call: 202 with its ids, or the native \
                     stream with `Accept: text/event-stream`. `refuse` answers 204. A question is answered once (409).",
                )
                .response::<202, Json<Started>>()
        }),
    )
}

#[derive(Deserialize, JsonSchema)]
struct ConsentPath {
    consent_id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Decide {
    decision: Decision,
}

/// The turn that makes the call.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Started {
    conversation_id: ConversationId,
    message_id: MessageId,
    turn_id: TurnId,
}

async fn decide(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ConsentPath>,
    headers: HeaderMap,
    Json(request): Json<Decide>,
) -> Result<Response, ApiError> {
    let Some(started) = state.app.decide(&caller.id, path.consent_id, request.decision).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("text/event-stream") {
        return Ok(native::stream(state.app.turns.follow_started(&caller.id, &started).await?));
    }
    let started = Started { conversation_id: started.conversation, message_id: started.message, turn_id: started.turn };
    Ok((StatusCode::ACCEPTED, Json(started)).into_response())
}

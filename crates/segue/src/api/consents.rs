//! Consents: the user's decision about a tool call that waits for it.

use app::services::consents::Decision;
use axum::http::HeaderMap;
use engine::{ConversationId, MessageId, TurnId};

use super::prelude::*;
use crate::protocols::native;

pub(super) fn routes() -> Routes {
    Routes::new().api_route(
        "/api/consents/{consent_id}",
        post_with(decide, |op| {
            op.summary("Decide about a call that waits for your consent")
                .description(
                    "`once` and `conversation` start a turn that makes exactly this call: 202 with its ids, or the native \
                     stream with `Accept: text/event-stream`. `refuse` answers 204. A second decision about the same call gets 409.",
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
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ConsentPath>,
    headers: HeaderMap,
    Json(request): Json<Decide>,
) -> Result<Response> {
    let Some(started) = state.app.consents().decide(&caller.id, path.consent_id, request.decision).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("text/event-stream") {
        return Ok(native::stream(state.app.turns.follow_started(&caller.id, &started).await?));
    }
    let started = Started { conversation_id: started.conversation, message_id: started.message, turn_id: started.turn };
    Ok((StatusCode::ACCEPTED, Json(started)).into_response())
}

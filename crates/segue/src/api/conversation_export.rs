//! One conversation as a file: Markdown to read, JSON with every branch for programs. Streamed, as it may be long.

use std::{pin::Pin, sync::Arc};

use aide::axum::routing::get_with;
use axum::{
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use engine::ConversationId;
use futures::{Stream, StreamExt, stream};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Path, Query},
    router::{AppState, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new().api_route(
        "/api/conversations/{conversation_id}/export",
        get_with(export, |op| {
            op.summary("One conversation as a file").description(
                "`markdown`: the branch that is shown. `json`: every branch, with `parentId` and `branch`.",
            )
        }),
    )
}

#[derive(Deserialize, JsonSchema)]
struct ConversationPath {
    conversation_id: ConversationId,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    #[serde(default)]
    format: Format,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Markdown,
}

type Pieces = Pin<Box<dyn Stream<Item = Result<String, app::Error>> + Send>>;

async fn export(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Path(path): Path<ConversationPath>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let conversations = state.app.conversations();
    let conversation = conversations.get(&caller.id, path.conversation_id).await?;
    let (mut pieces, media_type, disposition): (Pieces, _, _) = match query.format {
        Format::Json => (
            Box::pin(conversations.json(&caller.id, conversation)),
            "application/json",
            "attachment; filename=\"conversation.json\"",
        ),
        Format::Markdown => (
            Box::pin(conversations.markdown(&caller.id, conversation)),
            "text/markdown; charset=utf-8",
            "attachment; filename=\"conversation.md\"",
        ),
    };
    // The first piece here: a database that does not answer is a status, not a cut body.
    let first = pieces.next().await.transpose()?.unwrap_or_default();
    let body = Body::from_stream(stream::iter([Ok(first)]).chain(pieces));
    Ok(([(header::CONTENT_TYPE, media_type), (header::CONTENT_DISPOSITION, disposition)], body).into_response())
}

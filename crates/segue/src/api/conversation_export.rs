//! One conversation as a file: Markdown to read, JSON with every branch for programs. Streamed, as it may be long.

use std::pin::Pin;

use axum::body::Body;
use futures::{Stream, StreamExt, stream};

use super::{conversations::ConversationPath, prelude::*};

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
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ConversationPath>,
    Query(query): Query<ExportQuery>,
) -> Result<Response> {
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
    // The first piece is read before the response starts: an error of the database becomes a status, not a cut body.
    let first = pieces.next().await.transpose()?.unwrap_or_default();
    let body = Body::from_stream(stream::iter([Ok(first)]).chain(pieces));
    Ok(([(header::CONTENT_TYPE, media_type), (header::CONTENT_DISPOSITION, disposition)], body).into_response())
}

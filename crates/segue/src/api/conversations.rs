//! Conversations: list, search, open, rename, delete, restore.

use std::sync::Arc;

use aide::axum::routing::{get_with, post_with};
use app::store::{Conversation, StoredMessage};
use axum::{Json, extract::State, http::StatusCode};
use engine::ConversationId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Body, Named, Params},
    router::{Doors, Routes},
};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route("/api/conversations", get_with(list, |op| op.summary("Your conversations, newest first")))
        .api_route(
            "/api/conversations/{conversation_id}",
            get_with(open, |op| op.summary("One conversation with its messages"))
                .patch_with(rename, |op| op.summary("Rename a conversation"))
                .delete_with(delete, |op| op.summary("Delete a conversation; refused while a turn runs")),
        )
        .api_route(
            "/api/conversations/{conversation_id}/restore",
            post_with(restore, |op| op.summary("Undo a deletion")),
        )
}

/// Messages of one conversation that a page shows at once.
const MAX_MESSAGES: u32 = 1000;
const MAX_TITLE_CHARS: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// 1 to 100, default 30.
    #[serde(default)]
    limit: Option<u32>,
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<ConversationId>,
    /// Words in titles or texts.
    #[serde(default)]
    q: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ConversationList {
    conversations: Vec<Conversation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<uuid::Uuid>,
}

#[derive(Deserialize, JsonSchema)]
struct ConversationPath {
    conversation_id: ConversationId,
}

#[derive(Serialize, JsonSchema)]
struct OpenConversation {
    #[serde(flatten)]
    conversation: Conversation,
    messages: Vec<StoredMessage>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rename {
    title: String,
}

async fn list(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<ConversationList>, ApiError> {
    let limit = query.limit.unwrap_or(30);
    if !(1..=100).contains(&limit) {
        return Err(ApiError::invalid_field("limit", "must be between 1 and 100"));
    }
    let words = query.q.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let page = doors.app.store.conversations(&caller.id, words, query.before, limit).await?;
    Ok(Json(ConversationList { conversations: page.conversations, next: page.next }))
}

async fn open(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<ConversationPath>,
) -> Result<Json<OpenConversation>, ApiError> {
    let store = &doors.app.store;
    let conversation = store.conversation(&caller.id, path.conversation_id).await?;
    let messages = store.messages(&caller.id, path.conversation_id, MAX_MESSAGES).await?;
    Ok(Json(OpenConversation { conversation, messages }))
}

async fn rename(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<ConversationPath>,
    Body(body): Body<Rename>,
) -> Result<Json<Conversation>, ApiError> {
    let title = body.title.trim();
    if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
        return Err(ApiError::invalid_field("title", format!("must have 1 to {MAX_TITLE_CHARS} characters")));
    }
    Ok(Json(doors.app.store.rename_conversation(&caller.id, path.conversation_id, title).await?))
}

async fn delete(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<ConversationPath>,
) -> Result<StatusCode, ApiError> {
    doors.app.store.delete_conversation(&caller.id, path.conversation_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Named(path): Named<ConversationPath>,
) -> Result<Json<Conversation>, ApiError> {
    Ok(Json(doors.app.store.restore_conversation(&caller.id, path.conversation_id).await?))
}

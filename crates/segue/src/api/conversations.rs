//! Conversations: list, search, open, choose a branch, rename, pin, delete, restore.

use app::{
    Count,
    services::conversations::{Age, ConsentLine, Conversation, ConversationChange, StoredMessage},
};
use engine::{ConversationId, MessageId};

use super::{page::PageLimit, prelude::*};

pub(super) fn routes() -> Routes {
    Routes::new()
        .api_route("/api/conversations", get_with(list, |op| op.summary("Your conversations: pinned ones first, then the newest")))
        .api_route(
            "/api/conversations/{conversation_id}",
            get_with(open, |op| op.summary("One conversation with the messages of the branch that is shown"))
                .patch_with(change, |op| op.summary("Rename, pin or unpin a conversation, or choose its model"))
                .delete_with(delete, |op| op.summary("Delete a conversation; refused while a turn runs")),
        )
        .api_route(
            "/api/conversations/{conversation_id}/branch",
            put_with(choose, |op| {
                op.summary("Show another branch").description(
                    "Shows the branch of `messageId` to its newest message. The choice is stored with the conversation, so \
                     that every client shows the same branch. The response is that of opening the conversation; 409 \
                     while a turn runs.",
                )
            }),
        )
        .api_route(
            "/api/conversations/{conversation_id}/restore",
            post_with(restore, |op| op.summary("Undo a deletion")),
        )
}

/// The number of messages without `limit` and `cursor`, for clients that do not page.
const UNPAGED_MESSAGES: u32 = 1000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    #[serde(default)]
    limit: Count<1, 100, 30>,
    /// The `next` of the previous page.
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
pub(super) struct ConversationPath {
    pub(super) conversation_id: ConversationId,
}

#[derive(Serialize, JsonSchema)]
struct OpenConversation {
    #[serde(flatten)]
    conversation: Conversation,
    /// Oldest first.
    messages: Vec<StoredMessage>,
    /// The `cursor` of the page with the messages before these; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<MessageId>,
    /// Calls that wait or waited for your consent; see `POST /api/consents/{consent_id}`.
    consents: Vec<ConsentLine>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Branch {
    /// A message of this conversation: one of the `siblings` of a message.
    message_id: MessageId,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MessageQuery {
    /// Without `limit` and `cursor`, the newest 1000 messages.
    #[serde(default)]
    limit: Option<PageLimit>,
    /// The `next` of the previous page.
    #[serde(default)]
    cursor: Option<MessageId>,
}

impl MessageQuery {
    fn limit(&self) -> Result<u32> {
        match (self.limit, self.cursor) {
            (None, None) => Ok(UNPAGED_MESSAGES),
            (limit, _) => Ok(limit.unwrap_or_default().checked("limit")?),
        }
    }
}

async fn list(State(state): Shared, caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<ConversationList>> {
    let limit = query.limit.checked("limit")?;
    let page = state.app.conversations().list(&caller.id, query.q.as_deref(), query.before, limit).await?;
    Ok(Json(ConversationList { conversations: page.conversations, next: page.next }))
}

async fn open(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ConversationPath>,
    Query(query): Query<MessageQuery>,
) -> Result<Json<OpenConversation>> {
    Ok(Json(opened(&state, &caller, path.conversation_id, &query).await?))
}

async fn opened(
    state: &AppState,
    caller: &Caller,
    id: ConversationId,
    query: &MessageQuery,
) -> Result<OpenConversation> {
    let limit = query.limit()?;
    let conversations = state.app.conversations();
    let conversation = conversations.get(&caller.id, id).await?;
    let page = conversations.messages(&caller.id, id, Age::NewestFirst, query.cursor, limit).await?;
    // The message that a cursor names is on its page, so an empty page means that there is no such message.
    if query.cursor.is_some() && page.messages.is_empty() {
        return Err(ApiError::invalid_field("cursor", "is not a message of this conversation"));
    }
    let messages = page.messages.into_iter().rev().collect();
    let consents = conversations.consents(&caller.id, id).await?;
    Ok(OpenConversation { conversation, messages, next: page.next, consents })
}

async fn choose(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ConversationPath>,
    Json(body): Json<Branch>,
) -> Result<Json<OpenConversation>> {
    state.app.conversations().choose_branch(&caller.id, path.conversation_id, body.message_id).await?;
    Ok(Json(opened(&state, &caller, path.conversation_id, &MessageQuery::default()).await?))
}

async fn change(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ConversationPath>,
    Json(body): Json<ConversationChange>,
) -> Result<Json<Conversation>> {
    Ok(Json(state.app.conversations().change(&caller.id, path.conversation_id, body).await?))
}

async fn delete(State(state): Shared, caller: Caller, Path(path): Path<ConversationPath>) -> Result<StatusCode> {
    state.app.conversations().delete(&caller.id, path.conversation_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn restore(
    State(state): Shared,
    caller: Caller,
    Path(path): Path<ConversationPath>,
) -> Result<Json<Conversation>> {
    Ok(Json(state.app.conversations().restore(&caller.id, path.conversation_id).await?))
}

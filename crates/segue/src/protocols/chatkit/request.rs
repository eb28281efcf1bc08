//! The requests of ChatKit's client: one endpoint, sixteen requests.

use app::services::conversations::{Age, Feedback};
use engine::{ConversationId, MessageId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{MAX_PAGE, PAGE};
use crate::{error::ApiError, protocols::client_ids::own_message};

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", content = "params")]
pub(super) enum Request {
    #[serde(rename = "threads.create")]
    Create { input: UserInput },
    #[serde(rename = "threads.add_user_message")]
    AddUserMessage { thread_id: ObjectId, input: UserInput },
    #[serde(rename = "threads.retry_after_item")]
    RetryAfterItem { thread_id: ObjectId, item_id: ObjectId },
    #[serde(rename = "threads.get_by_id")]
    GetById { thread_id: ObjectId },
    #[serde(rename = "threads.list")]
    List(Paging),
    #[serde(rename = "items.list")]
    ListItems {
        thread_id: ObjectId,
        #[serde(flatten)]
        paging: Paging,
    },
    #[serde(rename = "items.feedback")]
    Feedback { thread_id: ObjectId, item_ids: Vec<String>, kind: FeedbackKind },
    #[serde(rename = "threads.update")]
    Update { thread_id: ObjectId, title: String },
    #[serde(rename = "threads.delete")]
    Delete { thread_id: ObjectId },
    #[serde(rename = "threads.custom_action")]
    CustomAction { thread_id: ObjectId, action: Action },
    #[serde(rename = "threads.sync_custom_action")]
    SyncCustomAction {},
    #[serde(rename = "threads.add_client_tool_output")]
    AddClientToolOutput {},
    #[serde(rename = "threads.add_structured_input")]
    AddStructuredInput {},
    #[serde(rename = "attachments.create")]
    CreateAttachment {},
    #[serde(rename = "attachments.delete")]
    DeleteAttachment {},
    #[serde(rename = "input.transcribe")]
    Transcribe {},
}

/// The action of a widget button.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Action {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) payload: serde_json::Value,
}

/// The id of a thread or an item. An id that Segue cannot have created refers to nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct ObjectId(pub(super) String);

impl ObjectId {
    pub(super) fn id(&self) -> Result<ConversationId, ApiError> {
        self.0.parse().map_err(|_| ApiError::not_found())
    }

    pub(super) fn message(&self) -> Result<MessageId, ApiError> {
        own_message(&self.0).ok_or_else(ApiError::not_found)
    }
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct UserInput {
    content: Vec<Content>,
    #[serde(default)]
    attachments: Vec<String>,
    #[serde(default)]
    quoted_text: Option<String>,
}

/// The types `input_text` and `input_tag` both contain the text.
#[derive(Deserialize, JsonSchema)]
struct Content {
    text: String,
}

impl UserInput {
    /// The text of the message, with the quoted text above it.
    pub(super) fn text(&self) -> Result<String, ApiError> {
        if !self.attachments.is_empty() {
            return Err(ApiError::invalid_field("attachments", "must be empty: files cannot be attached"));
        }
        let quote = self.quoted_text.iter().flat_map(|quote| quote.lines()).map(|line| format!("> {line}\n"));
        let quote: String = quote.collect();
        let text: String = self.content.iter().map(|part| part.text.as_str()).collect();
        Ok(if quote.is_empty() { text } else { format!("{quote}\n{text}") })
    }
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Paging {
    #[serde(default)]
    pub(super) limit: Option<u32>,
    #[serde(default)]
    pub(super) order: Order,
    /// The cursor of the previous page.
    #[serde(default)]
    pub(super) after: Option<ObjectId>,
}

impl Paging {
    pub(super) fn limit(&self) -> Result<u32, ApiError> {
        match self.limit {
            None => Ok(PAGE),
            Some(limit) if (1..=MAX_PAGE).contains(&limit) => Ok(limit),
            Some(_) => Err(ApiError::invalid_field("limit", format!("must be between 1 and {MAX_PAGE}"))),
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    Asc,
    #[default]
    Desc,
}

impl From<Order> for Age {
    fn from(order: Order) -> Self {
        match order {
            Order::Asc => Self::OldestFirst,
            Order::Desc => Self::NewestFirst,
        }
    }
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FeedbackKind {
    Positive,
    Negative,
}

impl From<FeedbackKind> for Feedback {
    fn from(kind: FeedbackKind) -> Self {
        match kind {
            FeedbackKind::Positive => Self::Positive,
            FeedbackKind::Negative => Self::Negative,
        }
    }
}

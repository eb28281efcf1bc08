//! OpenAI ChatKit: its components against our engine, through one endpoint.

mod frames;
mod items;
mod request;

use std::sync::Arc;

use aide::axum::routing::post_with;
use app::{
    Ask,
    store::{Age, Feedback, StartedTurn},
};
use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{ConversationId, UserId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::request::{Named, Order, Paging, Request};
use super::{client_ids::start, sse};
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Body, Params},
    router::{Doors, Routes},
};

pub(crate) fn routes() -> Routes {
    Routes::new().api_route(
        "/chatkit",
        post_with(serve, |op| {
            op.summary("Everything OpenAI ChatKit asks")
                .description("The `type` of the request decides: threads that answer do so with server-sent events, the rest with JSON.")
                .response::<200, Json<Value>>()
        }),
    )
}

/// As the reference server has it.
const PAGE: u32 = 20;
const MAX_PAGE: u32 = 100;
/// More than anyone has said in one thread.
const MAX_MESSAGES: u32 = 100_000;
const MAX_TITLE_CHARS: usize = 200;

#[derive(Deserialize, JsonSchema)]
struct AgentQuery {
    /// `discover` or `tasks`, for new threads.
    #[serde(default)]
    agent: Option<String>,
}

async fn serve(
    State(doors): State<Arc<Doors>>,
    caller: Caller,
    Params(query): Params<AgentQuery>,
    Body(request): Body<Request>,
) -> Result<Response, ApiError> {
    let desk = Desk { doors: &doors, owner: &caller.id };
    match request {
        Request::Create { input } => desk.create(input.text()?, query.agent).await,
        Request::AddUserMessage { thread_id, input } => desk.add_message(&thread_id, input.text()?).await,
        Request::RetryAfterItem { thread_id, item_id } => desk.retry(&thread_id, &item_id).await,
        Request::GetById { thread_id } => desk.thread(&thread_id).await.map(as_json),
        Request::List(paging) => desk.threads(paging).await.map(as_json),
        Request::ListItems { thread_id, paging } => desk.items(&thread_id, &paging).await.map(as_json),
        Request::Feedback { thread_id, item_ids, kind } => {
            desk.feedback(&thread_id, &item_ids, kind.into()).await.map(as_json)
        }
        Request::Update { thread_id, title } => desk.rename(&thread_id, &title).await.map(as_json),
        Request::Delete { thread_id } => desk.delete(&thread_id).await.map(as_json),
        Request::CustomAction { thread_id } => {
            desk.conversation(&thread_id).await?;
            Ok(sse::respond_once(&[
                frames::stream_options(),
                frames::error("There are no actions here; please say it in words.", false),
            ]))
        }
        Request::SyncCustomAction {} => Err(ApiError::invalid("There are no actions here; please say it in words.")),
        Request::AddClientToolOutput {} | Request::AddStructuredInput {} => {
            Err(ApiError::invalid("This thread is not waiting for anything."))
        }
        Request::CreateAttachment {} | Request::DeleteAttachment {} => {
            Err(ApiError::invalid("Files cannot be attached."))
        }
        Request::Transcribe {} => Err(ApiError::invalid("Speech cannot be transcribed.")),
    }
}

fn as_json(body: Value) -> Response {
    Json(body).into_response()
}

/// One request of one person.
struct Desk<'a> {
    doors: &'a Doors,
    owner: &'a UserId,
}

impl Desk<'_> {
    async fn create(&self, text: String, agent: Option<String>) -> Result<Response, ApiError> {
        self.answer(Ask { text, agent, ..Ask::default() }).await
    }

    async fn add_message(&self, thread: &Named, text: String) -> Result<Response, ApiError> {
        self.answer(Ask { text, conversation: Some(thread.id()?), ..Ask::default() }).await
    }

    /// Takes back everything after a question and answers it again. The client has it already, so it is not sent.
    async fn retry(&self, thread: &Named, item: &Named) -> Result<Response, ApiError> {
        let (conversation, item) = (thread.id()?, item.message()?);
        let (question, text) = self.doors.app.store.question(self.owner, conversation, Some(item)).await?;
        if question != item {
            return Err(ApiError::invalid_field("item_id", "must be a message of the user's"));
        }
        let ask = Ask { text, conversation: Some(conversation), again: Some(question), ..Ask::default() };
        let (turn, events) = start(&self.doors.app, self.owner, ask).await?;
        Ok(stream(turn, events, vec![frames::stream_options()]))
    }

    /// Starts a turn: first what was said, as it is stored, then the answer as it comes.
    async fn answer(&self, ask: Ask) -> Result<Response, ApiError> {
        let is_new = ask.conversation.is_none();
        let (turn, events) = start(&self.doors.app, self.owner, ask).await?;
        let store = &self.doors.app.store;
        let mut preface = Vec::new();
        if is_new {
            let conversation = store.conversation(self.owner, turn.conversation).await?;
            let thread = items::thread(&conversation, items::no_items());
            preface.push(json!({"type": "thread.created", "thread": thread}));
        }
        let (question, text) = store.question(self.owner, turn.conversation, Some(turn.message)).await?;
        let item = items::user_message(turn.conversation, question, &text);
        preface.push(json!({"type": "thread.item.done", "item": item}));
        preface.push(frames::stream_options());
        Ok(stream(turn, events, preface))
    }

    async fn conversation(&self, thread: &Named) -> Result<app::store::Conversation, ApiError> {
        Ok(self.doors.app.store.conversation(self.owner, thread.id()?).await?)
    }

    async fn thread(&self, thread: &Named) -> Result<Value, ApiError> {
        let conversation = self.conversation(thread).await?;
        let first = Paging { limit: None, order: Order::Asc, after: None };
        Ok(items::thread(&conversation, self.items(thread, &first).await?))
    }

    async fn threads(&self, paging: Paging) -> Result<Value, ApiError> {
        let age = match paging.order {
            Order::Asc => Age::OldestFirst,
            Order::Desc => Age::NewestFirst,
        };
        let after = paging.after.as_ref().map(Named::id).transpose()?;
        let store = &self.doors.app.store;
        let page = store.conversations_by_age(self.owner, age, after, paging.limit()?).await?;
        let threads = page.conversations.iter().map(|found| items::thread(found, items::no_items()));
        Ok(page_of(threads.collect(), page.next.map(|id| id.to_string())))
    }

    async fn items(&self, thread: &Named, paging: &Paging) -> Result<Value, ApiError> {
        let mut items = self.all_items(thread).await?;
        if paging.order == Order::Desc {
            items.reverse();
        }
        if let Some(after) = &paging.after {
            let Some(position) = items.iter().position(|item| item["id"] == after.0) else {
                return Err(ApiError::invalid_field("after", "there is no such item"));
            };
            items.drain(..=position);
        }
        let limit = paging.limit()? as usize;
        let has_more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| has_more).and_then(|item| item["id"].as_str()).map(str::to_owned);
        Ok(page_of(items, last))
    }

    async fn all_items(&self, thread: &Named) -> Result<Vec<Value>, ApiError> {
        let id: ConversationId = thread.id()?;
        let store = &self.doors.app.store;
        // Asked first: an unknown thread is not an empty one.
        store.conversation(self.owner, id).await?;
        Ok(items::of_messages(id, &store.messages(self.owner, id, MAX_MESSAGES).await?))
    }

    async fn feedback(&self, thread: &Named, items: &[String], kind: Feedback) -> Result<Value, ApiError> {
        let known = self.all_items(thread).await?;
        if items.iter().any(|wanted| !known.iter().any(|item| item["id"] == *wanted)) {
            return Err(ApiError::not_found());
        }
        self.doors.app.store.give_feedback(self.owner, thread.id()?, items, kind).await?;
        Ok(json!({}))
    }

    async fn rename(&self, thread: &Named, title: &str) -> Result<Value, ApiError> {
        let title = title.trim();
        if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
            return Err(ApiError::invalid_field("title", format!("must have 1 to {MAX_TITLE_CHARS} characters")));
        }
        let renamed = self.doors.app.store.rename_conversation(self.owner, thread.id()?, title).await?;
        Ok(items::thread(&renamed, items::no_items()))
    }

    async fn delete(&self, thread: &Named) -> Result<Value, ApiError> {
        self.doors.app.store.delete_conversation(self.owner, thread.id()?).await?;
        Ok(json!({}))
    }
}

fn page_of(data: Vec<Value>, after: Option<String>) -> Value {
    match after {
        Some(after) => json!({"data": data, "has_more": true, "after": after}),
        None => json!({"data": data, "has_more": false}),
    }
}

fn stream(turn: StartedTurn, events: app::turns::Events, preface: Vec<Value>) -> Response {
    sse::respond(events, move |event, buffer| {
        if matches!(event.kind, engine::Kind::Started { .. }) {
            preface.iter().for_each(|frame| sse::write_data(buffer, frame));
        }
        frames::encode(&turn, event).iter().for_each(|frame| sse::write_data(buffer, frame));
    })
}

//! OpenAI ChatKit: its components use one endpoint.

mod consents;
mod frames;
mod items;
mod pages;
mod request;
mod widgets;

use std::sync::Arc;

use aide::axum::routing::post_with;
use app::{
    Again, Ask,
    services::{
        conversations::{Age, Conversation, ConversationTitle, Conversations, Feedback},
        turns::StartedTurn,
    },
};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use engine::UserId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::{
    pages::Thread,
    request::{Action, ObjectId, Order, Paging, Request},
};
use super::{client_ids::start, sse};
use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Query},
    router::{AppState, Routes},
};

pub(crate) fn routes() -> Routes {
    Routes::new().api_route(
        "/chatkit",
        post_with(serve, |op| {
            op.summary("All requests of OpenAI ChatKit")
                .description("The `type` of the request selects the operation. Requests that start an answer get server-sent events, all others get JSON.")
                .response::<200, Json<Value>>()
        }),
    )
}

const NO_ACTION: &str = "This action is not supported. Please send a message instead.";

/// The page size of ChatKit's reference server.
const PAGE: u32 = 20;
const MAX_PAGE: u32 = 100;

#[derive(Deserialize, JsonSchema)]
struct AgentQuery {
    /// The `id` of an agent of `GET /api/about`, for new threads; default: the first one.
    #[serde(default)]
    agent: Option<String>,
}

async fn serve(
    State(state): State<Arc<AppState>>,
    caller: Caller,
    Query(query): Query<AgentQuery>,
    Json(request): Json<Request>,
) -> Result<Response, ApiError> {
    let handler = Handler { state: &state, owner: &caller.id };
    match request {
        Request::Create { input } => handler.create(input.text()?, query.agent).await,
        Request::AddUserMessage { thread_id, input } => handler.add_message(&thread_id, input.text()?).await,
        Request::RetryAfterItem { thread_id, item_id } => handler.retry(&thread_id, &item_id).await,
        Request::GetById { thread_id } => handler.thread(&thread_id).await.map(as_json),
        Request::List(paging) => handler.threads(paging).await.map(as_json),
        Request::ListItems { thread_id, paging } => handler.items(&thread_id, &paging).await.map(as_json),
        Request::Feedback { thread_id, item_ids, kind } => {
            handler.feedback(&thread_id, &item_ids, kind.into()).await.map(as_json)
        }
        Request::Update { thread_id, title } => handler.rename(&thread_id, &title).await.map(as_json),
        Request::Delete { thread_id } => handler.delete(&thread_id).await.map(as_json),
        Request::CustomAction { thread_id, action } => handler.act(&thread_id, action).await,
        Request::SyncCustomAction {} => Err(ApiError::invalid(NO_ACTION)),
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

/// One request of one user.
struct Handler<'a> {
    state: &'a AppState,
    owner: &'a UserId,
}

impl Handler<'_> {
    async fn create(&self, text: String, agent: Option<String>) -> Result<Response, ApiError> {
        self.answer(Ask { text, agent, ..Ask::default() }).await
    }

    async fn add_message(&self, thread: &ObjectId, text: String) -> Result<Response, ApiError> {
        self.answer(Ask { text, conversation: Some(thread.id()?), ..Ask::default() }).await
    }

    /// Regenerates the answer to a question, on a new branch. The client has the question already, so it is not sent.
    async fn retry(&self, thread: &ObjectId, item: &ObjectId) -> Result<Response, ApiError> {
        let (conversation, item) = (thread.id()?, item.message()?);
        let (question, text) = self.conversations().question(self.owner, conversation, Some(item)).await?;
        if question != item {
            return Err(ApiError::invalid_field("item_id", "must be a message of the user's"));
        }
        let again = Some(Again { question, moves_client_id: false });
        let ask = Ask { text, conversation: Some(conversation), again, ..Ask::default() };
        let (turn, events) = start(&self.state.app, self.owner, ask).await?;
        Ok(stream(turn, events, vec![frames::stream_options()]))
    }

    /// Starts a turn. Sends the stored question first, then the answer.
    async fn answer(&self, ask: Ask) -> Result<Response, ApiError> {
        let is_new = ask.conversation.is_none();
        let (turn, events) = start(&self.state.app, self.owner, ask).await?;
        let mut preface = Vec::new();
        if is_new {
            let conversation = self.conversations().get(self.owner, turn.conversation).await?;
            let thread = items::thread(&conversation, items::no_items());
            preface.push(json!({"type": "thread.created", "thread": thread}));
        }
        preface.extend(self.asked(&turn).await?);
        Ok(stream(turn, events, preface))
    }

    /// The user has clicked a button. Only the buttons of a call that waits for consent exist.
    async fn act(&self, thread: &ObjectId, action: Action) -> Result<Response, ApiError> {
        self.conversation(thread).await?;
        let id = thread.id()?;
        let Some(decided) = consents::decided(&action.kind, action.payload) else {
            return Ok(sse::respond_once(&[frames::stream_options(), frames::error(NO_ACTION, false)]));
        };
        let lines = self.conversations().consents(self.owner, id).await?;
        let line = lines.into_iter().find(|line| line.id == decided.consent_id).ok_or_else(ApiError::not_found)?;
        let call = line.tool_call_id;
        let message = self.conversations().message_of_call(self.owner, id, call.0).await?;
        let message = message.ok_or_else(ApiError::not_found)?;
        let started = self.state.app.consents().decide(self.owner, decided.consent_id, decided.decision).await?;
        let shown = Thread { conversations: self.conversations(), owner: self.owner, id };
        let card = shown.item(message, &consents::card_id(message, call)).await?;
        let mut preface: Vec<Value> =
            card.into_iter().map(|item| json!({"type": "thread.item.replaced", "item": item})).collect();
        let Some(turn) = started else {
            preface.push(frames::stream_options());
            return Ok(sse::respond_once(&preface));
        };
        let events = self.state.app.turns.follow_started(self.owner, &turn).await?;
        preface.extend(self.asked(&turn).await?);
        Ok(stream(turn, events, preface))
    }

    /// The question as it is stored.
    async fn asked(&self, turn: &StartedTurn) -> Result<[Value; 2], ApiError> {
        let (question, text) = self.conversations().question(self.owner, turn.conversation, Some(turn.message)).await?;
        let item = items::user_message(turn.conversation, question, &text);
        Ok([json!({"type": "thread.item.done", "item": item}), frames::stream_options()])
    }

    fn conversations(&self) -> &Conversations {
        self.state.app.conversations()
    }

    async fn conversation(&self, thread: &ObjectId) -> Result<Conversation, ApiError> {
        Ok(self.conversations().get(self.owner, thread.id()?).await?)
    }

    async fn thread(&self, thread: &ObjectId) -> Result<Value, ApiError> {
        let conversation = self.conversation(thread).await?;
        let first = Paging { limit: None, order: Order::Asc, after: None };
        Ok(items::thread(&conversation, self.items(thread, &first).await?))
    }

    async fn threads(&self, paging: Paging) -> Result<Value, ApiError> {
        let age = Age::from(paging.order);
        let after = paging.after.as_ref().map(ObjectId::id).transpose()?;
        let page = self.conversations().by_age(self.owner, age, after, paging.limit()?).await?;
        let threads = page.conversations.iter().map(|found| items::thread(found, items::no_items()));
        Ok(page_of(threads.collect(), page.next.map(|id| id.to_string())))
    }

    async fn items(&self, thread: &ObjectId, paging: &Paging) -> Result<Value, ApiError> {
        // Checked first, so that an unknown thread does not look like an empty one.
        self.conversation(thread).await?;
        let thread = Thread { conversations: self.conversations(), owner: self.owner, id: thread.id()? };
        let (items, has_more) = thread.items(paging).await?;
        let last = items.last().filter(|_| has_more).and_then(|item| item["id"].as_str()).map(str::to_owned);
        Ok(page_of(items, last))
    }

    async fn feedback(&self, thread: &ObjectId, items: &[String], kind: Feedback) -> Result<Value, ApiError> {
        self.conversation(thread).await?;
        // Each is looked up, and all are stored in one transaction.
        if items.len() > MOST_RATED {
            return Err(ApiError::invalid_field("item_ids", "must have at most 100 items"));
        }
        let id = thread.id()?;
        let thread = Thread { conversations: self.conversations(), owner: self.owner, id };
        for item in items {
            if !thread.has_item(item).await? {
                return Err(ApiError::not_found());
            }
        }
        self.conversations().give_feedback(self.owner, id, items, kind).await?;
        Ok(json!({}))
    }

    async fn rename(&self, thread: &ObjectId, title: &str) -> Result<Value, ApiError> {
        let renamed = self.conversations().rename(self.owner, thread.id()?, ConversationTitle::new(title)).await?;
        Ok(items::thread(&renamed, items::no_items()))
    }

    async fn delete(&self, thread: &ObjectId) -> Result<Value, ApiError> {
        self.conversations().delete(self.owner, thread.id()?).await?;
        Ok(json!({}))
    }
}

/// Items of one request with feedback.
const MOST_RATED: usize = 100;

fn page_of(data: Vec<Value>, after: Option<String>) -> Value {
    match after {
        Some(after) => json!({"data": data, "has_more": true, "after": after}),
        None => json!({"data": data, "has_more": false}),
    }
}

fn stream(turn: StartedTurn, events: app::turns::Events, preface: Vec<Value>) -> Response {
    let mut encoder = frames::Encoder::new(turn);
    sse::respond(events, move |event, buffer| {
        if matches!(event.kind, engine::Kind::Started { .. }) {
            preface.iter().for_each(|frame| sse::write_data(buffer, frame));
        }
        encoder.encode(event).iter().for_each(|frame| sse::write_data(buffer, frame));
    })
}

//! Starts turns from messages, and calls tools without a turn. Requests are stored before they are answered.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use chrono::Utc;
use engine::{
    Call, CallId, ConversationId, JournalError, Outcome, Progress, ToolContext, UserId,
    mutants::{Mutant, planted},
};
use serde_json::Value;
use store::{ConsentScope, NewTurn, Start, StartedTurn, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, instrument};
use uuid::Uuid;

use crate::{
    App, Error,
    agents::{Agent, DEFAULT_AGENT, agent, agent_ids},
    decided,
    host::run,
    observe::{EndedCall, Sent},
    per_user::PerUser,
    run_turn::Job,
    text_limit::Text,
    turn_journal::StoreJournal,
    turns::first_row,
};

pub use store::Again;

/// A message of a user to an agent.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub text: String,
    /// `None`: a new conversation.
    pub conversation: Option<ConversationId>,
    /// The id of a new conversation, for clients that choose it before the first message; see `client_ids`.
    pub new_conversation_id: Option<ConversationId>,
    /// An earlier question of this conversation that is asked again with `text`.
    pub again: Option<Again>,
    /// Only for a new conversation; an existing one keeps its agent.
    pub agent: Option<String>,
    /// A model of `SEGUE_MODELS`, for this message and later ones.
    pub model: Option<String>,
    /// Makes a repeated request safe.
    pub client_message_id: Option<String>,
}

/// A call that its user allows with this turn.
pub(crate) struct Decided {
    pub(crate) consent: Uuid,
    pub(crate) scope: ConsentScope,
    pub(crate) call: decided::Call,
}

/// A message of a user.
pub type MessageText = Text<1, 10_000>;
/// Direct calls of one user that run at once, those whose clients have left included.
const DIRECT_CALLS: Option<NonZeroUsize> = NonZeroUsize::new(8);

/// `None`: a server of one user has no limit.
pub(crate) fn direct_calls_at_once(open_requests: Option<NonZeroUsize>) -> PerUser {
    PerUser::new(open_requests.and(DIRECT_CALLS))
}

const MAX_CLIENT_ID_CHARS: usize = 200;

impl App {
    /// Starts a turn, or finds the one that the same `client_message_id` started. Follow it through `turns`. If the
    /// client disconnects, either the message is stored and answered, or it is not stored.
    #[instrument(name = "turns.converse", skip_all, fields(user.id = %owner))]
    pub async fn converse(self: &Arc<Self>, owner: &UserId, ask: Ask) -> Result<StartedTurn, Error> {
        self.converse_about(owner, ask, None).await
    }

    /// The same. If the user has allowed a call, the turn begins with that call instead of a reply of the model.
    pub(crate) async fn converse_about(
        self: &Arc<Self>,
        owner: &UserId,
        ask: Ask,
        decided: Option<Decided>,
    ) -> Result<StartedTurn, Error> {
        if planted(Mutant::StartEndsWithClient) {
            return self.start_turn(owner, ask, decided).await;
        }
        let (app, owner) = (self.clone(), owner.clone());
        let start = async move { app.start_turn(&owner, ask, decided).await };
        joined(self.spawned.spawn(start.in_current_span())).await
    }

    #[instrument(name = "turns.start", skip_all, fields(user.id = %owner))]
    async fn start_turn(
        self: &Arc<Self>,
        owner: &UserId,
        ask: Ask,
        decided: Option<Decided>,
    ) -> Result<StartedTurn, Error> {
        let _starting = self.turns.enter().ok_or(Error::Closing)?;
        let text = checked_text(&ask)?;
        let agent = self.agent_for(owner, &ask).await?;
        ask.model.as_deref().map_or(Ok(()), |name| self.models.checked_name(name))?;
        self.check_room(owner, &ask).await?;
        let at_ms = Utc::now().timestamp_millis();
        let new = NewTurn {
            conversation: ask.conversation,
            new_conversation_id: ask.new_conversation_id,
            again: ask.again,
            agent: agent.id,
            text,
            client_message_id: ask.client_message_id.as_deref().filter(|_| !planted(Mutant::ClientMessageIdIgnored)),
            model: ask.model.as_deref(),
            decides: decided.as_ref().map(|decided| (decided.consent, decided.scope)),
            node: &self.turns.node,
            limits: self.config.turn_limits,
            opening: Some(&|started: &StartedTurn| first_row(started, at_ms)),
        };
        let started = match self.store.start_turn(owner, &new).await.map_err(turn_running)? {
            Start::Existing(started) => {
                self.check_same_message(&ask, text, &started).await?;
                return Ok(started);
            }
            Start::New(started) => started,
            Start::Limited(limited) => return Err(limited.into()),
        };
        let live = self.turns.begin(started.clone(), at_ms);
        let job = Job {
            agent,
            owner: owner.clone(),
            live,
            question: text.to_owned(),
            is_new: ask.conversation.is_none(),
            decided: decided.map(|decided| decided.call),
            progress: Progress::default(),
            elapsed: Duration::ZERO,
            sent: Sent::default(),
        };
        let app = self.clone();
        self.spawned.spawn(async move { run(&*app, job).await });
        Ok(started)
    }

    /// Checks that the user may have another conversation. A message that is sent again has its conversation already.
    async fn check_room(&self, owner: &UserId, ask: &Ask) -> Result<(), Error> {
        if ask.conversation.is_some() {
            return Ok(());
        }
        let Err(full) = self.store.check_conversations(owner, self.config.max_conversations).await else {
            return Ok(());
        };
        match self.store.turn_of_client_message(owner, ask.client_message_id.as_deref()).await? {
            Some(_) => Ok(()),
            None => Err(full.into()),
        }
    }

    /// Checks that a client message id was not used for another message, whose turn would be returned instead.
    async fn check_same_message(&self, ask: &Ask, text: &str, started: &StartedTurn) -> Result<(), Error> {
        let is_other_conversation = ask.conversation.is_some_and(|conversation| conversation != started.conversation);
        if is_other_conversation || self.store.question_of(started.message).await? != text {
            return Err(Error::Conflict("this clientMessageId was used for another message"));
        }
        Ok(())
    }

    async fn agent_for(&self, owner: &UserId, ask: &Ask) -> Result<&'static Agent, Error> {
        let id = match ask.conversation {
            Some(conversation) => self.store.conversation(owner, conversation).await?.agent,
            None => ask.agent.clone().unwrap_or_else(|| DEFAULT_AGENT.into()),
        };
        agent(&id).ok_or_else(|| invalid("agent", format!("there is no agent '{id}'; the agents are: {}", agent_ids())))
    }
}

impl App {
    /// One tool call without an agent, with a journal row like any other call. If the client disconnects, the call continues and
    /// keeps its place: a user who leaves cannot begin more calls than one who stays.
    #[instrument(name = "tools.call_to_end", skip_all, fields(user.id = %owner))]
    pub async fn call_tool(self: &Arc<Self>, owner: &UserId, name: &str, input: Value) -> Result<Outcome, Error> {
        let (app, owner, name) = (self.clone(), owner.clone(), name.to_owned());
        let cancel = self.shutdown.child_token();
        let place = self.direct_calls.enter(&owner).await;
        let call = async move {
            let _place = place;
            app.call_tool_now(&owner, &name, input, cancel).await
        };
        joined(self.spawned.spawn(call.in_current_span())).await
    }

    /// The same, with a token that cancels the call.
    #[instrument(name = "tools.call_until", skip_all, fields(user.id = %owner))]
    pub async fn call_tool_until(
        &self,
        owner: &UserId,
        name: &str,
        input: Value,
        cancel: CancellationToken,
    ) -> Result<Outcome, Error> {
        let _place = tokio::select! {
            place = self.direct_calls.enter(owner) => place,
            () = cancel.cancelled() => return Err(Error::Closing),
        };
        self.call_tool_now(owner, name, input, cancel).await
    }

    #[instrument(name = "tools.call", skip_all, fields(user.id = %owner))]
    async fn call_tool_now(
        &self,
        owner: &UserId,
        name: &str,
        input: Value,
        cancel: CancellationToken,
    ) -> Result<Outcome, Error> {
        if let Some(limited) = self.store.count_call(owner, self.config.turn_limits).await? {
            return Err(limited.into());
        }
        let id = CallId::new();
        let cx = ToolContext::new(owner.clone(), id, cancel);
        let call = Call { id, owner: owner.clone(), message: None, name: name.to_owned(), input: Arc::new(input) };
        let started_ms = Utc::now().timestamp_millis();
        let outcome = self.toolbox.call(&StoreJournal(&self.store), &cx, &call).await;
        if let Ok(outcome) = &outcome {
            let (ended_ms, outcome) = (Utc::now().timestamp_millis(), outcome.clone());
            let background_calls = Vec::new();
            self.observer.call_ended(EndedCall { call, started_ms, ended_ms, outcome, background_calls });
        }
        outcome.map_err(|error| match error {
            JournalError::Unwritable(error) => match error.downcast::<StoreError>() {
                Ok(error) => error.into(),
                Err(other) => Error::Journal(other.to_string()),
            },
            JournalError::LeaseLost => Error::Journal(error.to_string()),
        })
    }
}

/// The result of a task that is never aborted. A panic of the task is propagated.
async fn joined<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn checked_text(ask: &Ask) -> Result<&str, Error> {
    let text = ask.text.trim();
    if text.is_empty() {
        return Err(invalid("message", "Message cannot be empty".into()));
    }
    if text.contains('\0') {
        return Err(invalid("message", "Message cannot contain the character NUL".into()));
    }
    if text.chars().count() > MessageText::MAX {
        return Err(invalid("message", format!("Message must be at most {} characters", MessageText::MAX)));
    }
    if ask.again.is_some() && ask.conversation.is_none() {
        return Err(invalid("editOf", "needs the conversationId of the question".into()));
    }
    if ask.client_message_id.as_ref().is_some_and(|id| id.is_empty() || id.chars().count() > MAX_CLIENT_ID_CHARS) {
        return Err(invalid("clientMessageId", format!("must have 1 to {MAX_CLIENT_ID_CHARS} characters")));
    }
    Ok(text)
}

/// The error of a start that failed because another turn is running.
fn turn_running(error: StoreError) -> Error {
    match error.into() {
        Error::Conflict(why) => Error::TurnRunning(why),
        other => other,
    }
}

fn invalid(field: &'static str, problem: String) -> Error {
    Error::Invalid { field, problem }
}

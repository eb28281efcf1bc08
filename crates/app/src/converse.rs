//! One turn end to end: take the message, load what was said, run the agent, record, publish.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::Utc;
use engine::{
    Call, CallId, ConversationId, End, FailureCode, Finished, Journal, JournalError, Kind, Message, MessageId, Outcome,
    Prompt, Role, StopReason, ToolContext, Turn, UserId,
};
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use crate::{
    App, Error,
    agents::{Agent, agent},
    history,
    observe::{EndedCall, EndedTurn},
    turns::LiveTurn,
};
use store::{MessageStatus, NewTurn, Start, StartedTurn, Store, StoreError, TurnEnd, TurnError};

/// What someone says to an agent.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub text: String,
    /// None: a new conversation.
    pub conversation: Option<ConversationId>,
    /// The id of a new conversation, for clients that name theirs before the first message; see `client_ids`.
    pub new_conversation_id: Option<ConversationId>,
    /// An earlier question of this conversation: everything from it on is taken back, and it is asked again in the
    /// words of `text`.
    pub again: Option<MessageId>,
    /// Only for a new conversation; an old one keeps its agent.
    pub agent: Option<String>,
    /// Makes sending twice harmless.
    pub client_message_id: Option<String>,
}

pub const MAX_MESSAGE_CHARS: usize = 10_000;
const MAX_CLIENT_ID_CHARS: usize = 200;
/// The end of a turn is worth more than one try: it is all the user waited for. After that its lease has run out.
const END_PATIENCE: Duration = Duration::from_secs(15);
const END_AGAIN_AFTER: Duration = Duration::from_millis(300);

impl App {
    /// Starts a turn, or finds the one that the same `client_message_id` started. Follow it through `turns`.
    #[tracing::instrument(name = "turns.start", skip_all, fields(user.id = %owner))]
    pub async fn converse(self: &Arc<Self>, owner: &UserId, ask: Ask) -> Result<StartedTurn, Error> {
        let _starting = self.turns.enter().ok_or(Error::Closing)?;
        let text = checked_text(&ask)?;
        let agent = self.agent_for(owner, &ask).await?;
        let new = NewTurn {
            conversation: ask.conversation,
            new_conversation_id: ask.new_conversation_id,
            again: ask.again,
            agent: agent.id,
            text,
            client_message_id: ask.client_message_id.as_deref(),
            node: &self.turns.node,
            limits: self.config.turn_limits,
        };
        let started = match self.store.start_turn(owner, &new).await.map_err(turn_running)? {
            Start::Existing(started) => return Ok(started),
            Start::New(started) => started,
            Start::Limited(limited) => return Err(limited.into()),
        };
        let live = self.turns.begin(started.clone());
        live.publish(Kind::Started {
            turn: started.turn,
            conversation: started.conversation,
            message: started.message,
        });
        let (app, owner) = (self.clone(), owner.clone());
        let is_new = ask.conversation.is_none();
        let asked = text.to_owned();
        self.spawned.spawn(async move { app.run(agent, owner, live, asked, is_new).await });
        Ok(started)
    }

    async fn agent_for(&self, owner: &UserId, ask: &Ask) -> Result<&'static Agent, Error> {
        let id = match ask.conversation {
            Some(conversation) => self.store.conversation(owner, conversation).await?.agent,
            None => ask.agent.clone().unwrap_or_else(|| "discover".into()),
        };
        agent(&id).ok_or_else(|| invalid("agent", format!("there is no agent '{id}'; choose discover or tasks")))
    }

    /// Runs a turn and stores its end before anyone sees it.
    async fn run(&self, agent: &'static Agent, owner: UserId, live: Arc<LiveTurn>, question: String, is_new: bool) {
        let first = is_new.then(|| question.clone());
        let work = AssertUnwindSafe(self.answer(agent, &owner, &live, first)).catch_unwind();
        let finished = work.await.unwrap_or_else(|_| {
            error!(turn.id = %live.started.turn, "A turn panicked");
            failed(FailureCode::InternalError, "Something went wrong. Please try again.")
        });
        let is_ours = self.record_end(&live, finished).await;
        self.turns.forget(live.started.turn);
        if is_ours {
            let StartedTurn { turn, conversation, .. } = live.started;
            let (agent, events) = (agent.id.to_owned(), live.events());
            self.observer.turn_ended(EndedTurn { turn, conversation, owner, agent, question, events });
        }
    }

    /// `question`: the first message of a new conversation.
    async fn answer(
        &self,
        agent: &'static Agent,
        owner: &UserId,
        live: &Arc<LiveTurn>,
        question: Option<String>,
    ) -> Finished {
        let toolbox = self.toolbox_of(agent);
        let messages = match question {
            Some(question) => vec![Message::user(question)],
            None => {
                match history::load(&self.store, owner, live.started.conversation, toolbox, self.model.as_ref()).await {
                    Ok(messages) => messages,
                    Err(error) => {
                        error!(turn.id = %live.started.turn, "The history could not be loaded: {error}");
                        return failed(
                            FailureCode::DatabaseError,
                            "Your conversation could not be loaded. Please try again.",
                        );
                    }
                }
            }
        };
        let turn = Turn {
            model: self.model.as_ref(),
            toolbox,
            journal: &TurnJournal { store: &self.store, live },
            owner: owner.clone(),
            message: live.started.message,
            prompt: Prompt {
                system: agent.instructions.into(),
                tools: self.specs_of(agent),
                messages,
                may_call_tools: true,
            },
            limits: self.config.limits,
            cancel: live.cancel.clone(),
        };
        let finished = engine::run(turn, &mut |kind| live.publish(kind)).await;
        if live.is_cut() && finished.end == End::Answered(StopReason::Stopped) {
            return Finished { end: cut_end(), ..finished };
        }
        finished
    }

    /// False when another node has closed the turn, or will.
    async fn record_end(&self, live: &LiveTurn, finished: Finished) -> bool {
        let text = Message { role: Role::Assistant, content: finished.content.clone() }.text();
        let mut closing = closing_event(&finished);
        let mut is_ours = false;
        let given_up = Instant::now() + END_PATIENCE;
        loop {
            let (mut saved, events) = live.last_events(&live.preview(closing.clone())).await;
            let end = TurnEnd {
                started: &live.started,
                node: &self.turns.node,
                content: &finished.content,
                status: status_of(&finished.end),
                usage: Some(finished.usage),
                error: error_of(&closing),
                text: &text,
                events,
            };
            match self.store.end_turn(&end).await {
                Ok(true) => {
                    *saved = live.n_when_closed();
                    is_ours = true;
                    break;
                }
                Ok(false) => {
                    warn!(turn.id = %live.started.turn, "A turn lost its lease and was closed by another node");
                    closing = interrupted();
                    break;
                }
                Err(error) if Instant::now() < given_up => {
                    warn!(turn.id = %live.started.turn, "The end of a turn could not be stored, trying again: {error}");
                    drop(saved);
                    tokio::time::sleep(END_AGAIN_AFTER).await;
                }
                Err(error) => {
                    error!(turn.id = %live.started.turn, "The end of a turn could not be stored: {error}");
                    closing = Kind::Failed {
                        code: FailureCode::DatabaseError,
                        message: "The answer could not be saved. Please try again.".into(),
                        retryable: true,
                    };
                    break;
                }
            }
        }
        live.publish(closing);
        is_ours
    }
}

impl App {
    /// One tool call without an agent, journalled like any other.
    pub async fn call_tool(&self, owner: &UserId, name: &str, input: Value) -> Result<Outcome, Error> {
        self.call_tool_until(owner, name, input, self.shutdown.child_token()).await
    }

    /// The same, for a caller who may change their mind.
    #[tracing::instrument(name = "tools.call", skip_all, fields(user.id = %owner))]
    pub async fn call_tool_until(
        &self,
        owner: &UserId,
        name: &str,
        input: Value,
        cancel: CancellationToken,
    ) -> Result<Outcome, Error> {
        if let Some(limited) = self.store.call_exceeding(owner, self.config.turn_limits).await? {
            return Err(limited.into());
        }
        let id = CallId::new();
        let cx = ToolContext::new(owner.clone(), id, cancel);
        let call = Call { id, owner: owner.clone(), message: None, name: name.to_owned(), input: Arc::new(input) };
        let started_ms = Utc::now().timestamp_millis();
        let outcome = self.toolbox.call(&StoreJournal(&self.store), &cx, &call).await;
        if let Ok(outcome) = &outcome {
            let (ended_ms, outcome) = (Utc::now().timestamp_millis(), outcome.clone());
            self.observer.call_ended(EndedCall { call, started_ms, ended_ms, outcome });
        }
        outcome.map_err(|JournalError(error)| match error.downcast::<StoreError>() {
            Ok(error) => error.into(),
            Err(other) => Error::Database(sqlx::Error::Protocol(other.to_string())),
        })
    }
}

/// The journal alone, for calls that no turn made.
struct StoreJournal<'a>(&'a Store);

impl Journal for StoreJournal<'_> {
    fn begin<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move { self.0.begin_call(call).await.map_err(journal_error) })
    }

    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        Box::pin(async move { self.0.finish_call(call.id, outcome).await.map_err(journal_error) })
    }
}

/// The journal of a turn: events that led to a call are saved before the call is.
struct TurnJournal<'a> {
    store: &'a Store,
    live: &'a LiveTurn,
}

impl Journal for TurnJournal<'_> {
    fn begin<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            self.live.save(self.store).await.map_err(journal_error)?;
            StoreJournal(self.store).begin(call).await
        })
    }

    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        Box::pin(async move { StoreJournal(self.store).finish(call, outcome).await })
    }
}

fn journal_error(error: StoreError) -> JournalError {
    JournalError(error.into())
}

fn checked_text(ask: &Ask) -> Result<&str, Error> {
    let text = ask.text.trim();
    if text.is_empty() {
        return Err(invalid("message", "Message cannot be empty".into()));
    }
    if text.contains('\0') {
        return Err(invalid("message", "Message cannot contain the character NUL".into()));
    }
    if text.chars().count() > MAX_MESSAGE_CHARS {
        return Err(invalid("message", format!("Message must be at most {MAX_MESSAGE_CHARS} characters")));
    }
    if ask.client_message_id.as_ref().is_some_and(|id| id.is_empty() || id.chars().count() > MAX_CLIENT_ID_CHARS) {
        return Err(invalid("clientMessageId", format!("must have 1 to {MAX_CLIENT_ID_CHARS} characters")));
    }
    Ok(text)
}

/// A turn cannot start only because another one runs.
fn turn_running(error: StoreError) -> Error {
    match error.into() {
        Error::Conflict(why) => Error::TurnRunning(why),
        other => other,
    }
}

fn invalid(field: &'static str, problem: String) -> Error {
    Error::Invalid { field, problem }
}

fn failed(code: FailureCode, message: &str) -> Finished {
    let end = End::Failed { code, message: message.into(), retryable: true };
    Finished { content: Vec::new(), usage: engine::Usage::default(), end }
}

/// As recovery says it: to the user it is the same.
fn cut_end() -> End {
    let message = "The server was restarted while it was answering. Please try again.".into();
    End::Failed { code: FailureCode::Interrupted, message, retryable: true }
}

fn interrupted() -> Kind {
    let message = "The server lost touch with its database while it was answering. Please try again.".into();
    Kind::Failed { code: FailureCode::Interrupted, message, retryable: true }
}

fn closing_event(finished: &Finished) -> Kind {
    match &finished.end {
        End::Answered(stop) => Kind::Ended { usage: finished.usage, stop: *stop },
        End::Failed { code, message, retryable } => {
            Kind::Failed { code: *code, message: message.clone(), retryable: *retryable }
        }
    }
}

fn status_of(end: &End) -> MessageStatus {
    match end {
        End::Answered(StopReason::Complete) => MessageStatus::Complete,
        End::Answered(StopReason::Stopped) => MessageStatus::Stopped,
        End::Answered(StopReason::MaxSteps) => MessageStatus::MaxSteps,
        End::Failed { .. } => MessageStatus::Error,
    }
}

fn error_of(closing: &Kind) -> Option<TurnError> {
    match closing {
        Kind::Failed { code, message, retryable } => {
            Some(TurnError { code: *code, message: message.clone(), retryable: *retryable })
        }
        _ => None,
    }
}

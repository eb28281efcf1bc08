//! Recovery: closes turns whose server died, from the log and the journal it left behind.

use std::{collections::HashMap, sync::Arc, time::Duration};

use engine::{Block, CallId, ConversationId, Event, Failure, FailureCode, Kind, MessageId, Outcome, TurnId, UserId};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    observe::{EndedTurn, Observer},
    turns::{Turns, from_rows, pause, to_rows},
};
use store::{DeadTurn, MessageStatus, StartedTurn, Store, StoreError, TurnEnd, TurnError};

const RENEW_EVERY: Duration = Duration::from_secs(5);
const SWEEP_EVERY: u32 = 12;

/// Renews our leases, closes turns whose lease ran out, and forgets what is old.
pub(crate) async fn keep_house(turns: Arc<Turns>, observer: Arc<Observer>, shutdown: CancellationToken) {
    let (store, node) = (&turns.store, &turns.node);
    let mut n_rounds = 0_u32;
    while pause(RENEW_EVERY, &shutdown).await {
        n_rounds += 1;
        let result = async {
            store.set_clock().await?;
            store.renew_leases(node, &turns.ids()).await?;
            close_dead_turns(store, &observer, node, None).await?;
            if n_rounds.is_multiple_of(SWEEP_EVERY) {
                store.forget_old_events().await?;
                store.purge_deleted_conversations().await?;
                store.forget_expired_keys().await?;
            }
            Ok::<_, StoreError>(())
        };
        if let Err(error) = result.await {
            warn!("Housekeeping failed, trying again: {error}");
        }
    }
}

/// Closes what dead nodes left running; with `reborn`, also what an earlier life of this node left.
pub(crate) async fn close_dead_turns(
    store: &Store,
    observer: &Observer,
    node: &str,
    reborn: Option<&str>,
) -> Result<(), StoreError> {
    for dead in store.dead_turns(reborn).await? {
        if store.take_over(&dead, node).await?
            && let Some(ended) = close(store, node, &dead).await?
        {
            observer.metrics.turn_recovered();
            observer.turn_ended(ended);
            info!(turn.id = %dead.id, "Closed a turn whose server died");
        }
    }
    Ok(())
}

/// None when someone else has closed it meanwhile.
async fn close(store: &Store, node: &str, dead: &DeadTurn) -> Result<Option<EndedTurn>, StoreError> {
    let (turn, message) = (TurnId(dead.id), MessageId(dead.message_id));
    let mut events = from_rows(&store.events_from(turn, 0, i64::MAX).await?);
    let journal = store.calls_of(message).await?;
    let outcomes = journal.into_iter().filter_map(|row| Some((row.id, row.settled?.into_outcome()))).collect();
    let remains = Remains::of(&events, outcomes);
    let error = TurnError {
        code: FailureCode::Interrupted,
        message: "The server was restarted while it was answering. Please try again.".into(),
        retryable: true,
    };
    let closing = Kind::Failed { code: error.code, message: error.message.clone(), retryable: error.retryable };
    let seq = events.last().map_or(0, |event| event.seq);
    let last_events = number(seq, remains.events.into_iter().chain([closing]));
    let text = engine::Message::assistant(remains.content.clone()).text();
    let started = StartedTurn { turn, conversation: ConversationId(dead.conversation_id), message };
    let end = TurnEnd {
        started: &started,
        node,
        content: &remains.content,
        status: MessageStatus::Error,
        usage: None,
        error: Some(error),
        text: &text,
        events: to_rows(events.len(), last_events.iter()),
    };
    if !store.end_turn(&end).await? {
        return Ok(None);
    }
    events.extend(last_events.into_iter().map(Arc::new));
    let question = store.question_of(message).await?;
    let (owner, agent) = (UserId::new(dead.user_id.as_str()), dead.agent.clone());
    Ok(Some(EndedTurn { turn, conversation: started.conversation, owner, agent, question, events }))
}

fn number(mut seq: u32, kinds: impl Iterator<Item = Kind>) -> Vec<Event> {
    let at_ms = chrono::Utc::now().timestamp_millis();
    kinds
        .map(|kind| {
            seq += u32::from(kind.is_numbered());
            Event { seq, at_ms, kind }
        })
        .collect()
}

/// What is left of an answer: every finished block, every executed call, and the text that had come so far.
struct Remains {
    content: Vec<Block>,
    /// The ends of calls that the log does not know yet.
    events: Vec<Kind>,
}

impl Remains {
    fn of(events: &[Arc<Event>], mut outcomes: HashMap<CallId, Outcome>) -> Self {
        let mut content = Vec::new();
        let mut open_text = String::new();
        let mut open_calls: Vec<(CallId, String)> = Vec::new();
        for event in events {
            match &event.kind {
                Kind::TextDelta { text, .. } => open_text.push_str(text),
                Kind::TextDone { text, .. } => {
                    open_text.clear();
                    content.push(Block::Text { text: text.clone() });
                }
                Kind::ToolStarted { call, name, input, .. } => {
                    open_calls.push((*call, name.clone()));
                    content.push(Block::ToolUse { id: *call, name: name.clone(), input: input.as_ref().clone() });
                }
                Kind::ToolDone { call, done, .. } => {
                    open_calls.retain(|(open, _)| open != call);
                    content.push(result(*call, &Outcome::Done(done.clone())));
                }
                Kind::ToolFailed { call, failure, .. } => {
                    open_calls.retain(|(open, _)| open != call);
                    content.push(result(*call, &Outcome::Failed(failure.clone())));
                }
                Kind::Started { .. }
                | Kind::StepStarted { .. }
                | Kind::TextStarted { .. }
                | Kind::StepDone { .. }
                | Kind::Ended { .. }
                | Kind::Failed { .. } => {}
            }
        }
        if !open_text.is_empty() {
            content.push(Block::Text { text: open_text });
        }
        let mut closed = Vec::new();
        for (call, name) in open_calls {
            let outcome = outcomes.remove(&call).unwrap_or_else(interrupted);
            content.push(result(call, &outcome));
            closed.push(match outcome {
                Outcome::Done(done) => Kind::ToolDone { call, name, done },
                Outcome::Failed(failure) => Kind::ToolFailed { call, name, failure },
            });
        }
        Self { content, events: closed }
    }
}

fn result(call: CallId, outcome: &Outcome) -> Block {
    match outcome {
        Outcome::Done(done) => Block::ToolResult { tool_use_id: call, content: done.output.clone(), is_error: false },
        Outcome::Failed(failure) => {
            let content = serde_json::to_value(failure).expect("a failure is plain data");
            Block::ToolResult { tool_use_id: call, content, is_error: true }
        }
    }
}

fn interrupted() -> Outcome {
    Outcome::Failed(Failure { error: "Interrupted".into(), retryable: true, was_retried: false, duration_ms: 0 })
}

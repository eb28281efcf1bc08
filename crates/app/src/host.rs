//! Runs a turn on a node: stores its end before a client sees it, or releases it to another node.
//!
//! `App` is such a node. The simulation of the tests is another: the same code with an in-memory store.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use engine::{
    Block, CallId, End, FailureCode, Finished, Kind, MessageId, Progress, Recorded, StopReason, UserId,
    mutants::{Mutant, planted},
    text_of,
};
use futures::{FutureExt, future::BoxFuture};
use store::{Ended, MessageStatus, StoreError, TurnEnd, TurnError, TurnStore};
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{error, warn};

use crate::{
    agents::Agent,
    observe::EndedTurn,
    run_turn::{Answer, Job, failed},
    turns::{LiveTurn, SaveError, Turns, pause},
};

/// How long storing the end of a turn is retried. After that the lease has expired, and another node ends the turn.
const END_TIMEOUT: Duration = Duration::from_secs(15);
const END_AGAIN_AFTER: Duration = Duration::from_millis(300);
/// The minimum number of attempts: the time may have passed while the process was paused.
const FEWEST_TRIES: u32 = 3;

/// The parts of a node that are needed to run turns and to finish turns of other nodes.
pub(crate) trait Host: Send + Sync + 'static {
    fn turns(&self) -> &Arc<Turns>;
    /// Cancelled when background work must end.
    fn background(&self) -> &CancellationToken;
    fn spawned(&self) -> &TaskTracker;
    /// Whether it searches for turns of dead nodes.
    fn takes_turns(&self) -> bool;
    /// Whether it continues them; otherwise it closes them.
    fn goes_on(&self) -> bool;
    fn answer<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Answer>;
    /// The title of a tool for users.
    fn title(&self, agent: &Agent, tool: &str) -> String;
    /// Deletes expired data.
    fn sweep(&self) -> BoxFuture<'_, Result<(), StoreError>>;
    /// A title for the conversation, from the results in an answer.
    fn title_of(&self, content: &[Block]) -> Option<String>;

    /// Charges a user for the part of a reply that was received before its node died.
    fn charge_cut<'a>(&'a self, owner: &'a UserId, n_bytes: u64) -> BoxFuture<'a, ()>;
    /// A turn has ended here; `answer` is its content, unless it failed or was stopped.
    fn ended(&self, turn: EndedTurn, answer: Option<Vec<Block>>);
    /// A turn of a dead node was found.
    fn recovered(&self);
}

pub(crate) async fn run<H: Host>(host: &H, job: Job) {
    let live = job.live.clone();
    let work = AssertUnwindSafe(host.answer(&job)).catch_unwind();
    // The future is dropped when the turn is released, so another node finds the same state as after a crash.
    let answer = tokio::select! {
        biased;
        () = live.left() => None,
        answer = work => Some(answer.unwrap_or_else(|_| panicked(&live).into())),
    };
    finish(host, job, answer).await;
}

/// Stores the end of a turn, or releases the turn, and reports it to the observer.
pub(crate) async fn finish<H: Host>(host: &H, job: Job, answer: Option<Answer>) {
    let live = job.live.clone();
    let said = answer.as_ref().and_then(said);
    let is_ended = match answer {
        Some(answer) => record_end(host, &job, answer).await,
        None => false,
    };
    if !is_ended {
        release(host, &live).await;
    }
    host.turns().forget(&live);
    if is_ended {
        let (turn, conversation) = (live.started.turn, live.started.conversation);
        let (owner, agent, question) = (job.owner, job.agent.id.to_owned(), job.question);
        let events = live.events();
        let (sent, background_calls) = (job.sent.take(), Vec::new());
        host.ended(EndedTurn { turn, conversation, owner, agent, question, events, sent, background_calls }, said);
    }
}

/// Saves the remaining events and releases the lease, so that another node continues at once. If the lease is already
/// lost, neither has an effect.
async fn release<H: Host>(host: &H, live: &LiveTurn) {
    live.leave();
    let released = async {
        live.save(&*host.turns().store).await?;
        Ok::<_, SaveError>(host.turns().store.release(live.started.turn, live.token).await?)
    };
    match released.await {
        Ok(()) => warn!(turn.id = %live.started.turn, "A turn was released; another node finishes it"),
        Err(error) => warn!(turn.id = %live.started.turn, "A turn was released: {error}"),
    }
}

/// Stores the end and shows it to readers. False if this node no longer holds the turn, or if the end could not be
/// stored.
async fn record_end<H: Host>(host: &H, job: &Job, mut answer: Answer) -> bool {
    let given_up = Instant::now() + END_TIMEOUT;
    let (turn, mut n_tries) = (job.live.started.turn, 0);
    loop {
        n_tries += 1;
        let stored = match close_open(host, job, &mut answer.finished).await {
            Ok(()) => try_to_end(host, &job.live, &answer).await,
            Err(error) => Err(error),
        };
        match stored {
            Ok(Ended::Stored) => return true,
            Ok(Ended::Holds(_)) if n_tries < FEWEST_TRIES || Instant::now() < given_up => {}
            Ok(Ended::Lost | Ended::Holds(_)) => {
                warn!(turn.id = %turn, "A turn lost its lease; another node has it");
                return false;
            }
            Err(error) if n_tries < FEWEST_TRIES || Instant::now() < given_up => {
                warn!(turn.id = %turn, "The end of a turn could not be stored, trying again: {error}");
                // Not during the shutdown, because there is no later attempt then.
                pause(END_AGAIN_AFTER, host.background()).await;
            }
            Err(error) => {
                error!(turn.id = %turn, "The end of a turn could not be stored: {error}");
                return false;
            }
        }
    }
}

/// Calls are open if the journal could not be written or the turn panicked. The journal contains their outcomes.
async fn close_open<H: Host>(host: &H, job: &Job, finished: &mut Finished) -> Result<(), StoreError> {
    if !finished.progress.open_calls().is_empty() {
        finished.progress.recall(recorded(&*host.turns().store, job.live.started.message).await?);
    }
    for kind in finished.progress.closing(|name| host.title(job.agent, name)) {
        finished.progress.apply(&kind);
        job.live.publish(kind);
    }
    Ok(())
}

async fn try_to_end<H: Host>(host: &H, live: &LiveTurn, answer: &Answer) -> Result<Ended, StoreError> {
    let finished = &answer.finished;
    let content = finished.progress.content();
    let text = text_of(&content);
    let title = host.title_of(&content);
    let closing = closing_event(answer);
    match live.save_full_rows(&*host.turns().store).await {
        Ok(()) => {}
        Err(SaveError::LeaseLost) => return Ok(Ended::Lost),
        Err(SaveError::Store(error)) => return Err(error),
    }
    let last = live.last_events(closing.clone()).await;
    let end = TurnEnd {
        started: &live.started,
        token: live.token,
        content: &content,
        status: status_of(&finished.end),
        usage: Some(finished.progress.usage()),
        cost_usd: answer.cost_usd,
        error: error_of(&closing),
        text: &text,
        title: title.as_deref(),
        n_saved: last.n_saved,
        events: Some(last.row.clone()),
        n_events: last.n_events,
    };
    if planted(Mutant::EndShownBeforeCommit) {
        live.show_unstored(&last);
        // The readers get it before a crash at the first statement.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let ended = host.turns().store.end_turn(&end).await?;
    match ended {
        Ended::Stored => live.show_end(last),
        Ended::Holds(n_events) => live.holds(last, n_events),
        Ended::Lost => {}
    }
    Ok(ended)
}

/// The calls of a turn in the journal.
pub(crate) async fn recorded(
    store: &dyn TurnStore,
    message: MessageId,
) -> Result<HashMap<CallId, Recorded>, StoreError> {
    let rows = store.calls_of(message).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.recorded)).collect())
}

/// The end of a turn that panicked. The streamed text is kept.
fn panicked(live: &LiveTurn) -> Finished {
    error!(turn.id = %live.started.turn, "A turn panicked");
    let progress = Progress::of(live.events().iter().map(AsRef::as_ref), HashMap::new());
    Finished::new(progress, failed(FailureCode::InternalError, "Something went wrong. Please try again."))
}

/// The content of an answer, unless it failed or was stopped.
fn said(answer: &Answer) -> Option<Vec<Block>> {
    let is_whole = matches!(answer.finished.end, End::Answered(StopReason::Complete | StopReason::MaxSteps));
    is_whole.then(|| answer.finished.progress.content())
}

fn closing_event(answer: &Answer) -> Kind {
    let finished = &answer.finished;
    match &finished.end {
        End::Answered(stop) => Kind::Ended {
            usage: finished.progress.usage(),
            stop: *stop,
            notices: finished.notices.clone(),
            cost_usd: answer.cost_usd,
        },
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

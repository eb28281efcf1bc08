//! What a node does with a turn: run it, store its end before a client sees it, or release it to another node.
//!
//! `App` is such a node. The simulation of the tests is another: the same code, over a store in memory.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use engine::{
    Block, CallId, End, FailureCode, Finished, Kind, Message, MessageId, Progress, Recorded, Role, StopReason,
    mutants::{Mutant, planted},
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
    turns::{LiveTurn, Turns, pause},
};

/// The end of a turn is worth more than one try: it is all the user waited for. After that its lease has run out, and
/// another node ends it.
const END_PATIENCE: Duration = Duration::from_secs(15);
const END_AGAIN_AFTER: Duration = Duration::from_millis(300);
/// So often at least, however late it is: a node that stood still has spent its patience asleep.
const FEWEST_TRIES: u32 = 3;

/// What running turns, and finishing those of others, needs of a node.
pub(crate) trait Host: Send + Sync + 'static {
    fn turns(&self) -> &Arc<Turns>;
    /// Cancelled when background work may go.
    fn background(&self) -> &CancellationToken;
    fn spawned(&self) -> &TaskTracker;
    /// Whether it looks for turns of dead nodes at all.
    fn takes_turns(&self) -> bool;
    /// Whether it goes on with them; if not, it closes them.
    fn goes_on(&self) -> bool;
    fn answer<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Answer>;
    /// What a person reads of a tool.
    fn title(&self, agent: &Agent, tool: &str) -> String;
    /// Clears away what is old.
    fn sweep(&self) -> BoxFuture<'_, Result<(), StoreError>>;
    /// A title for the conversation, from what an answer found.
    fn title_of(&self, content: &[Block]) -> Option<String>;
    /// A turn has ended here; `answer` is what it says, unless it failed or was stopped.
    fn ended(&self, turn: EndedTurn, answer: Option<Vec<Block>>);
    /// A turn of a dead node was found.
    fn recovered(&self);
}

pub(crate) async fn run<H: Host>(host: &H, job: Job) {
    let live = job.live.clone();
    let work = AssertUnwindSafe(host.answer(&job)).catch_unwind();
    // Dropped where it is when the turn is let go: what another node finds is what a crash would leave.
    let answer = tokio::select! {
        biased;
        () = live.left() => None,
        answer = work => Some(answer.unwrap_or_else(|_| panicked(&live).into())),
    };
    finish(host, job, answer).await;
}

/// Stores how a turn finished, or lets it go, and tells what it was.
pub(crate) async fn finish<H: Host>(host: &H, job: Job, answer: Option<Answer>) {
    let live = job.live.clone();
    let said = answer.as_ref().and_then(said);
    let is_ended = match answer {
        Some(answer) => record_end(host, &job, answer).await,
        None => false,
    };
    if !is_ended {
        let_go(host, &live).await;
    }
    host.turns().forget(&live);
    if is_ended {
        let (turn, conversation) = (live.started.turn, live.started.conversation);
        let (owner, agent, question) = (job.owner, job.agent.id.to_owned(), job.question);
        let events = live.events();
        let (sent, asides) = (job.sent.take(), Vec::new());
        host.ended(EndedTurn { turn, conversation, owner, agent, question, events, sent, asides }, said);
    }
}

/// Saves what can be saved and ends the lease, so that another node goes on at once. If the lease is lost already,
/// neither has an effect.
async fn let_go<H: Host>(host: &H, live: &LiveTurn) {
    live.leave();
    let released = async {
        live.save(&*host.turns().store).await?;
        Ok::<_, crate::turns::SaveError>(host.turns().store.release(live.started.turn, live.token).await?)
    };
    match released.await {
        Ok(()) => warn!(turn.id = %live.started.turn, "A turn was let go; another node finishes it"),
        Err(error) => warn!(turn.id = %live.started.turn, "A turn was let go: {error}"),
    }
}

/// Stores the end and shows it. False when the turn is not this node's any more, or could not be stored.
async fn record_end<H: Host>(host: &H, job: &Job, mut answer: Answer) -> bool {
    let given_up = Instant::now() + END_PATIENCE;
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
                // Not while the process ends: there is no later attempt then.
                pause(END_AGAIN_AFTER, host.background()).await;
            }
            Err(error) => {
                error!(turn.id = %turn, "The end of a turn could not be stored: {error}");
                return false;
            }
        }
    }
}

/// Calls are open when the journal could not be written, or when the turn panicked: it knows what became of them.
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
    let text = Message { role: Role::Assistant, content: content.clone() }.text();
    let title = host.title_of(&content);
    let closing = closing_event(answer);
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
        events: last.rows.clone(),
        n_events: last.n_events,
    };
    if planted(Mutant::EndShownBeforeCommit) {
        live.show_unstored(&last);
    }
    let ended = host.turns().store.end_turn(&end).await?;
    match ended {
        Ended::Stored => live.show_end(last),
        Ended::Holds(n_events) => live.holds(last, n_events),
        Ended::Lost => {}
    }
    Ok(ended)
}

/// What the journal knows of the calls of a turn.
pub(crate) async fn recorded(
    store: &dyn TurnStore,
    message: MessageId,
) -> Result<HashMap<CallId, Recorded>, StoreError> {
    let rows = store.calls_of(message).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.recorded)).collect())
}

/// What was streamed stays.
fn panicked(live: &LiveTurn) -> Finished {
    error!(turn.id = %live.started.turn, "A turn panicked");
    let progress = Progress::of(live.events().iter().map(AsRef::as_ref), HashMap::new());
    Finished::new(progress, failed(FailureCode::InternalError, "Something went wrong. Please try again."))
}

/// What an answer says, unless it failed or was stopped.
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

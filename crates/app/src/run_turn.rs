//! Runs one turn: load what was said, run the agent from where the log ends, store the end before anyone sees it.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use engine::{
    CallId, End, Event, FailureCode, Finished, Kind, Message, MessageId, Model, Progress, Prompt, Recorded, Reviewer,
    Role, StopReason, Toolbox, Turn, UserId,
};
use futures::FutureExt;
use store::{Ended, MessageStatus, Purpose, Store, StoreError, TurnEnd, TurnError};
use tracing::{error, warn};

use crate::{
    App,
    agents::Agent,
    claims::Claims,
    decided::{self, Decided},
    history,
    observe::{EndedTurn, Sent, Watched},
    turn_journal::TurnJournal,
    turns::{LiveTurn, pause},
};

/// The end of a turn is worth more than one try: it is all the user waited for. After that its lease has run out, and
/// another node ends it.
const END_PATIENCE: Duration = Duration::from_secs(15);
const END_AGAIN_AFTER: Duration = Duration::from_millis(300);

/// A turn that is to run on this node.
pub(crate) struct Job {
    pub(crate) agent: &'static Agent,
    pub(crate) owner: UserId,
    pub(crate) live: Arc<LiveTurn>,
    pub(crate) question: String,
    /// Whether nothing was said before the question.
    pub(crate) is_new: bool,
    /// The call that its user has decided on: the turn begins with it.
    pub(crate) decided: Option<decided::Call>,
    /// What an earlier node has done of it.
    pub(crate) progress: Progress,
    /// How long it has run on earlier nodes.
    pub(crate) elapsed: Duration,
    /// What the model is sent, for the trace.
    pub(crate) sent: Sent,
}

/// How a turn finished.
pub(crate) struct Answer {
    finished: Finished,
    /// In US dollars, where the price of the model is known.
    cost_usd: Option<f64>,
}

impl From<Finished> for Answer {
    fn from(finished: Finished) -> Self {
        Self { finished, cost_usd: None }
    }
}

impl App {
    pub(crate) async fn run(&self, job: Job) {
        let live = job.live.clone();
        let work = AssertUnwindSafe(self.answer(&job)).catch_unwind();
        // Dropped where it is when the turn is let go: what another node finds is what a crash would leave.
        let answer = tokio::select! {
            biased;
            () = live.left() => None,
            answer = work => Some(answer.unwrap_or_else(|_| panicked(&live).into())),
        };
        self.finish(job, answer).await;
    }

    /// Stores how a turn finished, or lets it go, and tells what it was.
    pub(crate) async fn finish(&self, job: Job, answer: Option<Answer>) {
        let live = job.live.clone();
        let is_ended = match answer {
            Some(answer) => self.record_end(&job, answer).await,
            None => false,
        };
        if !is_ended {
            self.let_go(&live).await;
        }
        self.turns.forget(&live);
        if is_ended {
            let (turn, conversation) = (live.started.turn, live.started.conversation);
            let (owner, agent, question) = (job.owner, job.agent.id.to_owned(), job.question);
            let events = live.events();
            let (sent, asides) = (job.sent.take(), Vec::new());
            let ended = EndedTurn { turn, conversation, owner, agent, question, events, sent, asides };
            self.observer.turn_ended(ended);
        }
    }

    /// Saves what can be saved and ends the lease, so that another node goes on at once. If the lease is lost already,
    /// neither has an effect.
    async fn let_go(&self, live: &LiveTurn) {
        live.leave();
        let released = async {
            live.save(&self.store).await?;
            Ok::<_, crate::turns::SaveError>(self.store.release(live.started.turn, live.token).await?)
        };
        match released.await {
            Ok(()) => warn!(turn.id = %live.started.turn, "A turn was let go; another node finishes it"),
            Err(error) => warn!(turn.id = %live.started.turn, "A turn was let go: {error}"),
        }
    }

    /// The answer, and what it has cost in US dollars where that is known.
    async fn answer(&self, job: &Job) -> Answer {
        let (live, toolbox) = (&job.live, self.toolbox_of(job.agent));
        let _running = self.models.run_turn();
        let (model, messages) = match self.model_and_messages(job, toolbox).await {
            Ok(loaded) => loaded,
            Err(error) => {
                error!(turn.id = %live.started.turn, "The history could not be loaded: {error}");
                let message = "Your conversation could not be loaded. Please try again.";
                return Finished::new(job.progress.clone(), failed(FailureCode::DatabaseError, message)).into();
            }
        };
        let metered = self.meter.model(&model, &job.owner, Purpose::Answer);
        let sent = self.observer.tells_content().then_some(&job.sent);
        let watched = Watched { model: metered, sent };
        let asked = Decided { model: watched, call: Mutex::new(job.decided.clone()) };
        let turn = Turn {
            model: &asked,
            toolbox,
            journal: &TurnJournal { store: &self.store, live },
            owner: job.owner.clone(),
            message: live.started.message,
            prompt: Prompt {
                system: self.instructions_of(job.agent).await,
                tools: self.specs_of(job.agent),
                messages,
                may_call_tools: true,
            },
            limits: self.config.limits.for_model(model.as_ref()),
            progress: job.progress.clone(),
            elapsed: job.elapsed,
            cancel: live.cancel.clone(),
        };
        let claims = Claims::of(job.agent, &turn.prompt, toolbox);
        // The offline model says only what its rules have read from tools.
        let reviewer = (model.id() != "offline").then_some(&claims as &dyn Reviewer);
        // A reply that an earlier node began goes on as the step that it began.
        job.sent.begin_step(last_step(&live.events()));
        let mut emit = |kind| {
            if let Kind::StepStarted { step, .. } = &kind {
                job.sent.begin_step(*step);
            }
            live.publish(kind);
        };
        let mut finished = engine::run_reviewed(turn, reviewer, &mut emit).await;
        self.readiness.answered(&finished.end);
        if live.is_cut() && finished.end == End::Answered(StopReason::Stopped) {
            finished.end = cut_end();
        }
        let cost_usd = self.models.cost(model.as_ref(), &finished.usage);
        Answer { finished, cost_usd }
    }

    /// The model of a conversation, and what it reads of it.
    async fn model_and_messages(
        &self,
        job: &Job,
        toolbox: &Toolbox,
    ) -> Result<(Arc<dyn Model>, Vec<Message>), StoreError> {
        let (owner, conversation) = (&job.owner, job.live.started.conversation);
        let model = match self.models.named().next() {
            Some(_) => self.models.of(self.store.conversation_model(owner, conversation).await?.as_deref()),
            None => self.models.active(),
        };
        let messages = if job.is_new {
            vec![Message::user(job.question.clone())]
        } else {
            history::load(&self.store, owner, conversation, toolbox, model.as_ref()).await?
        };
        Ok((model, messages))
    }

    /// Stores the end and shows it. False when the turn is not this node's any more, or could not be stored.
    async fn record_end(&self, job: &Job, mut answer: Answer) -> bool {
        let given_up = Instant::now() + END_PATIENCE;
        let turn = job.live.started.turn;
        loop {
            let stored = match self.close_open(job, &mut answer.finished).await {
                Ok(()) => self.try_to_end(&job.live, &answer).await,
                Err(error) => Err(error),
            };
            match stored {
                Ok(Ended::Stored) => return true,
                Ok(Ended::Holds(_)) if Instant::now() < given_up => {}
                Ok(Ended::Lost | Ended::Holds(_)) => {
                    warn!(turn.id = %turn, "A turn lost its lease; another node has it");
                    return false;
                }
                Err(error) if Instant::now() < given_up => {
                    warn!(turn.id = %turn, "The end of a turn could not be stored, trying again: {error}");
                    // Not while the process ends: there is no later attempt then.
                    pause(END_AGAIN_AFTER, &self.background).await;
                }
                Err(error) => {
                    error!(turn.id = %turn, "The end of a turn could not be stored: {error}");
                    return false;
                }
            }
        }
    }

    /// Calls are open when the journal could not be written, or when the turn panicked: it knows what became of them.
    async fn close_open(&self, job: &Job, finished: &mut Finished) -> Result<(), StoreError> {
        if !finished.progress.open_calls().is_empty() {
            finished.progress.recall(recorded(&self.store, job.live.started.message).await?);
        }
        let toolbox = self.toolbox_of(job.agent);
        for kind in finished.progress.closing(|name| toolbox.title(name)) {
            finished.progress.apply(&kind);
            job.live.publish(kind);
        }
        Ok(())
    }

    async fn try_to_end(&self, live: &LiveTurn, answer: &Answer) -> Result<Ended, StoreError> {
        let finished = &answer.finished;
        let content = finished.progress.content();
        let text = Message { role: Role::Assistant, content: content.clone() }.text();
        let closing = closing_event(answer);
        let last = live.last_events(closing.clone()).await;
        let end = TurnEnd {
            started: &live.started,
            token: live.token,
            content: &content,
            status: status_of(&finished.end),
            usage: Some(finished.progress.usage()),
            error: error_of(&closing),
            text: &text,
            n_saved: last.n_saved,
            events: last.rows.clone(),
            n_events: last.n_events,
        };
        let ended = self.store.end_turn(&end).await?;
        match ended {
            Ended::Stored => live.show_end(last),
            Ended::Holds(n_events) => live.holds(last, n_events),
            Ended::Lost => {}
        }
        Ok(ended)
    }
}

/// What the journal knows of the calls of a turn.
pub(crate) async fn recorded(store: &Store, message: MessageId) -> Result<HashMap<CallId, Recorded>, StoreError> {
    let rows = store.calls_of(message).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.recorded)).collect())
}

fn last_step(events: &[Arc<Event>]) -> u32 {
    let last = events.iter().rev().find_map(|event| match event.kind {
        Kind::StepStarted { step, .. } => Some(step),
        _ => None,
    });
    last.unwrap_or(0)
}

/// What was streamed stays.
fn panicked(live: &LiveTurn) -> Finished {
    error!(turn.id = %live.started.turn, "A turn panicked");
    let progress = Progress::of(live.events().iter().map(AsRef::as_ref), HashMap::new());
    Finished::new(progress, failed(FailureCode::InternalError, "Something went wrong. Please try again."))
}

fn failed(code: FailureCode, message: &str) -> End {
    End::Failed { code, message: message.into(), retryable: true }
}

/// How a turn ends that no node finishes.
pub(crate) fn cut_end() -> End {
    failed(FailureCode::Interrupted, "The server was restarted while it was answering. Please try again.")
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

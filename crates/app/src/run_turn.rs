//! Answers one turn: loads the history and runs the agent from the end of the log. `host` stores the end.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use engine::{
    Block, End, Event, FailureCode, Finished, Kind, Message, Model, Progress, Prompt, Reviewer, StopReason, Toolbox,
    Turn, UserId,
    mutants::{Mutant, planted},
};
use futures::future::BoxFuture;
use offline::OfflineModel;
use store::{Purpose, StoreError};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::error;

use crate::{
    App,
    agents::Agent,
    claims::Claims,
    decided::{self, Decided},
    history,
    host::Host,
    observe::{EndedTurn, Sent, Watched},
    titles::{self, TitleRequest},
    turn_journal::TurnJournal,
    turns::{LiveTurn, Turns},
};

/// A turn that runs on this node.
pub(crate) struct Job {
    pub(crate) agent: &'static Agent,
    pub(crate) owner: UserId,
    pub(crate) live: Arc<LiveTurn>,
    pub(crate) question: String,
    /// Whether the question is the first message of the conversation.
    pub(crate) is_new: bool,
    /// The call that the user has allowed: the turn begins with it.
    pub(crate) decided: Option<decided::Call>,
    /// The progress of earlier nodes.
    pub(crate) progress: Progress,
    /// How long it has run on earlier nodes.
    pub(crate) elapsed: Duration,
    /// The prompts that are sent, for the trace.
    pub(crate) sent: Sent,
}

/// The end of a turn.
pub(crate) struct Answer {
    pub(crate) finished: Finished,
    /// In US dollars, if the price of the model is known.
    pub(crate) cost_usd: Option<f64>,
}

impl From<Finished> for Answer {
    fn from(finished: Finished) -> Self {
        Self { finished, cost_usd: None }
    }
}

impl Host for App {
    fn turns(&self) -> &Arc<Turns> {
        &self.turns
    }

    fn background(&self) -> &CancellationToken {
        &self.background
    }

    fn spawned(&self) -> &TaskTracker {
        &self.spawned
    }

    fn takes_turns(&self) -> bool {
        self.config.takes_turns
    }

    fn goes_on(&self) -> bool {
        self.config.takeover
    }

    fn answer<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Answer> {
        Box::pin(self.answer_to(job))
    }

    fn title(&self, agent: &Agent, tool: &str) -> String {
        self.toolbox_of(agent).title(tool)
    }

    fn sweep(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async {
            self.store.forget_old_events().await?;
            self.store.erase_expired().await?;
            self.store.forget_old_calls().await?;
            self.store.forget_expired_keys().await
        })
    }

    fn title_of(&self, content: &[Block]) -> Option<String> {
        // If a background model is available, it writes a better title after the end.
        self.models.background().is_none().then(|| titles::from_found(content)).flatten()
    }

    fn charge_cut<'a>(&'a self, owner: &'a UserId, n_bytes: u64) -> BoxFuture<'a, ()> {
        Box::pin(self.meter.charge_cut(owner, n_bytes))
    }

    fn ended(&self, turn: EndedTurn, answer: Option<Vec<Block>>) {
        self.improve_title(&turn, answer);
        self.observer.turn_ended(turn);
    }

    fn recovered(&self) {
        self.observer.metrics.turn_recovered();
    }
}

impl App {
    /// Improves the title in the background, if a model is available. A title is not part of the turn.
    fn improve_title(&self, turn: &EndedTurn, answer: Option<Vec<Block>>) {
        let (Some(content), Some(model)) = (answer, self.models.background()) else { return };
        let request = TitleRequest {
            store: self.store.clone(),
            model,
            meter: self.meter.clone(),
            owner: turn.owner.clone(),
            conversation: turn.conversation,
            question: turn.question.clone(),
            content,
        };
        self.spawned.spawn(request.run(self.background.clone()));
    }

    /// The answer, and its cost in US dollars if it is known.
    async fn answer_to(&self, job: &Job) -> Answer {
        let (live, toolbox) = (&job.live, self.toolbox_of(job.agent));
        let _running = self.models.run_turn();
        let loaded = async { Ok((self.model_and_messages(job, toolbox).await?, self.decided_call(job).await?)) };
        let ((model, messages), decided) = match loaded.await {
            Ok(loaded) => loaded,
            Err::<_, StoreError>(error) => {
                error!(turn.id = %live.started.turn, "The history could not be loaded: {error}");
                let message = "Your conversation could not be loaded. Please try again.";
                return Finished::new(job.progress.clone(), failed(FailureCode::DatabaseError, message)).into();
            }
        };
        let metered = self.meter.model(&model, &job.owner, Purpose::Answer);
        let sent = self.observer.tells_content().then_some(&job.sent);
        let watched = Watched { model: metered, sent };
        let asked = Decided { model: watched, call: Mutex::new(decided) };
        let turn = Turn {
            model: &asked,
            toolbox,
            journal: &TurnJournal { store: &*self.turns.store, live },
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
        let claims = Claims::of(job.agent, &turn.prompt);
        // The offline model needs no check of claims, because it only reports results of tools.
        let reviewer = (model.id() != OfflineModel::ID).then_some(&claims as &dyn Reviewer);
        // A reply that an earlier node began continues as the same step.
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

    /// The call that the user has allowed, if the turn begins with it. The log may not contain it, because a node that
    /// died may not have saved it.
    async fn decided_call(&self, job: &Job) -> Result<Option<decided::Call>, StoreError> {
        if job.progress.n_takeovers() == 0 || job.progress.has_calls() {
            return Ok(job.decided.clone());
        }
        if planted(Mutant::TakeoverForgetsDecision) {
            return Ok(None);
        }
        self.store.decided_call(&job.owner, job.live.started.turn).await
    }

    /// The model of a conversation, and the messages that it reads.
    async fn model_and_messages(
        &self,
        job: &Job,
        toolbox: &Toolbox,
    ) -> Result<(Arc<dyn Model>, Vec<Message>), StoreError> {
        let owner = &job.owner;
        let model = match self.models.named().next() {
            Some(_) => self.models.of(self.store.turn_model(owner, job.live.started.turn).await?.as_deref()),
            None => self.models.active(),
        };
        let messages = if job.is_new {
            vec![Message::user(job.question.clone())]
        } else {
            history::load(&self.store, owner, &job.live.started, toolbox, model.as_ref()).await?
        };
        Ok((model, messages))
    }
}

fn last_step(events: &[Arc<Event>]) -> u32 {
    let last = events.iter().rev().find_map(|event| match event.kind {
        Kind::StepStarted { step, .. } => Some(step),
        _ => None,
    });
    last.unwrap_or(0)
}

pub(crate) fn failed(code: FailureCode, message: &str) -> End {
    End::Failed { code, message: message.into(), retryable: true }
}

/// The end of a turn that no node finishes.
pub(crate) fn cut_end() -> End {
    failed(FailureCode::Interrupted, "The server was restarted while it was answering. Please try again.")
}

//! Answers one turn: load what was said, run the agent from where the log ends. `host` stores the end.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use engine::{
    End, FailureCode, Finished, Message, Model, Progress, Prompt, Reviewer, StopReason, Toolbox, Turn, UserId,
};
use futures::future::BoxFuture;
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
    observe::EndedTurn,
    turn_journal::TurnJournal,
    turns::{LiveTurn, Turns},
};

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
}

/// How a turn finished.
pub(crate) struct Answer {
    pub(crate) finished: Finished,
    /// In US dollars, where the price of the model is known.
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
            self.store.purge_deleted_conversations().await?;
            self.store.forget_expired_keys().await
        })
    }

    fn ended(&self, turn: EndedTurn) {
        self.observer.turn_ended(turn);
    }

    fn recovered(&self) {
        self.observer.metrics.turn_recovered();
    }
}

impl App {
    /// The answer, and what it has cost in US dollars where that is known.
    async fn answer_to(&self, job: &Job) -> Answer {
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
        let metered = Decided { model: metered, call: Mutex::new(job.decided.clone()) };
        let turn = Turn {
            model: &metered,
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
        let claims = Claims::of(job.agent, &turn.prompt, toolbox);
        // The offline model says only what its rules have read from tools.
        let reviewer = (model.id() != "offline").then_some(&claims as &dyn Reviewer);
        let mut finished = engine::run_reviewed(turn, reviewer, &mut |kind| live.publish(kind)).await;
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
}

pub(crate) fn failed(code: FailureCode, message: &str) -> End {
    End::Failed { code, message: message.into(), retryable: true }
}

/// How a turn ends that no node finishes.
pub(crate) fn cut_end() -> End {
    failed(FailureCode::Interrupted, "The server was restarted while it was answering. Please try again.")
}

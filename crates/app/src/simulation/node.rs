//! A simulated node: the real code for turns, leases and recovery, with a simulated model and simulated tools.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use chrono::{TimeDelta, Utc};
use engine::{Block, End, Limits, Message, Progress, Prompt, StopReason, Toolbox, Turn, UserId};
use futures::future::BoxFuture;
use store::{NewTurn, Start, StartedTurn, StoreError, TurnLimits, TurnStore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    model::{Look, Note, SimModel},
    store::SimStore,
    world::World,
};
use crate::{
    agents::{Agent, agent},
    host::{Host, run},
    observe::{EndedTurn, Sent},
    recovery,
    run_turn::{Answer, Job, cut_end},
    turn_journal::TurnJournal,
    turns::{Turns, first_row},
};

/// The time limit of a shutdown.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);
/// No turn times out here, because models are slow and nodes are paused.
const LIMITS: Limits = Limits {
    max_steps: 5,
    first_delta: Duration::from_secs(600),
    silence: Duration::from_secs(600),
    whole_turn: Duration::from_secs(3600),
};

pub(super) struct SimNode {
    pub(super) number: usize,
    pub(super) store: Arc<SimStore>,
    pub(super) turns: Arc<Turns>,
    /// Cancelled when the node accepts no new turns.
    leaving: CancellationToken,
    background: CancellationToken,
    spawned: TaskTracker,
    toolbox: Toolbox,
    model: SimModel,
}

impl SimNode {
    pub(super) async fn start(world: &Arc<World>, number: usize, skew: TimeDelta, is_reborn: bool) -> Arc<Self> {
        let store = Arc::new(SimStore {
            world: Arc::downgrade(world),
            memory: world.memory.of_node(skew),
            number,
            dead: CancellationToken::new(),
            wakes_at: Mutex::default(),
            tokens: Mutex::default(),
            node: Mutex::new(Weak::new()),
        });
        let (name, leaving) = (format!("node {number}"), CancellationToken::new());
        let node = Arc::new(Self {
            number,
            turns: Arc::new(Turns::new(store.clone(), name.clone(), leaving.clone())),
            leaving,
            background: CancellationToken::new(),
            spawned: TaskTracker::new(),
            toolbox: Toolbox::default().with(Note(store.clone())).with(Look(store.clone())),
            model: SimModel(Arc::downgrade(world)),
            store,
        });
        *node.store.node.lock().unwrap() = Arc::downgrade(&node);
        let (turns, token) = (node.turns.clone(), node.background.clone());
        tokio::spawn(async move { turns.keep_saving(token).await });
        let (turns, token) = (node.turns.clone(), node.background.clone());
        tokio::spawn(async move { turns.keep_listening_for_stops(token).await });
        tokio::spawn(recovery::keep_leases(node.clone()));
        if is_reborn {
            recovery::take_dead_turns(&node, Some(&name)).await;
        }
        node
    }

    /// Does with a message what `App::converse` does.
    pub(super) async fn ask(self: &Arc<Self>, owner: &UserId, text: &str) -> Result<StartedTurn, StoreError> {
        let Some(_starting) = self.turns.enter() else { return Err(StoreError::Conflict("leaving")) };
        let at_ms = Utc::now().timestamp_millis();
        let new = NewTurn {
            conversation: None,
            new_conversation_id: None,
            again: None,
            agent: "tasks",
            text,
            client_message_id: Some(text),
            model: None,
            decides: None,
            node: &self.turns.node,
            limits: TurnLimits::default(),
            opening: Some(&|started: &StartedTurn| first_row(started, at_ms)),
        };
        let started = match self.store.start_turn(owner, &new).await? {
            Start::Existing(started) => return Ok(started),
            Start::New(started) => started,
            Start::Limited(_) => return Err(StoreError::Conflict("limited")),
        };
        let live = self.turns.begin(started.clone(), at_ms);
        let job = Job {
            agent: agent("tasks").expect("the agent exists"),
            owner: owner.clone(),
            live,
            question: text.to_owned(),
            is_new: true,
            decided: None,
            progress: Progress::default(),
            elapsed: Duration::ZERO,
            sent: Sent::default(),
        };
        let node = self.clone();
        self.spawned.spawn(async move { run(&*node, job).await });
        Ok(started)
    }

    /// Hands its turns over and ends.
    pub(super) fn leave(self: &Arc<Self>, world: &Arc<World>) {
        self.leaving.cancel();
        self.turns.hand_over_all();
        let (node, world) = (self.clone(), world.clone());
        tokio::spawn(async move {
            let quiet = async {
                while !node.turns.is_quiet() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            let _ = tokio::time::timeout(LEAVES_WITHIN, quiet).await;
            node.background.cancel();
            world.replace(&node);
        });
    }
}

impl Host for SimNode {
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
        true
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn answer<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let turn = Turn {
                model: &self.model,
                toolbox: &self.toolbox,
                journal: &TurnJournal { store: &*self.turns.store, live: &job.live },
                owner: job.owner.clone(),
                message: job.live.started.message,
                prompt: Prompt {
                    system: "".into(),
                    tools: self.toolbox.specs().into(),
                    messages: vec![Message::user(job.question.clone())],
                    may_call_tools: true,
                },
                limits: LIMITS,
                progress: job.progress.clone(),
                elapsed: job.elapsed,
                cancel: job.live.cancel.clone(),
            };
            let mut finished = engine::run(turn, &mut |kind| job.live.publish(kind)).await;
            if job.live.is_cut() && finished.end == End::Answered(StopReason::Stopped) {
                finished.end = cut_end();
            }
            finished.into()
        })
    }

    fn title(&self, _: &Agent, tool: &str) -> String {
        self.toolbox.title(tool)
    }

    fn sweep(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn charge_cut<'a>(&'a self, _: &'a UserId, _: u64) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn title_of(&self, _: &[Block]) -> Option<String> {
        None
    }

    fn ended(&self, _: EndedTurn, _: Option<Vec<Block>>) {}

    fn recovered(&self) {}
}

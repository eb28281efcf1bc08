//! The shared state of the nodes and clients of one seed: random numbers, the trace, the store, and the real effects.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::TimeDelta;
use engine::TurnId;
use store::MemoryTurnStore;
use tokio::time::{Instant, sleep};

use super::{client, node::SimNode};

pub(super) const TURNS_PER_SEED: u64 = 20;
const N_NODES: usize = 3;
/// The maximum clock skew of a node.
const MAX_SKEW_MS: u64 = 400;

/// The result of one seed.
#[derive(Default)]
pub(super) struct Run {
    pub(super) trace: String,
    pub(super) broken: Vec<String>,
    pub(super) n_turns: u64,
    pub(super) n_takeovers: u64,
    pub(super) n_interrupted: u64,
    pub(super) n_stopped: u64,
    pub(super) n_crashes: u64,
    pub(super) n_pauses: u64,
    pub(super) n_lost_replies: u64,
    pub(super) n_lost_notices: u64,
}

impl Run {
    pub(super) fn add(&mut self, other: &Self) {
        self.n_turns += other.n_turns;
        self.n_takeovers += other.n_takeovers;
        self.n_interrupted += other.n_interrupted;
        self.n_stopped += other.n_stopped;
        self.n_crashes += other.n_crashes;
        self.n_pauses += other.n_pauses;
        self.n_lost_replies += other.n_lost_replies;
        self.n_lost_notices += other.n_lost_notices;
    }

    pub(super) fn figures(&self) -> String {
        format!(
            "{} turns, {} takeovers, {} closed after two, {} stopped, {} crashes, {} pauses, {} lost replies, {} lost notices",
            self.n_turns,
            self.n_takeovers,
            self.n_interrupted,
            self.n_stopped,
            self.n_crashes,
            self.n_pauses,
            self.n_lost_replies,
            self.n_lost_notices
        )
    }
}

pub(super) struct World {
    pub(super) memory: MemoryTurnStore,
    began: Instant,
    random: Mutex<u64>,
    pub(super) nodes: Mutex<Vec<Arc<SimNode>>>,
    /// How often each turn's tool had its effect, by the mark of the turn.
    pub(super) effects: Mutex<BTreeMap<String, usize>>,
    /// How often each turn was taken over, including takeovers by nodes that did not run it.
    pub(super) takeovers: Mutex<BTreeMap<TurnId, u32>>,
    pub(super) run: Mutex<Run>,
}

impl World {
    pub(super) async fn play(seed: u64) -> Run {
        let world = Arc::new(Self {
            memory: MemoryTurnStore::running(),
            began: Instant::now(),
            random: Mutex::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            nodes: Mutex::default(),
            effects: Mutex::default(),
            takeovers: Mutex::default(),
            run: Mutex::default(),
        });
        for n in 0..N_NODES {
            let node = SimNode::start(&world, n, world.skew(), false).await;
            world.nodes.lock().unwrap().push(node);
        }
        let disturbing = tokio::spawn(disturb(world.clone()));
        let clients = (0..TURNS_PER_SEED).map(|n| tokio::spawn(client::one_turn(world.clone(), n)));
        for ended in futures::future::join_all(clients).await {
            if let Err(error) = ended {
                world.broken(format!("a client failed: {error}"));
            }
        }
        disturbing.abort();
        client::check_effects(&world);
        std::mem::take(&mut *world.run.lock().unwrap())
    }

    /// A random number below `n`.
    pub(super) fn roll(&self, n: u64) -> u64 {
        let mut random = self.random.lock().unwrap();
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*random >> 33) % n
    }

    pub(super) fn one_in(&self, n: u64) -> bool {
        self.roll(n) == 0
    }

    pub(super) fn ms(&self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.roll(to - from))
    }

    fn skew(&self) -> TimeDelta {
        let ms = i64::try_from(self.roll(2 * MAX_SKEW_MS)).unwrap_or_default();
        TimeDelta::milliseconds(ms) - TimeDelta::milliseconds(MAX_SKEW_MS.cast_signed())
    }

    pub(super) fn tell(&self, what: std::fmt::Arguments<'_>) {
        let at = self.began.elapsed().as_millis();
        // Writing to a string cannot fail.
        let _ = writeln!(self.run.lock().unwrap().trace, "{at} {what}");
    }

    pub(super) fn broken(&self, what: String) {
        self.tell(format_args!("BROKEN {what}"));
        self.run.lock().unwrap().broken.push(what);
    }

    pub(super) fn count(&self, what: impl FnOnce(&mut Run)) {
        what(&mut self.run.lock().unwrap());
    }

    pub(super) fn some_node(&self) -> Arc<SimNode> {
        let n = self.roll(N_NODES as u64);
        self.nodes.lock().unwrap()[usize::try_from(n).unwrap_or_default()].clone()
    }

    /// Sends a notice to every node except the sender; some are lost.
    pub(super) fn notify(&self, from: usize, turn: Option<TurnId>) {
        let nodes = self.nodes.lock().unwrap().clone();
        for node in nodes.iter().filter(|node| node.number != from) {
            if self.one_in(4) {
                self.count(|run| run.n_lost_notices += 1);
            } else {
                node.store.memory.receive_notice(turn);
            }
        }
    }

    /// Ends the node at once. It restarts under its old name.
    pub(super) fn crash(self: &Arc<Self>, node: &SimNode) {
        if node.store.dead.is_cancelled() {
            return;
        }
        self.tell(format_args!("node {} crashes", node.number));
        self.count(|run| run.n_crashes += 1);
        self.replace(node);
    }

    pub(super) fn replace(self: &Arc<Self>, node: &SimNode) {
        node.store.dead.cancel();
        let (world, number, away) = (self.clone(), node.number, self.ms(1, 15_000));
        tokio::spawn(async move {
            sleep(away).await;
            world.tell(format_args!("node {number} is back"));
            let node = SimNode::start(&world, number, world.skew(), true).await;
            world.nodes.lock().unwrap()[number] = node;
        });
    }
}

/// Sometimes pauses a node for longer than a lease, or shuts it down.
async fn disturb(world: Arc<World>) {
    loop {
        sleep(world.ms(1_000, 9_000)).await;
        let node = world.some_node();
        if node.store.dead.is_cancelled() {
            continue;
        }
        if world.one_in(3) {
            world.tell(format_args!("node {} leaves", node.number));
            node.leave(&world);
        } else {
            let time = world.ms(11_000, 25_000);
            world.tell(format_args!("node {} is paused for {} ms", node.number, time.as_millis()));
            world.count(|run| run.n_pauses += 1);
            *node.store.wakes_at.lock().unwrap() = Some(Instant::now() + time);
        }
    }
}

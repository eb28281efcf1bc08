//! Running turns: append events, follow them from any position, stop a turn, and save events in group commits.

mod follow;
mod live;
mod rows;
mod save;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use engine::{
    Event, TurnId, UserId,
    mutants::{Mutant, planted},
};
use futures::{StreamExt, stream::BoxStream};
use store::{FIRST_TOKEN, StartedTurn, TurnRow, TurnStore};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::Error;
use follow::follow_saved;

pub use live::LiveTurn;
pub(crate) use live::SaveError;
pub(crate) use rows::{first_event, first_row, read};

/// The turns of this node, and access to those of other nodes.
pub struct Turns {
    pub(crate) store: Arc<dyn TurnStore>,
    /// The name under which this process leases its turns.
    pub node: String,
    /// In the order of their start.
    live: Mutex<BTreeMap<TurnId, Arc<LiveTurn>>>,
    /// Messages that are being stored; each becomes a turn or is rejected.
    n_starting: Arc<AtomicUsize>,
    /// Notified when an event waits to be saved.
    has_unsaved: Arc<Notify>,
    /// Cancelled at the start of the shutdown: no new turns, and readers of other nodes' turns are disconnected.
    leaving: CancellationToken,
}

/// A message that is being stored: the process does not end while this value exists.
pub(crate) struct Starting(Arc<AtomicUsize>);

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Batches of events, as they become available.
pub type Events = BoxStream<'static, Vec<Arc<Event>>>;

impl Turns {
    pub fn new(store: Arc<dyn TurnStore>, node: String, leaving: CancellationToken) -> Self {
        let (live, n_starting, has_unsaved) = (Mutex::default(), Arc::default(), Arc::default());
        Self { store, node, live, n_starting, has_unsaved, leaving }
    }

    /// Permission to start a turn; `None` during the shutdown.
    pub(crate) fn enter(&self) -> Option<Starting> {
        // Increment before checking `leaving`: a racing `enter` is either counted or sees the cancellation.
        self.n_starting.fetch_add(1, Ordering::SeqCst);
        let starting = Starting(self.n_starting.clone());
        (!self.leaving.is_cancelled()).then_some(starting)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.n_starting.load(Ordering::SeqCst) == 0 && self.n_live() == 0
    }

    /// Ends every turn of this node as interrupted: the process cannot wait any longer, and no node takes turns over.
    pub(crate) fn cut_all(&self) -> usize {
        let turns = self.all();
        turns.iter().for_each(|turn| turn.cut());
        turns.len()
    }

    /// Releases every turn of this node, so that another node finishes it.
    pub(crate) fn hand_over_all(&self) -> usize {
        let turns = self.all();
        turns.iter().for_each(|turn| turn.leave());
        turns.len()
    }

    /// A new turn. Its first event was stored with its start, so that readers see it at once.
    pub(crate) fn begin(&self, started: StartedTurn, at_ms: i64) -> Arc<LiveTurn> {
        let first = Arc::new(first_event(&started, at_ms));
        self.insert(LiveTurn::new(started, FIRST_TOKEN, vec![first], 0, self.has_unsaved.clone()))
    }

    /// A turn that this node has taken over. `events`: its saved log without the last `n_unreadable` events.
    pub(crate) fn resume(
        &self,
        started: StartedTurn,
        token: i64,
        events: Vec<Arc<Event>>,
        n_unreadable: usize,
    ) -> Arc<LiveTurn> {
        self.insert(LiveTurn::new(started, token, events, n_unreadable, self.has_unsaved.clone()))
    }

    fn insert(&self, turn: LiveTurn) -> Arc<LiveTurn> {
        let turn = Arc::new(turn);
        // An earlier run of the same turn on this node has lost its lease.
        if let Some(earlier) = self.lock().insert(turn.id(), turn.clone()) {
            earlier.leave();
        }
        turn
    }

    /// Removes a turn, unless this node has taken it over again.
    pub(crate) fn forget(&self, turn: &LiveTurn) {
        let mut live = self.lock();
        if live.get(&turn.id()).is_some_and(|known| known.token == turn.token) {
            live.remove(&turn.id());
        }
    }

    pub fn n_live(&self) -> usize {
        self.lock().len()
    }

    fn all(&self) -> Vec<Arc<LiveTurn>> {
        self.lock().values().cloned().collect()
    }

    /// The leases of this node.
    pub(crate) fn leases(&self) -> Vec<(TurnId, i64)> {
        self.all().iter().map(|turn| (turn.id(), turn.token)).collect()
    }

    /// The number of unsaved events, and when the oldest of them happened.
    pub(crate) fn unsaved(&self) -> (usize, Option<i64>) {
        self.all()
            .iter()
            .filter_map(|turn| turn.unsaved())
            .fold((0, None), |(n_all, oldest), (n, first)| (n_all + n, oldest.into_iter().chain(first).min()))
    }

    /// All events after `after`, then live events to the end: from memory if the turn runs here, otherwise from the
    /// database.
    #[tracing::instrument(name = "turns.follow", skip_all, fields(user.id = %owner, turn.id = %turn))]
    pub async fn follow(&self, owner: &UserId, turn: TurnId, after: u32) -> Result<Events, Error> {
        let row = self.store.turn(owner, turn).await?;
        if row.is_forgotten(self.store.time()) {
            return Err(Error::Gone);
        }
        Ok(self.follow_known(turn, row, after))
    }

    /// Follows a turn that the caller has just started, from its beginning.
    pub async fn follow_started(&self, owner: &UserId, started: &StartedTurn) -> Result<Events, Error> {
        match self.held_turn(started.turn) {
            Some(live) => Ok(live.follow(0).boxed()),
            None => self.follow(owner, started.turn, 0).await,
        }
    }

    fn follow_known(&self, turn: TurnId, row: TurnRow, after: u32) -> Events {
        match self.held_turn(turn) {
            Some(live) => live.follow(after).boxed(),
            None => follow_saved(self.store.clone(), turn, row.is_running(), after, self.leaving.clone()).boxed(),
        }
    }

    /// A turn of this node that it has not released. The rest of a released one comes from the database.
    fn held_turn(&self, turn: TurnId) -> Option<Arc<LiveTurn>> {
        self.live_turn(turn).filter(|live| !live.has_left())
    }

    pub(crate) fn live_turn(&self, turn: TurnId) -> Option<Arc<LiveTurn>> {
        self.lock().get(&turn).cloned()
    }

    /// Stops a turn on any node. Stopping an ended turn is not an error. The request is stored too, so that a node that
    /// takes the turn over does not continue it.
    #[tracing::instrument(name = "turns.stop", skip_all, fields(user.id = %owner, turn.id = %turn))]
    pub async fn stop(&self, owner: &UserId, turn: TurnId) -> Result<(), Error> {
        self.store.turn(owner, turn).await?;
        let live = self.live_turn(turn);
        if let Some(live) = &live {
            live.cancel.cancel();
        }
        match self.store.request_stop(owner, turn).await {
            Err(error) if live.is_some() => warn!(turn.id = %turn, "A stop could not be stored: {error}"),
            stored => drop(stored?),
        }
        Ok(())
    }

    /// Stops turns for which another node got the stop request.
    pub(crate) async fn keep_listening_for_stops(&self, shutdown: CancellationToken) {
        loop {
            tokio::select! {
                biased;
                () = self.store.wait_for_stop() => {}
                () = shutdown.cancelled() => return,
            }
            if self.n_live() == 0 {
                continue;
            }
            match self.store.stop_requests(&self.node).await {
                Ok(turns) => {
                    let live = turns.iter().filter_map(|turn| self.live_turn(*turn));
                    let is_obeyed =
                        |live: &Arc<LiveTurn>| !(planted(Mutant::StopNotCarried) && live.token > FIRST_TOKEN);
                    live.filter(is_obeyed).for_each(|live| live.cancel.cancel());
                }
                Err(error) => warn!("Stop requests could not be read, trying again: {error}"),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TurnId, Arc<LiveTurn>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a reader at position `after` has not seen this event.
fn is_after(event: &Event, after: u32) -> bool {
    let is_resumed = u32::from(after > 0);
    if planted(Mutant::ResumeRepeatsOne) {
        return event.seq > after - is_resumed;
    }
    if planted(Mutant::ResumeSkipsOne) {
        return event.seq > after + is_resumed;
    }
    event.seq > after
}

/// Waits, unless the process is ending.
pub(crate) async fn pause(time: Duration, shutdown: &CancellationToken) -> bool {
    tokio::select! {
        biased;
        () = tokio::time::sleep(time) => true,
        () = shutdown.cancelled() => false,
    }
}

#[cfg(test)]
mod tests;

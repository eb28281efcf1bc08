//! Running turns: append events, follow them from any position, stop a turn, and save events in group commits.

mod follow;
mod live;
mod rows;

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
use store::{Durability, FIRST_TOKEN, StartedTurn, StoreError, TurnRow, TurnStore};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::Error;
use follow::follow_saved;

pub use live::LiveTurn;
pub(crate) use live::SaveError;
pub(crate) use rows::{first_event, first_row, read};

/// The minimum time between two group commits: events that arrive meanwhile are part of the next one.
const SAVE_EVERY: Duration = Duration::from_millis(8);
/// The delay after a failed save.
const SAVE_AGAIN_AFTER: Duration = Duration::from_millis(100);

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

    /// Saves unsaved events, all turns in one commit, until the process ends.
    pub(crate) async fn keep_saving(&self, shutdown: CancellationToken) {
        loop {
            tokio::select! {
                biased;
                () = self.has_unsaved.notified() => {}
                () = shutdown.cancelled() => return,
            }
            let wait = match self.save_all().await {
                Ok(()) => SAVE_EVERY,
                Err(error) => {
                    warn!("The turn log could not be saved, trying again: {error}");
                    self.has_unsaved.notify_one();
                    SAVE_AGAIN_AFTER
                }
            };
            if !pause(wait, &shutdown).await {
                return;
            }
        }
    }

    async fn save_all(&self) -> Result<(), StoreError> {
        let turns = self.all();
        let (mut saving, mut saves) = (Vec::new(), Vec::new());
        for turn in &turns {
            match turn.try_save() {
                Ok(Some((saved, save))) => {
                    saving.push((turn, saved));
                    saves.push(save);
                }
                Ok(None) => {}
                // Its journal is saving it, and may have read the log before the newest event.
                Err(()) => self.has_unsaved.notify_one(),
            }
        }
        if saves.is_empty() {
            return Ok(());
        }
        let is_only_text = saving.iter().zip(&saves).all(|((turn, _), save)| turn.is_only_text(save));
        let durability = if is_only_text { Durability::Process } else { Durability::Power };
        let outcomes = match self.store.save_events(&saves, durability).await {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            // One by one, so that a turn that cannot be saved does not prevent the others.
            Err(error) if saves.len() == 1 || planted(Mutant::GroupFailsTogether) => return Err(error),
            Err(_) => self.save_each(&saves, durability).await,
        };
        let mut failed = None;
        for (((turn, mut saved), save), outcome) in saving.into_iter().zip(&saves).zip(outcomes) {
            match outcome {
                Ok(outcome) => {
                    if turn.note(&mut saved, save, Some(outcome)) && outcome != store::Saved::Done {
                        self.has_unsaved.notify_one();
                    }
                }
                Err(error) => failed = Some(error),
            }
            drop(saved);
            if turn.unsaved().is_none_or(|(n, _)| n > 0) {
                self.has_unsaved.notify_one();
            }
        }
        failed.map_or(Ok(()), Err)
    }

    async fn save_each(&self, saves: &[store::Save], durability: Durability) -> Vec<Result<store::Saved, StoreError>> {
        let mut outcomes = Vec::with_capacity(saves.len());
        for save in saves {
            let saved = self.store.save_events(std::slice::from_ref(save), durability).await;
            outcomes.push(saved.map(|outcomes| outcomes.first().copied().unwrap_or(store::Saved::Lost)));
        }
        outcomes
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
mod tests {
    use engine::Kind;
    use store::{MemoryTurnStore, NewTurn, Start, Takeover, TurnLimits};

    use super::*;

    async fn start(store: &MemoryTurnStore, owner: &UserId) -> StartedTurn {
        let new = NewTurn {
            conversation: None,
            new_conversation_id: None,
            again: None,
            agent: "tasks",
            text: "hello",
            client_message_id: None,
            model: None,
            decides: None,
            node: "here",
            limits: TurnLimits::default(),
            opening: Some(&|started: &StartedTurn| first_row(started, 1)),
        };
        let Start::New(started) = store.start_turn(owner, &new).await.unwrap() else { panic!("it is new") };
        started
    }

    fn says(text: &str) -> Kind {
        Kind::TextDelta { block: 0, text: text.to_owned() }
    }

    #[tokio::test]
    async fn the_end_of_an_answer_that_came_at_once_saves_one_short_row() {
        let store = Arc::new(MemoryTurnStore::default());
        let turns = Turns::new(store.clone(), "here".to_owned(), CancellationToken::new());
        let started = start(&store, &UserId::new("ann")).await;
        let live = turns.begin(started.clone(), 1);
        (0..400).for_each(|_| live.publish(says(&"x".repeat(2_000))));
        live.save_full_rows(&*store).await.unwrap();
        let last = live.last_events(says("the end")).await;
        let rows = store.events_from(started.turn, 0, i64::MAX).await.unwrap();
        assert!(rows.iter().chain([&last.row]).all(|row| row.len() < 40_000), "a reader holds a few rows in memory");
        let n_last = serde_json::from_str::<Vec<Event>>(&last.row).unwrap().len();
        assert_eq!(read(&*store, started.turn, 0, i64::MAX).await.unwrap().0.len() + n_last, 402);
    }

    #[tokio::test]
    async fn the_output_of_a_call_is_stored_once_and_every_reader_gets_it() {
        let store = Arc::new(MemoryTurnStore::default());
        let turns = Turns::new(store.clone(), "here".to_owned(), CancellationToken::new());
        let owner = UserId::new("ann");
        let started = start(&store, &owner).await;
        let live = turns.begin(started.clone(), 1);
        let (id, input) = (engine::CallId::new(), Arc::new(serde_json::json!({})));
        let call =
            engine::Call { id, owner: owner.clone(), message: Some(started.message), name: "search".into(), input };
        live.begin_call(&*store, &call, "Search").await.unwrap();
        let done: engine::Done = serde_json::from_value(serde_json::json!({
            "summary": "Found 1", "count": 1, "duration_ms": 1, "output": {"tracks": ["x".repeat(1_000)]}
        }))
        .unwrap();
        let done = Arc::new(done);
        store.finish_call(id, live.token, engine::Outcome::Done(done.clone())).await.unwrap();
        live.publish(Kind::ToolDone { call: id, name: "search".into(), done });
        live.save(&*store).await.unwrap();

        let rows = store.events_from(started.turn, 0, i64::MAX).await.unwrap();
        assert!(rows.concat().contains("Found 1") && rows.concat().len() < 1_000, "{rows:?}");
        let here = live.events();
        let elsewhere = read(&*store, started.turn, 0, i64::MAX).await.unwrap().0;
        assert_eq!(elsewhere, here);
    }

    #[tokio::test]
    async fn a_reader_takes_one_output_at_a_time() {
        let store = Arc::new(MemoryTurnStore::default());
        let turns = Turns::new(store.clone(), "here".to_owned(), CancellationToken::new());
        let owner = UserId::new("ann");
        let started = start(&store, &owner).await;
        let live = turns.begin(started.clone(), 1);
        for _ in 0..3 {
            let (id, input, name) = (engine::CallId::new(), Arc::new(serde_json::json!({})), "search".to_owned());
            let call = engine::Call { id, owner: owner.clone(), message: Some(started.message), name, input };
            live.begin_call(&*store, &call, "Search").await.unwrap();
            let done = serde_json::json!({"summary": "s", "count": 1, "duration_ms": 1, "output": {"all": "x"}});
            let done: Arc<engine::Done> = Arc::new(serde_json::from_value(done).unwrap());
            store.finish_call(id, live.token, engine::Outcome::Done(done.clone())).await.unwrap();
            live.publish(Kind::ToolDone { call: id, name: "search".into(), done });
        }
        live.save(&*store).await.unwrap();
        let n_outputs = |batch: &Vec<Arc<Event>>| {
            batch
                .iter()
                .filter(|event| matches!(&event.kind, Kind::ToolDone { done, .. } if !done.output.is_null()))
                .count()
        };
        let here: Vec<_> = live.follow(0).take(3).collect().await;
        let saved = follow_saved(store, started.turn, false, 0, CancellationToken::new());
        let elsewhere: Vec<_> = saved.collect().await;
        assert_eq!(here.iter().map(n_outputs).collect::<Vec<_>>(), [1, 1, 1], "of a live turn");
        assert_eq!(elsewhere.iter().map(n_outputs).collect::<Vec<_>>(), [1, 1, 1], "of a saved one");
    }

    /// The effect of a call to another server cannot be fenced, so the call must not be made.
    #[tokio::test]
    async fn a_node_that_lost_a_turn_begins_no_call_although_its_events_are_saved() {
        let store = Arc::new(MemoryTurnStore::default());
        let turns = Turns::new(store.clone(), "here".to_owned(), CancellationToken::new());
        let owner = UserId::new("ann");
        let started = start(&store, &owner).await;
        let live = turns.begin(started.clone(), 1);
        let dead = store.dead_turns(Some("here")).await.unwrap().remove(0);
        store.take_over(&dead, "here", Takeover::Continue).await.unwrap().unwrap();
        let (message, input) = (Some(started.message), Arc::new(serde_json::json!({})));
        let call = engine::Call { id: engine::CallId::new(), owner, message, name: "other__add".into(), input };
        assert!(matches!(live.begin_call(&*store, &call, "Add").await, Err(SaveError::LeaseLost)));
    }

    /// Between releasing a turn and forgetting it a node may wait for the database. A reader that comes back meanwhile gets
    /// what another node has saved.
    #[tokio::test]
    async fn a_reader_of_a_released_turn_gets_the_rest_from_the_database() {
        let store = Arc::new(MemoryTurnStore::default());
        let node = |name: &str| Turns::new(store.clone(), name.to_owned(), CancellationToken::new());
        let (here, there, owner) = (node("here"), node("there"), UserId::new("ann"));
        let started = start(&store, &owner).await;
        let live = here.begin(started.clone(), 1);
        live.publish(says("one "));
        live.save(&*store).await.unwrap();
        live.leave();
        store.release(started.turn, live.token).await.unwrap();
        let dead = store.dead_turns(None).await.unwrap().remove(0);
        let token = store.take_over(&dead, "there", Takeover::Continue).await.unwrap().unwrap();
        let taken = there.resume(started.clone(), token, live.events(), 0);
        taken.publish(says("two"));
        taken.save(&*store).await.unwrap();

        let mut stream = here.follow(&owner, started.turn, 0).await.unwrap();
        let mut read = Vec::new();
        while let Some(new) = stream.next().await {
            read.extend(new.iter().map(|event| event.kind.clone()));
            if read.len() == 3 {
                break;
            }
        }
        assert_eq!(read, [first_event(&started, 1).kind, says("one "), says("two")]);
    }
}

//! Running turns: a log to append to, to follow from any point, to stop, and to save in group commits.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use chrono::Utc;
use engine::{Event, FailureCode, Kind, TurnId, UserId};
use futures::{Stream, StreamExt, stream::BoxStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::Error;
use store::{EventRow, StartedTurn, Store, StoreError, TurnRow};

/// How long an event may be in memory only.
const SAVE_EVERY: Duration = Duration::from_millis(100);
/// A database that did not answer a reader is asked again after this.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(200);

/// A reader takes so many events, or rows of them, at once: one that does not read on holds no more than that.
const EVENTS_AT_ONCE: usize = 512;
const ROWS_AT_ONCE: i64 = 4;
const ROW_BYTES: usize = 32 * 1024;

/// The turns of this node, and the way to those of others.
pub struct Turns {
    pub(crate) store: Store,
    /// The name under which this process leases its turns.
    pub node: String,
    live: Mutex<HashMap<TurnId, Arc<LiveTurn>>>,
    /// Messages that are being stored; each becomes a turn, or is refused.
    n_starting: Arc<AtomicUsize>,
    /// Cancelled when the process is to end: no new turns, and readers of other nodes' turns go elsewhere.
    leaving: CancellationToken,
}

/// A message that is being stored: the process does not end meanwhile.
pub(crate) struct Starting(Arc<AtomicUsize>);

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A turn that runs here. Readers hold a position in its log, never a queue: a slow one costs nothing.
pub struct LiveTurn {
    pub started: StartedTurn,
    /// Cancelled to stop the turn.
    pub cancel: CancellationToken,
    /// Set when it is not its user who stops it.
    is_cut: AtomicBool,
    log: Mutex<Log>,
    n_events: watch::Sender<usize>,
    /// How many events are saved. Held while saving, so that no event is saved twice or out of order.
    saved: tokio::sync::Mutex<usize>,
}

#[derive(Default)]
struct Log {
    events: Vec<Arc<Event>>,
    seq: u32,
}

/// Events as they come, several at once when several are there.
pub type Events = BoxStream<'static, Vec<Arc<Event>>>;

impl Turns {
    pub fn new(store: Store, node: String, leaving: CancellationToken) -> Self {
        Self { store, node, live: Mutex::default(), n_starting: Arc::default(), leaving }
    }

    /// A place for a new turn, or none when the process is ending.
    pub(crate) fn enter(&self) -> Option<Starting> {
        // Counted first: whoever sees no one starting after the process began to end sees everyone.
        self.n_starting.fetch_add(1, Ordering::SeqCst);
        let starting = Starting(self.n_starting.clone());
        (!self.leaving.is_cancelled()).then_some(starting)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.n_starting.load(Ordering::SeqCst) == 0 && self.n_live() == 0
    }

    /// Ends every turn that runs here as interrupted: the process cannot wait any longer.
    pub(crate) fn cut_all(&self) -> usize {
        let turns: Vec<_> = self.lock().values().cloned().collect();
        for turn in &turns {
            turn.is_cut.store(true, Ordering::SeqCst);
            turn.cancel.cancel();
        }
        turns.len()
    }

    pub(crate) fn begin(&self, started: StartedTurn) -> Arc<LiveTurn> {
        let turn = Arc::new(LiveTurn {
            started,
            cancel: CancellationToken::new(),
            is_cut: AtomicBool::new(false),
            log: Mutex::default(),
            n_events: watch::Sender::new(0),
            saved: tokio::sync::Mutex::new(0),
        });
        self.lock().insert(turn.started.turn, turn.clone());
        turn
    }

    pub(crate) fn forget(&self, turn: TurnId) {
        self.lock().remove(&turn);
    }

    pub fn n_live(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn ids(&self) -> Vec<TurnId> {
        self.lock().keys().copied().collect()
    }

    /// How many events are in memory only, and when the oldest of them happened.
    pub(crate) fn unsaved(&self) -> (usize, Option<i64>) {
        let turns: Vec<_> = self.lock().values().cloned().collect();
        let mut n_unsaved = 0;
        let mut oldest: Option<i64> = None;
        for turn in turns {
            // Whoever holds the lock is saving right now.
            let Ok(n_saved) = turn.saved.try_lock() else { continue };
            let log = turn.log();
            let Some(events) = log.events.get(*n_saved..) else { continue };
            n_unsaved += events.len();
            oldest = oldest.into_iter().chain(events.first().map(|event| event.at_ms)).min();
        }
        (n_unsaved, oldest)
    }

    /// Everything after `seq`, then live, to the end: from memory when the turn runs here, else from the database.
    #[tracing::instrument(name = "turns.follow", skip_all, fields(user.id = %owner, turn.id = %turn))]
    pub async fn follow(&self, owner: &UserId, turn: TurnId, after: u32) -> Result<Events, Error> {
        let row = self.store.turn(owner, turn).await?;
        if row.is_forgotten() {
            return Err(Error::Gone);
        }
        Ok(self.follow_known(turn, row, after))
    }

    /// The turn a caller has just started, from its beginning.
    pub async fn follow_started(&self, owner: &UserId, started: &StartedTurn) -> Result<Events, Error> {
        match self.live_turn(started.turn) {
            Some(live) => Ok(live.follow(0).boxed()),
            None => self.follow(owner, started.turn, 0).await,
        }
    }

    fn follow_known(&self, turn: TurnId, row: TurnRow, after: u32) -> Events {
        match self.live_turn(turn) {
            Some(live) => live.follow(after).boxed(),
            None => follow_saved(self.store.clone(), turn, row.is_running(), after, self.leaving.clone()).boxed(),
        }
    }

    pub(crate) fn live_turn(&self, turn: TurnId) -> Option<Arc<LiveTurn>> {
        self.lock().get(&turn).cloned()
    }

    /// Stops a turn wherever it runs. Stopping what has ended already is fine.
    #[tracing::instrument(name = "turns.stop", skip_all, fields(user.id = %owner, turn.id = %turn))]
    pub async fn stop(&self, owner: &UserId, turn: TurnId) -> Result<(), Error> {
        self.store.turn(owner, turn).await?;
        match self.live_turn(turn) {
            Some(live) => live.cancel.cancel(),
            None => drop(self.store.request_stop(owner, turn).await?),
        }
        Ok(())
    }

    /// Saves what is in memory only, all turns in one commit, until the process ends.
    pub(crate) async fn keep_saving(&self, shutdown: CancellationToken) {
        while pause(SAVE_EVERY, &shutdown).await {
            if let Err(error) = self.save_all().await {
                warn!("The turn log could not be saved, trying again: {error}");
            }
        }
    }

    async fn save_all(&self) -> Result<(), StoreError> {
        let turns: Vec<_> = self.lock().values().cloned().collect();
        let mut batch = Vec::new();
        let mut saving = Vec::new();
        for turn in &turns {
            // Whoever holds the lock is saving this turn right now.
            let Ok(saved) = turn.saved.try_lock() else { continue };
            if let Some((rows, n)) = turn.unsaved(*saved) {
                batch.extend(rows.into_iter().map(|(position, events)| (turn.started.turn, position, events)));
                saving.push((saved, n));
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.store.save_events(&batch).await?;
        for (mut saved, n) in saving {
            *saved = n;
        }
        Ok(())
    }

    /// Stops turns that were asked to stop through another node.
    pub(crate) async fn keep_listening_for_stops(&self, shutdown: CancellationToken) {
        loop {
            tokio::select! {
                () = self.store.wait_for_stop() => {}
                () = shutdown.cancelled() => return,
            }
            if self.n_live() == 0 {
                continue;
            }
            match self.store.stop_requests(&self.node).await {
                Ok(turns) => {
                    turns.iter().filter_map(|turn| self.live_turn(*turn)).for_each(|live| live.cancel.cancel())
                }
                Err(error) => warn!("Stop requests could not be read, trying again: {error}"),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TurnId, Arc<LiveTurn>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveTurn {
    /// Numbers an event, appends it and wakes every reader.
    pub(crate) fn publish(&self, kind: Kind) {
        let mut log = self.log();
        let event = log.next(kind);
        log.events.push(Arc::new(event));
        let n_events = log.events.len();
        drop(log);
        self.n_events.send_replace(n_events);
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }

    /// Everything so far.
    pub(crate) fn events(&self) -> Vec<Arc<Event>> {
        self.log().events.clone()
    }

    /// An event as it would be published now, so that the closing one can be saved before anyone sees it.
    pub(crate) fn preview(&self, kind: Kind) -> Event {
        let seq = self.log().seq + u32::from(kind.is_numbered());
        Event { seq, at_ms: Utc::now().timestamp_millis(), kind }
    }

    /// Saves this turn's events now: a tool is about to run.
    pub(crate) async fn save(&self, store: &Store) -> Result<(), StoreError> {
        let mut saved = self.saved.lock().await;
        if let Some((rows, n)) = self.unsaved(*saved) {
            let turn = self.started.turn;
            let batch: Vec<_> = rows.into_iter().map(|(position, events)| (turn, position, events)).collect();
            store.save_events(&batch).await?;
            *saved = n;
        }
        Ok(())
    }

    /// The events that are not saved yet and `closing` after them, for the transaction that ends the turn.
    /// No one else saves while the guard is held.
    pub(crate) async fn last_events(&self, closing: &Event) -> (tokio::sync::MutexGuard<'_, usize>, Vec<EventRow>) {
        let saved = self.saved.lock().await;
        let log = self.log();
        let rows = to_rows(*saved, log.events[*saved..].iter().map(AsRef::as_ref).chain([closing]));
        drop(log);
        (saved, rows)
    }

    /// How many events there are when the closing one is among them.
    pub(crate) fn n_when_closed(&self) -> usize {
        self.log().events.len() + 1
    }

    pub fn follow(self: Arc<Self>, after: u32) -> impl Stream<Item = Vec<Arc<Event>>> + Send {
        let mut n_events = self.n_events.subscribe();
        async_stream::stream! {
            let mut position = 0;
            loop {
                n_events.mark_unchanged();
                let new: Vec<_> = self.log().events[position..].iter().take(EVENTS_AT_ONCE).cloned().collect();
                position += new.len();
                let is_full = new.len() == EVENTS_AT_ONCE;
                let is_over = new.last().is_some_and(|event| event.kind.is_last());
                let new: Vec<_> = new.into_iter().filter(|event| event.seq > after).collect();
                if !new.is_empty() {
                    yield new;
                }
                if is_over || (!is_full && n_events.changed().await.is_err()) {
                    return;
                }
            }
        }
    }

    fn unsaved(&self, n_saved: usize) -> Option<(Vec<EventRow>, usize)> {
        let log = self.log();
        // The closing event is saved before it is published: then more is saved than the log holds.
        let new = log.events.get(n_saved..).filter(|new| !new.is_empty())?;
        Some((to_rows(n_saved, new.iter().map(AsRef::as_ref)), log.events.len()))
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn next(&mut self, kind: Kind) -> Event {
        self.seq += u32::from(kind.is_numbered());
        Event { seq: self.seq, at_ms: Utc::now().timestamp_millis(), kind }
    }
}

/// Follows a turn through the database: it has ended, or it runs on another node.
fn follow_saved(
    store: Store,
    turn: TurnId,
    mut runs: bool,
    after: u32,
    leaving: CancellationToken,
) -> impl Stream<Item = Vec<Arc<Event>>> + Send {
    async_stream::stream! {
        let mut news = store.news_of(turn);
        let mut position = 0_i64;
        loop {
            // Asked before reading: what is saved after this answer belongs to the next round.
            let still_runs = runs && store.is_running(turn).await.unwrap_or(true);
            let (new, is_full) = match store.events_from(turn, position, ROWS_AT_ONCE).await {
                Ok(rows) => {
                    let new = from_rows(&rows);
                    let is_full = rows.len() as i64 == ROWS_AT_ONCE && !new.is_empty();
                    (new, is_full)
                }
                Err(error) => {
                    warn!(turn.id = %turn, "Events could not be read, trying again: {error}");
                    if !pause(ASK_AGAIN_AFTER, &leaving).await {
                        return;
                    }
                    continue;
                }
            };
            position += new.len() as i64;
            let last = new.last().filter(|event| event.kind.is_last()).cloned();
            let mut new: Vec<_> = new.into_iter().filter(|event| event.seq > after).collect();
            if let Some(last) = &last && new.is_empty() && is_interrupted(&last.kind) {
                // A reader had seen more than the dead server saved: its count goes on where it was.
                new.push(Arc::new(Event { seq: after + 1, ..Event::clone(last) }));
            }
            if !new.is_empty() {
                yield new;
            }
            if last.is_some() || (!still_runs && !is_full) {
                return;
            }
            runs = still_runs;
            if !is_full {
                tokio::select! {
                    () = news.wait() => {}
                    // The turn runs on elsewhere; its reader goes there.
                    () = leaving.cancelled() => return,
                }
            }
        }
    }
}

fn is_interrupted(kind: &Kind) -> bool {
    matches!(kind, Kind::Failed { code: FailureCode::Interrupted, .. })
}

/// Events as rows keep them. A row that is large enough is closed, so that whoever reads a few holds little.
pub(crate) fn to_rows<'a>(first: usize, events: impl Iterator<Item = &'a Event>) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> = Vec::new();
    for (n, event) in events.enumerate() {
        let event = serde_json::to_string(event).expect("events are plain data");
        match rows.last_mut().filter(|(_, text)| text.len() < ROW_BYTES) {
            Some((_, text)) => text.push(','),
            None => rows.push(((first + n) as i64, "[".into())),
        }
        let (_, text) = rows.last_mut().expect("there is one by now");
        text.push_str(&event);
    }
    rows.iter_mut().for_each(|(_, text)| text.push(']'));
    rows
}

/// What rows hold. A row we cannot read was written by a newer version; what comes after it cannot be told.
pub(crate) fn from_rows(rows: &[String]) -> Vec<Arc<Event>> {
    let mut events = Vec::new();
    for row in rows {
        match serde_json::from_str::<Vec<Event>>(row) {
            Ok(new) => events.extend(new.into_iter().map(Arc::new)),
            Err(error) => {
                warn!("A row of the turn log cannot be read: {error}");
                break;
            }
        }
    }
    events
}

/// Waits, unless the process is ending.
pub(crate) async fn pause(time: Duration, shutdown: &CancellationToken) -> bool {
    tokio::select! {
        () = tokio::time::sleep(time) => true,
        () = shutdown.cancelled() => false,
    }
}

//! A turn that runs on this node: its log in memory, the part that is saved, and its readers.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use chrono::Utc;
use engine::{
    Call, Event, Kind, TurnId,
    mutants::{Mutant, planted},
};
use futures::Stream;
use store::{Durability, FIRST_TOKEN, Save, Saved, StartedTurn, StoreError, TurnStore};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{
    is_after,
    rows::{is_only_text, last_row, next_row, one_output_each},
};

/// How many events a reader takes at once: a reader that stalls holds no more than that.
const EVENTS_AT_ONCE: usize = 512;

/// Readers have a position in the log and no queue, so a slow reader costs no memory. They see only saved events.
pub struct LiveTurn {
    pub started: StartedTurn,
    /// The token of the lease under which it runs.
    pub(crate) token: i64,
    /// Cancelled to stop the turn.
    pub cancel: CancellationToken,
    /// Set if the turn is not stopped by its user.
    is_cut: AtomicBool,
    /// Cancelled when this node releases the turn: another node holds it, or will take it over.
    left: CancellationToken,
    log: Mutex<Log>,
    /// The number of events that readers may see: the saved ones.
    n_shown: watch::Sender<usize>,
    /// The number of saved events. Locked during a save, so that no event is saved twice or out of order.
    saved: tokio::sync::Mutex<usize>,
    has_unsaved: Arc<Notify>,
    /// The number of saved events that cannot be parsed. New events come after them.
    n_unreadable: usize,
    /// Set when its end is being stored.
    is_ending: AtomicBool,
}

#[derive(Default)]
struct Log {
    events: Vec<Arc<Event>>,
    seq: u32,
}

/// Why events could not be saved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SaveError {
    #[error("another node has taken the turn over")]
    LeaseLost,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The events that are not saved yet, followed by the closing event.
pub(crate) struct LastEvents<'a> {
    saved: tokio::sync::MutexGuard<'a, usize>,
    closing: Arc<Event>,
    pub(crate) row: String,
    pub(crate) n_saved: i64,
    pub(crate) n_events: i64,
}

impl LiveTurn {
    /// `events`: the saved events, without the last `n_unreadable`.
    pub(super) fn new(
        started: StartedTurn,
        token: i64,
        events: Vec<Arc<Event>>,
        n_unreadable: usize,
        has_unsaved: Arc<Notify>,
    ) -> Self {
        let n_events = events.len();
        let is_counted = token == FIRST_TOKEN || !planted(Mutant::SeqRestarts);
        let seq = events.last().filter(|_| is_counted).map_or(0, |event| event.seq);
        Self {
            started,
            token,
            cancel: CancellationToken::new(),
            is_cut: AtomicBool::new(false),
            left: CancellationToken::new(),
            log: Mutex::new(Log { events, seq }),
            n_shown: watch::Sender::new(n_events),
            saved: tokio::sync::Mutex::new(n_events),
            has_unsaved,
            n_unreadable,
            is_ending: AtomicBool::new(false),
        }
    }

    pub(super) fn id(&self) -> TurnId {
        self.started.turn
    }

    /// Numbers an event and appends it. Readers see it when it is saved.
    pub(crate) fn publish(&self, kind: Kind) {
        if self.left.is_cancelled() {
            return;
        }
        let mut log = self.log();
        let event = log.next(kind);
        log.events.push(Arc::new(event));
        if planted(Mutant::ShownBeforeCommit) {
            self.n_shown.send_replace(log.events.len());
        }
        drop(log);
        self.has_unsaved.notify_one();
    }

    /// Ends the turn as interrupted, because the process cannot wait any longer.
    pub(super) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.cancel.cancel();
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }

    /// Releases the turn. The streams of its readers end without a closing event, so that they resume on another node.
    pub(crate) fn leave(&self) {
        self.left.cancel();
    }

    /// Whether its end is being stored or is stored.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::SeqCst)
    }

    pub(super) fn has_left(&self) -> bool {
        self.left.is_cancelled()
    }

    /// Returns when this node has released the turn.
    pub(crate) async fn left(&self) {
        self.left.cancelled().await;
    }

    /// All events so far.
    pub(crate) fn events(&self) -> Vec<Arc<Event>> {
        self.log().events.clone()
    }

    /// The number of unsaved events, and when the oldest of them happened.
    pub(super) fn unsaved(&self) -> Option<(usize, Option<i64>)> {
        // If the lock is held, they are being saved now.
        let n_saved = self.saved.try_lock().ok()?;
        let log = self.log();
        let events = log.events.get(*n_saved..)?;
        Some((events.len(), events.first().map(|event| event.at_ms)))
    }

    /// Saves the events of this turn and opens the row of a call, together if the events fit into one row.
    pub(crate) async fn begin_call(&self, store: &dyn TurnStore, call: &Call, title: &str) -> Result<(), SaveError> {
        let mut saved = self.saved.lock().await;
        while let Some(save) = self.next_save(*saved) {
            if self.has_more_than(&save) {
                self.save_one(store, &mut saved, &save, Durability::Power).await?;
                continue;
            }
            let outcome = store.begin_call_after(&save, call, title).await?;
            if !self.note(&mut saved, &save, Some(outcome)) {
                return Err(SaveError::LeaseLost);
            }
            if outcome == Saved::Done {
                return Ok(());
            }
        }
        drop(saved);
        if !store.begin_call(call, title, self.token).await? {
            self.leave();
            return Err(SaveError::LeaseLost);
        }
        Ok(())
    }

    /// Saves the events of this turn now.
    pub(crate) async fn save(&self, store: &dyn TurnStore) -> Result<(), SaveError> {
        let mut saved = self.saved.lock().await;
        while let Some(save) = self.next_save(*saved) {
            self.save_one(store, &mut saved, &save, Durability::Power).await?;
        }
        Ok(())
    }

    /// Saves all events but those of the last row, which the end of the turn saves. A model that is faster than the group
    /// commits would otherwise leave its whole answer to that row, and every slow reader would hold it in memory.
    pub(crate) async fn save_full_rows(&self, store: &dyn TurnStore) -> Result<(), SaveError> {
        let mut saved = self.saved.lock().await;
        while let Some(save) = self.next_save(*saved).filter(|save| self.has_more_than(save)) {
            let durability = if self.is_only_text(&save) { Durability::Process } else { Durability::Power };
            self.save_one(store, &mut saved, &save, durability).await?;
        }
        Ok(())
    }

    async fn save_one(
        &self,
        store: &dyn TurnStore,
        saved: &mut usize,
        save: &Save,
        durability: Durability,
    ) -> Result<(), SaveError> {
        let outcome = store.save_events(std::slice::from_ref(save), durability).await?;
        if !self.note(saved, save, outcome.first().copied()) {
            return Err(SaveError::LeaseLost);
        }
        Ok(())
    }

    /// The next save, and the guard for its result. `None` if there is nothing to save; an error if another task is
    /// saving this turn.
    pub(super) fn try_save(&self) -> Result<Option<(tokio::sync::MutexGuard<'_, usize>, Save)>, ()> {
        let saved = self.saved.try_lock().map_err(drop)?;
        Ok(self.next_save(*saved).map(|save| (saved, save)))
    }

    fn next_save(&self, n_saved: usize) -> Option<Save> {
        let log = self.log();
        let new = log.events.get(n_saved..).filter(|new| !new.is_empty())?;
        let (events, n_events) = next_row(new.iter().map(AsRef::as_ref));
        let (turn, token) = (self.started.turn, self.token);
        let first = (self.n_unreadable + n_saved) as i64;
        Some(Save { turn, token, first, n_events: n_events as i64, events })
    }

    /// Whether there are events after those of a save.
    fn has_more_than(&self, save: &Save) -> bool {
        self.n_unreadable + self.log().events.len() > (save.first + save.n_events) as usize
    }

    /// Whether a save contains only text events, which need not survive a power cut.
    pub(super) fn is_only_text(&self, save: &Save) -> bool {
        let (first, n) = (save.first as usize - self.n_unreadable, save.n_events as usize);
        self.log().events[first..first + n].iter().all(|event| is_only_text(&event.kind))
    }

    /// Applies the result of a save and shows the saved events to readers. False if the lease is lost.
    pub(super) fn note(&self, saved: &mut usize, save: &Save, outcome: Option<Saved>) -> bool {
        match outcome {
            Some(Saved::Done) => *saved = self.position(save.first + save.n_events),
            // The events that another attempt has saved, or that a crashed database has lost.
            Some(Saved::Holds(_)) if planted(Mutant::LostReplyForgotten) => {}
            Some(Saved::Holds(n)) => *saved = self.position(n),
            Some(Saved::Lost) | None => {
                self.leave();
                return false;
            }
        }
        let n_saved = *saved;
        // Readers never go back.
        self.n_shown.send_if_modified(|shown| {
            let is_more = n_saved > *shown;
            *shown = n_saved.max(*shown);
            is_more
        });
        true
    }

    /// The position in memory when the saved log contains `n_events`.
    fn position(&self, n_events: i64) -> usize {
        usize::try_from(n_events).unwrap_or(0).saturating_sub(self.n_unreadable).min(self.log().events.len())
    }

    /// The events that the transaction that ends the turn must save. No other task saves while this is held.
    pub(crate) async fn last_events(&self, closing: Kind) -> LastEvents<'_> {
        self.is_ending.store(true, Ordering::SeqCst);
        let saved = self.saved.lock().await;
        let log = self.log();
        let seq = log.seq + u32::from(closing.is_numbered());
        let closing = Arc::new(Event { seq, at_ms: Utc::now().timestamp_millis(), kind: closing });
        let mut events = log.events[*saved..].to_vec();
        events.push(closing.clone());
        let n_events = (self.n_unreadable + log.events.len() + 1) as i64;
        drop(log);
        let n_saved = self.n_unreadable + *saved;
        LastEvents { row: last_row(&events), n_saved: n_saved as i64, n_events, closing, saved }
    }

    /// Corrects the number of saved events: the log in the database contains another number.
    pub(crate) fn holds(&self, mut last: LastEvents<'_>, n_events: i64) {
        *last.saved = self.position(n_events);
    }

    /// The end is stored: shows it to readers.
    pub(crate) fn show_end(&self, mut last: LastEvents<'_>) {
        let mut log = self.log();
        log.seq = last.closing.seq;
        log.events.push(last.closing.clone());
        *last.saved = log.events.len();
        drop(log);
        self.n_shown.send_replace(*last.saved);
    }

    /// A planted bug: shows the end before it is stored.
    pub(crate) fn show_unstored(&self, last: &LastEvents<'_>) {
        let mut log = self.log();
        log.events.push(last.closing.clone());
        self.n_shown.send_replace(log.events.len());
    }

    pub fn follow(self: Arc<Self>, after: u32) -> impl Stream<Item = Vec<Arc<Event>>> + Send {
        let mut n_shown = self.n_shown.subscribe();
        async_stream::stream! {
            let mut position = 0;
            loop {
                let n = *n_shown.borrow_and_update();
                let end = n.min(position + EVENTS_AT_ONCE);
                let new: Vec<_> = one_output_each(&self.log().events[position..end]).next().unwrap_or_default().to_vec();
                position += new.len();
                let is_over = new.last().is_some_and(|event| event.kind.is_last());
                let new: Vec<_> = new.into_iter().filter(|event| is_after(event, after)).collect();
                if !new.is_empty() {
                    yield new;
                }
                if is_over {
                    return;
                }
                if position < n {
                    continue;
                }
                tokio::select! {
                    biased;
                    changed = n_shown.changed() => if changed.is_err() { return },
                    () = self.left.cancelled(), if !planted(Mutant::ReaderNotCut) => return,
                }
            }
        }
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

//! A turn that runs here: its log in memory, how much of it is saved, and who follows it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use chrono::Utc;
use engine::{
    Event, Kind, TurnId,
    mutants::{Mutant, planted},
};
use futures::Stream;
use store::{Durability, EventRow, Save, Saved, StartedTurn, StoreError, TurnStore};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{
    is_after,
    rows::{is_only_text, next_row, to_rows},
};

/// A reader takes so many events at once: one that does not read on holds no more than that.
const EVENTS_AT_ONCE: usize = 512;

/// Readers hold a position in its log, never a queue: a slow one costs nothing. They see what is saved and no more.
pub struct LiveTurn {
    pub started: StartedTurn,
    /// The token of the lease under which it runs.
    pub(crate) token: i64,
    /// Cancelled to stop the turn.
    pub cancel: CancellationToken,
    /// Set when it is not its user who stops it.
    is_cut: AtomicBool,
    /// Cancelled when this node lets the turn go: another node has it, or will.
    left: CancellationToken,
    log: Mutex<Log>,
    /// How many events readers may see: those that are saved.
    n_shown: watch::Sender<usize>,
    /// How many events are saved. Held while saving, so that no event is saved twice or out of order.
    saved: tokio::sync::Mutex<usize>,
    has_unsaved: Arc<Notify>,
    /// How many events of the saved log cannot be read; ours stand after them.
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

/// The events that are not saved yet and a closing one after them.
pub(crate) struct LastEvents<'a> {
    saved: tokio::sync::MutexGuard<'a, usize>,
    closing: Arc<Event>,
    pub(crate) rows: Vec<EventRow>,
    pub(crate) n_saved: i64,
    pub(crate) n_events: i64,
}

impl LiveTurn {
    /// `events`: what an earlier node has saved of it, but for `n_unreadable` at its end.
    pub(super) fn new(
        started: StartedTurn,
        token: i64,
        events: Vec<Arc<Event>>,
        n_unreadable: usize,
        has_unsaved: Arc<Notify>,
    ) -> Self {
        let n_events = events.len();
        let is_counted = !planted(Mutant::SeqRestarts);
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

    /// Ends the turn as interrupted: the process cannot wait any longer.
    pub(super) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.cancel.cancel();
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }

    /// Lets the turn go. Its readers' streams end without a closing event, so that they resume where it goes on.
    pub(crate) fn leave(&self) {
        self.left.cancel();
    }

    /// Whether its end is being stored, or is.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::SeqCst)
    }

    /// Returns when this node has let the turn go.
    pub(crate) async fn left(&self) {
        self.left.cancelled().await;
    }

    /// Everything so far.
    pub(crate) fn events(&self) -> Vec<Arc<Event>> {
        self.log().events.clone()
    }

    /// How many events are in memory only, and when the oldest of them happened.
    pub(super) fn unsaved(&self) -> Option<(usize, Option<i64>)> {
        // Held: they are being saved right now.
        let n_saved = self.saved.try_lock().ok()?;
        let log = self.log();
        let events = log.events.get(*n_saved..)?;
        Some((events.len(), events.first().map(|event| event.at_ms)))
    }

    /// Saves this turn's events now: a tool is about to run.
    pub(crate) async fn save(&self, store: &dyn TurnStore) -> Result<(), SaveError> {
        let mut saved = self.saved.lock().await;
        while let Some(save) = self.next_save(*saved) {
            let outcome = store.save_events(std::slice::from_ref(&save), Durability::Power).await?;
            if !self.note(&mut saved, &save, outcome.first().copied()) {
                return Err(SaveError::LeaseLost);
            }
        }
        Ok(())
    }

    /// What to save next, and the guard to note the outcome with. None when nothing is unsaved; an error when someone
    /// else is saving this turn.
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

    /// Whether the events of a save are words only, which need not survive a power cut.
    pub(super) fn is_only_text(&self, save: &Save) -> bool {
        let (first, n) = (save.first as usize - self.n_unreadable, save.n_events as usize);
        self.log().events[first..first + n].iter().all(|event| is_only_text(&event.kind))
    }

    /// Takes in what became of a save and shows readers what is saved. False when the lease is lost.
    pub(super) fn note(&self, saved: &mut usize, save: &Save, outcome: Option<Saved>) -> bool {
        match outcome {
            Some(Saved::Done) => *saved = self.position(save.first + save.n_events),
            // What another attempt has saved, or a database that crashed has lost.
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

    /// Where the log in memory stands when the saved one holds `n_events`.
    fn position(&self, n_events: i64) -> usize {
        usize::try_from(n_events).unwrap_or(0).saturating_sub(self.n_unreadable).min(self.log().events.len())
    }

    /// Everything that the transaction that ends the turn must save. No one else saves while this is held.
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
        LastEvents { rows: to_rows(n_saved, &events), n_saved: n_saved as i64, n_events, closing, saved }
    }

    /// The log in the database holds another number of events than we thought.
    pub(crate) fn holds(&self, mut last: LastEvents<'_>, n_events: i64) {
        *last.saved = self.position(n_events);
    }

    /// The end is stored: readers see it.
    pub(crate) fn show_end(&self, mut last: LastEvents<'_>) {
        let mut log = self.log();
        log.seq = last.closing.seq;
        log.events.push(last.closing.clone());
        *last.saved = log.events.len();
        drop(log);
        self.n_shown.send_replace(*last.saved);
    }

    /// A planted bug: the end is shown whatever becomes of it.
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
                let new: Vec<_> = self.log().events[position..end].to_vec();
                position = end;
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

//! Short transactions for long work: an import or a batch of enrichment writes many rows, and SQLite has one writer.
//!
//! The rows of one task are divided so that each transaction holds the writer for about [`GOAL`], and only one such
//! transaction waits for the writer at a time. A user's own write waits for one of them at most. While turns are running,
//! long work pauses between its transactions, because turns need the processor as well.

use std::{
    future::Future,
    ops::{Deref, DerefMut},
    panic::Location,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::block_in_place,
};

use super::{
    Store, StoreError,
    db::{Db, Tx},
    writer::Durability,
};

/// The longest time that a transaction of a long task should hold the writer. A longer one is logged.
const LIMIT: Duration = Duration::from_millis(50);
/// On a busy machine or a slow disk a transaction may take several times as long as the previous one.
const GOAL: Duration = Duration::from_millis(4);
/// While turns are running, the pause after a transaction is this many times as long as the transaction.
const PAUSE: u32 = 3;
/// A transaction that stood still must not stop long work for as long again.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// A turn that has written something is running for at least this long, as far as long work is concerned.
const RUNS_FOR: Duration = Duration::from_secs(1);
const FIRST: usize = 16;
const MOST: usize = 1000;

/// How many rows of one kind fit into a short transaction, learned from the previous transactions.
pub(crate) struct Pace(AtomicUsize);

impl Default for Pace {
    fn default() -> Self {
        Self(AtomicUsize::new(FIRST))
    }
}

impl Pace {
    /// The rows of the next transaction, and the rest.
    pub(crate) fn part<'r, T>(&self, rows: &'r [T]) -> (&'r [T], &'r [T]) {
        rows.split_at(self.0.load(Ordering::Relaxed).min(rows.len()))
    }

    /// Increases slowly and decreases at once: one slow transaction delays others more than several small ones. The
    /// time that the commit waits for the disk is not counted, because fewer rows would not shorten it.
    fn learn(&self, n_rows: usize, took: Duration) {
        let fits = (n_rows as f64 * GOAL.as_secs_f64() / took.as_secs_f64().max(1e-6)) as usize;
        let most = MOST.min(n_rows.saturating_mul(2).max(1));
        // A small last part does not show how long a full one takes, unless it was slow.
        if n_rows >= self.0.load(Ordering::Relaxed) || took > GOAL {
            self.0.store(fits.clamp(1, most), Ordering::Relaxed);
        }
    }
}

/// The transaction sizes, and the queue in front of the writer.
pub(crate) struct Paces {
    pub(crate) tracks: Pace,
    pub(crate) entries: Pace,
    pub(crate) steps: Pace,
    pub(crate) documents: Pace,
    pub(crate) texts: Pace,
    place: Arc<Semaphore>,
    longest_us: AtomicU64,
    n_ended: AtomicU64,
    /// The following times are microseconds since this one.
    start: Instant,
    /// 0: no turn has written anything.
    turn_wrote_us: AtomicU64,
    paused_until_us: AtomicU64,
}

impl Default for Paces {
    fn default() -> Self {
        Self {
            tracks: Pace::default(),
            entries: Pace::default(),
            steps: Pace::default(),
            documents: Pace::default(),
            texts: Pace::default(),
            place: Arc::new(Semaphore::new(1)),
            longest_us: AtomicU64::default(),
            n_ended: AtomicU64::default(),
            start: Instant::now(),
            turn_wrote_us: AtomicU64::default(),
            paused_until_us: AtomicU64::default(),
        }
    }
}

impl Paces {
    pub(crate) fn turn_wrote(&self) {
        self.turn_wrote_us.store(micros(self.start.elapsed()).max(1), Ordering::Relaxed);
    }

    /// A transaction of long work has ended that held the writer for this long.
    fn ended(&self, held: Duration) {
        self.longest_us.fetch_max(micros(held), Ordering::Relaxed);
        self.n_ended.fetch_add(1, Ordering::Relaxed);
        let (now, wrote_us) = (self.start.elapsed(), self.turn_wrote_us.load(Ordering::Relaxed));
        let is_turn_running = wrote_us > 0 && now < Duration::from_micros(wrote_us) + RUNS_FOR;
        let pause = if is_turn_running { (held * PAUSE).min(LONGEST_PAUSE) } else { Duration::ZERO };
        self.paused_until_us.store(micros(now + pause), Ordering::Relaxed);
    }

    fn pause_left(&self) -> Duration {
        let until = Duration::from_micros(self.paused_until_us.load(Ordering::Relaxed));
        until.saturating_sub(self.start.elapsed())
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A transaction of a long task.
pub(crate) struct ShortTx {
    tx: Tx,
    began: Instant,
    /// The line of code that began it, for the log.
    by: &'static Location<'static>,
    paces: Arc<Paces>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Deref for ShortTx {
    type Target = Tx;

    fn deref(&self) -> &Tx {
        &self.tx
    }
}

impl DerefMut for ShortTx {
    fn deref_mut(&mut self) -> &mut Tx {
        &mut self.tx
    }
}

impl ShortTx {
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        let wrote = self.began.elapsed();
        self.tx.commit().await?;
        let held = self.began.elapsed();
        if held > LIMIT {
            let committed = held.saturating_sub(wrote);
            tracing::debug!(by = %self.by, ?wrote, ?committed, "a transaction of a long task held the writer for too long");
        }
        self.paces.ended(held);
        Ok(())
    }
}

impl Store {
    /// Begins a transaction of a long task. On SQLite it waits until no other such transaction is open.
    #[track_caller]
    pub(crate) fn begin_short(&self) -> impl Future<Output = Result<ShortTx, StoreError>> + Send {
        let by = Location::caller();
        async move {
            let place = match &self.db {
                Db::Sqlite { .. } => {
                    let place = self.paces.place.clone().acquire_owned().await.ok();
                    tokio::time::sleep(self.paces.pause_left()).await;
                    place
                }
                Db::Postgres { .. } => None,
            };
            // These tasks are repeated after a crash. The last commit of an import waits for the disk, and with it all before.
            let tx = self.begin_with(Durability::Process).await?;
            Ok(ShortTx { tx, began: Instant::now(), by, paces: self.paces.clone(), _place: place })
        }
    }

    /// Runs the statements of a short transaction that has begun, and its commit. On SQLite they run on a thread of their own:
    /// between two statements they do not wait behind other tasks of a busy server while these wait for the writer.
    ///
    /// The thread waits for nothing but SQLite: the transaction has the writer already. It must not wait for anything else, because
    /// the rest of its task could be what it waits for.
    pub(crate) async fn undisturbed<T>(&self, statements: impl Future<Output = T>) -> T {
        match (&self.db, Handle::current().runtime_flavor()) {
            // Not `Handle::block_on`: it would take the wake-ups of the future that `Runtime::block_on` runs on this thread.
            (Db::Sqlite { .. }, RuntimeFlavor::MultiThread) => {
                block_in_place(|| futures::executor::block_on(statements))
            }
            _ => statements.await,
        }
    }

    /// Commits, and adjusts the size of the next transaction.
    pub(crate) async fn commit_short(&self, tx: ShortTx, pace: &Pace, n_rows: usize) -> Result<(), StoreError> {
        let wrote = tx.began.elapsed();
        tx.commit().await?;
        pace.learn(n_rows, wrote);
        Ok(())
    }

    /// How many transactions of long work have been committed since the start.
    #[cfg(feature = "test-util")]
    pub fn n_background_writes(&self) -> u64 {
        self.paces.n_ended.load(Ordering::Relaxed)
    }

    /// The longest time that a transaction of an import or of enrichment has held the writer since the start.
    pub fn longest_background_write(&self) -> Duration {
        Duration::from_micros(self.paces.longest_us.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_transaction_reduces_the_size_of_the_next_one_and_fast_ones_increase_it() {
        let pace = Pace::default();
        let rows = [(); 5000];
        let next = |pace: &Pace| pace.part(&rows).0.len();
        pace.learn(FIRST, Duration::from_millis(1));
        assert_eq!(next(&pace), 2 * FIRST, "it doubles at most");
        pace.learn(2 * FIRST, Duration::from_millis(40));
        assert_eq!(next(&pace), 3);
        pace.learn(3, Duration::from_secs(60));
        assert_eq!(next(&pace), 1, "at least one row is written");
        for _ in 0..20 {
            pace.learn(next(&pace), Duration::from_micros(10));
        }
        assert_eq!(next(&pace), MOST);
        pace.learn(1, Duration::from_millis(1));
        assert_eq!(next(&pace), MOST, "a small last part does not change the size");
    }

    #[test]
    fn long_work_pauses_while_turns_are_running() {
        let mut paces = Paces::default();
        let held = Duration::from_secs(60);
        paces.ended(held);
        assert_eq!(paces.pause_left(), Duration::ZERO, "no turn is running");
        paces.turn_wrote();
        paces.ended(held);
        let pause = paces.pause_left();
        assert!(pause > Duration::ZERO && pause <= LONGEST_PAUSE, "{pause:?}");
        paces.start = paces.start.checked_sub(LONGEST_PAUSE + RUNS_FOR).unwrap();
        paces.ended(held);
        assert_eq!(paces.pause_left(), Duration::ZERO, "the turn has ended");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn the_statements_of_long_work_do_not_wait_for_other_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("s.db").display()), 2).await.unwrap();
        let (wrote, is_written) = std::sync::mpsc::channel();
        let other = Arc::new(tokio::sync::Notify::new());
        let long_work = tokio::spawn({
            let other = other.clone();
            async move {
                let mut tx = store.begin_short().await.unwrap();
                // The other task runs next, at the latest when this one waits for SQLite.
                other.notify_one();
                let statements = async {
                    tx.query("DELETE FROM tasks").execute().await.unwrap();
                    tx.commit().await.unwrap();
                    wrote.send(()).unwrap();
                };
                store.undisturbed(statements).await;
            }
        });
        let busy = tokio::spawn(async move {
            other.notified().await;
            is_written.recv_timeout(Duration::from_secs(10))
        });
        assert_eq!(busy.await.unwrap(), Ok(()), "the statements waited for a task that keeps the only thread busy");
        long_work.await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn long_work_takes_no_wake_up_of_another_future_of_its_task() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("s.db").display()), 2).await.unwrap();
        let other = Arc::new(tokio::sync::Notify::new());
        let (finish, is_finished) = tokio::sync::oneshot::channel();
        let wake_both = {
            let other = other.clone();
            async move {
                other.notify_one();
                // The thread of the statements has the time to take this wake-up.
                for _ in 0..10_000 {
                    tokio::task::yield_now().await;
                }
                finish.send(()).unwrap();
            }
        };
        let long_work = store.undisturbed(async {
            tokio::spawn(wake_both);
            is_finished.await.unwrap();
        });
        tokio::select! {
            biased;
            () = tokio::time::sleep(Duration::from_secs(10)) => panic!("the other future was not woken up"),
            // Polls the other future first.
            _ = futures::future::join(other.notified(), long_work) => {}
        }
    }
}

//! Notices between nodes: which turns have new events, and which must stop. PostgreSQL `NOTIFY` transports them.
//!
//! A notice contains no data, only the id of a turn: a lost notice causes a delay, never a lost event. SQLite has no
//! notices. There, and while the notice connection is down, waiting tasks poll at a short interval.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use engine::{
    TurnId,
    mutants::{Mutant, planted},
};
use sqlx::{
    PgPool, Postgres,
    postgres::{PgListener, PgPoolOptions},
};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{Store, db::Db, lender::Lender};

const CHANNEL: &str = "segue_turns";
/// Sent in place of a turn id: check for stop requests.
pub(crate) const STOP: &str = "stop";
/// Notices are collected and sent at this interval, because sending takes a lock that all senders share.
const SEND_EVERY: Duration = Duration::from_millis(20);
/// A notice holds 8,000 bytes; an id and a comma are 37.
const IDS_AT_ONCE: usize = 200;
/// The delay before reconnecting after the connection was lost.
const RECONNECT_AFTER: Duration = Duration::from_secs(1);
/// The polling interval without notices.
const POLL_EVERY: Duration = Duration::from_millis(100);
/// The polling interval with notices, in case one was lost.
const POLL_WITH_NOTICES_EVERY: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Notices {
    /// False if the database has no notices.
    are_transported: bool,
    /// Notices that are not sent yet.
    unsent: Mutex<BTreeSet<String>>,
    has_unsent: Notify,
    /// Which tasks wait for which turn.
    followers: Mutex<HashMap<TurnId, watch::Sender<()>>>,
    stops: Notify,
    is_connected: AtomicBool,
}

/// Waits for news of one turn.
pub struct News<'a> {
    notices: &'a Notices,
    receiver: watch::Receiver<()>,
}

impl Notices {
    pub(crate) fn new(db: &Db) -> Self {
        Self { are_transported: matches!(db, Db::Postgres { .. }), ..Self::default() }
    }

    /// The notices of a node without a database that transports them, for simulations.
    #[cfg(feature = "test-util")]
    pub(crate) fn connected() -> Self {
        Self { is_connected: AtomicBool::new(true), ..Self::default() }
    }

    pub fn notify_events(&self, turn: TurnId) {
        self.queue(turn.to_string());
    }

    pub fn notify_stop(&self) {
        self.queue(STOP.to_owned());
    }

    fn queue(&self, what: String) {
        if !self.are_transported || planted(Mutant::NoticeLost) {
            return;
        }
        lock(&self.unsent).insert(what);
        self.has_unsent.notify_one();
    }

    pub fn news_of(&self, turn: TurnId) -> News<'_> {
        let mut followers = lock(&self.followers);
        followers.retain(|_, sender| !sender.is_closed());
        let receiver = followers.entry(turn).or_insert_with(|| watch::Sender::new(())).subscribe();
        News { notices: self, receiver }
    }

    /// Returns when a turn of this node may have a stop request.
    pub async fn wait_for_stop(&self) {
        tokio::select! {
            biased;
            () = self.stops.notified() => {}
            () = tokio::time::sleep(self.poll_interval() * 2) => {}
        }
    }

    fn poll_interval(&self) -> Duration {
        if self.is_connected.load(Ordering::Relaxed) { POLL_WITH_NOTICES_EVERY } else { POLL_EVERY }
    }

    pub(crate) fn receive(&self, payload: &str) {
        for word in payload.split(',') {
            if word == STOP {
                self.stops.notify_one();
            } else if let Ok(turn) = word.parse()
                && let Some(follower) = lock(&self.followers).get(&turn)
            {
                follower.send_replace(());
            }
        }
    }

    /// Notices may have been missed: wakes every waiting task.
    fn wake_all(&self) {
        self.stops.notify_one();
        lock(&self.followers).values().for_each(|follower| follower.send_replace(()));
    }

    fn take_unsent(&self) -> Vec<String> {
        let mut unsent = lock(&self.unsent);
        let rest = unsent.iter().nth(IDS_AT_ONCE).cloned().map(|first| unsent.split_off(&first)).unwrap_or_default();
        let taken = std::mem::replace(&mut *unsent, rest).into_iter().collect();
        if !unsent.is_empty() {
            self.has_unsent.notify_one();
        }
        taken
    }
}

impl News<'_> {
    /// Returns when there may be new events.
    pub async fn wait(&mut self) {
        let poll_interval = self.notices.poll_interval();
        // The sender cannot be gone: it exists as long as a receiver exists.
        let _ = tokio::time::timeout(poll_interval, self.receiver.changed()).await;
    }
}

impl Store {
    /// Waits for news of one turn, from this node or another.
    pub fn news_of(&self, turn: TurnId) -> News<'_> {
        self.notices.news_of(turn)
    }

    /// Returns when a turn of this node may have a stop request.
    pub async fn wait_for_stop(&self) {
        self.notices.wait_for_stop().await;
    }

    /// Sends notices until the process ends.
    pub async fn send_notices(&self, shutdown: CancellationToken) {
        let Db::Postgres { pool, .. } = &self.db else { return };
        loop {
            tokio::select! {
                () = self.notices.has_unsent.notified() => {}
                () = shutdown.cancelled() => return,
            }
            if let Err(error) = send(pool, &self.notices.take_unsent()).await {
                // Readers on other nodes poll as well, so nothing is lost.
                warn!("Notices could not be sent: {error}");
            }
            if shutdown.run_until_cancelled(tokio::time::sleep(SEND_EVERY)).await.is_none() {
                return;
            }
        }
    }

    /// Receives notices of other nodes until the process ends.
    pub async fn receive_notices(&self, shutdown: CancellationToken) {
        let Db::Postgres { pool, .. } = &self.db else { return };
        loop {
            tokio::select! {
                ended = self.receive_until_closed(pool.pool()) => {
                    if let Err(error) = ended {
                        warn!("Notices of other nodes cannot be received, trying again: {error}");
                    }
                }
                () = shutdown.cancelled() => return,
            }
            self.notices.is_connected.store(false, Ordering::Relaxed);
            self.notices.wake_all();
            if shutdown.run_until_cancelled(tokio::time::sleep(RECONNECT_AFTER)).await.is_none() {
                return;
            }
        }
    }

    async fn receive_until_closed(&self, pool: &PgPool) -> Result<(), sqlx::Error> {
        // A separate connection, because it is never returned to the pool.
        let own = PgPoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let own = own.connect_with(pool.connect_options().as_ref().clone()).await?;
        let mut listener = PgListener::connect_with(&own).await?;
        listener.listen(CHANNEL).await?;
        self.notices.is_connected.store(true, Ordering::Relaxed);
        self.notices.wake_all();
        while let Some(notice) = listener.try_recv().await? {
            self.notices.receive(notice.payload());
        }
        info!("The connection for notices was closed");
        Ok(())
    }
}

async fn send(pool: &Lender<Postgres>, what: &[String]) -> Result<(), sqlx::Error> {
    let mut lent = pool.lend().await?;
    sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(what.join(",")).execute(&mut *lent).await?;
    lent.give_back();
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

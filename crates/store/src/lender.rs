//! Lends connections of a pool, and keeps those that worked for the next caller.
//!
//! sqlx tests every connection that returns to its pool: a task, and one more round trip to PostgreSQL or one more wait for SQLite's
//! thread, for each statement. A connection whose statement succeeded needs no test. Every other connection returns
//! to sqlx: its statement failed, its caller left, or it was idle or kept for long.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use sqlx::{Database, Pool, Transaction, pool::PoolConnection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A connection that was idle for longer may be broken.
const TESTED_AFTER_IDLE: Duration = Duration::from_secs(2);
/// After this time a connection returns to sqlx, which closes old ones.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// A pool whose connections are taken only here: a kept connection counts as used for sqlx.
pub(crate) struct Lender<DB: Database> {
    pool: Pool<DB>,
    kept: Arc<Mutex<Vec<Kept<DB>>>>,
    /// One for each connection of the pool, in the order of the callers.
    permits: Arc<Semaphore>,
}

impl<DB: Database> Clone for Lender<DB> {
    fn clone(&self) -> Self {
        Self { pool: self.pool.clone(), kept: self.kept.clone(), permits: self.permits.clone() }
    }
}

struct Kept<DB: Database> {
    connection: PoolConnection<DB>,
    /// When it came from sqlx.
    since: Instant,
    idle_since: Instant,
}

/// A connection for one statement.
pub(crate) struct Lent<DB: Database> {
    /// `None` once it is given back.
    connection: Option<PoolConnection<DB>>,
    since: Instant,
    lender: Lender<DB>,
    /// Whether it must be closed unless it is given back: it may be inside a transaction that sqlx does not know.
    closes: bool,
    _permit: OwnedSemaphorePermit,
}

/// A transaction with its place in the pool.
pub(crate) struct LentTransaction<DB: Database> {
    transaction: Transaction<'static, DB>,
    _permit: OwnedSemaphorePermit,
}

impl<DB: Database> Lender<DB> {
    pub(crate) fn new(pool: Pool<DB>) -> Self {
        let permits = Arc::new(Semaphore::new(pool.options().get_max_connections() as usize));
        Self { pool, kept: Arc::default(), permits }
    }

    /// For sqlx's own functions, before the first connection is lent.
    pub(crate) fn pool(&self) -> &Pool<DB> {
        &self.pool
    }

    pub(crate) async fn lend(&self) -> Result<Lent<DB>, sqlx::Error> {
        let permit = self.permit().await?;
        let (connection, since) = match self.take_recent() {
            Some(kept) => (kept.connection, kept.since),
            None => (self.pool.acquire().await?, Instant::now()),
        };
        let (connection, lender) = (Some(connection), self.clone());
        Ok(Lent { connection, since, lender, closes: false, _permit: permit })
    }

    /// Begins a transaction on a connection of sqlx, which rolls it back if it is dropped.
    pub(crate) async fn begin(&self, statement: Option<&'static str>) -> Result<LentTransaction<DB>, sqlx::Error> {
        let permit = self.permit().await?;
        // It makes room: kept connections may be all that the pool allows.
        drop(self.lock().pop());
        let transaction = match statement {
            Some(statement) => self.pool.begin_with(statement).await?,
            None => self.pool.begin().await?,
        };
        Ok(LentTransaction { transaction, _permit: permit })
    }

    pub(crate) async fn close(&self) {
        // Whoever waits for a connection fails, and nothing is kept any more.
        self.permits.close();
        self.lock().clear();
        self.pool.close().await;
    }

    /// How many connections are open, and how many of them are idle.
    pub(crate) fn reading(&self) -> (usize, usize) {
        (self.pool.size() as usize, self.pool.num_idle() + self.lock().len())
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, sqlx::Error> {
        let time = self.pool.options().get_acquire_timeout();
        match tokio::time::timeout(time, self.permits.clone().acquire_owned()).await {
            Ok(permit) => permit.map_err(|_| sqlx::Error::PoolClosed),
            Err(_) => Err(sqlx::Error::PoolTimedOut),
        }
    }

    fn take_recent(&self) -> Option<Kept<DB>> {
        let mut kept = self.lock();
        let newest = kept.pop()?;
        if newest.idle_since.elapsed() <= TESTED_AFTER_IDLE {
            return Some(newest);
        }
        // The others have been idle for longer.
        kept.clear();
        None
    }

    fn keep(&self, connection: PoolConnection<DB>, since: Instant) {
        let mut kept = self.lock();
        // Looked at under the lock, because `close` drops what is kept only once.
        if since.elapsed() < KEPT_FOR && !self.permits.is_closed() {
            kept.push(Kept { connection, since, idle_since: Instant::now() });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Kept<DB>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<DB: Database> Lent<DB> {
    /// The next statement contains its own `BEGIN` and `COMMIT`.
    pub(crate) fn closes_unless_given_back(mut self) -> Self {
        self.closes = true;
        self
    }

    /// Its statements have succeeded, and all their results are read.
    pub(crate) fn give_back(mut self) {
        if let Some(connection) = self.connection.take() {
            self.lender.keep(connection, self.since);
        }
    }
}

impl<DB: Database> Drop for Lent<DB> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.as_mut().filter(|_| self.closes) {
            connection.close_on_drop();
        }
    }
}

impl<DB: Database> Deref for Lent<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        self.connection.as_ref().expect("it is not given back")
    }
}

impl<DB: Database> DerefMut for Lent<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        self.connection.as_mut().expect("it is not given back")
    }
}

impl<DB: Database> LentTransaction<DB> {
    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        self.transaction.commit().await
    }
}

impl<DB: Database> Deref for LentTransaction<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        &self.transaction
    }
}

impl<DB: Database> DerefMut for LentTransaction<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        &mut self.transaction
    }
}

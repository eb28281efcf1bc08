//! The connection that writes to SQLite, and whether its commits wait for the disk.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use sqlx::{Executor, Sqlite, SqliteConnection, SqlitePool, Transaction, pool::PoolConnection};

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The end of this process. A power cut may lose the last commits.
    Process,
    /// A power cut.
    Power,
}

/// SQLite allows one writer at a time. The pool has one connection, so that writers wait instead of failing.
///
/// `PRAGMA synchronous` belongs to the connection, not to a transaction. It is changed when a transaction needs another value
/// than the previous one. A new connection has the value of [`Durability::Power`].
#[derive(Clone)]
pub(crate) struct Writer {
    pool: SqlitePool,
    /// The value of the connection: see [`value`]. While it is being changed, it is unknown.
    synchronous: Arc<AtomicU8>,
}

const UNKNOWN: u8 = 0;

fn value(durability: Durability) -> (u8, &'static str) {
    match durability {
        Durability::Process => (1, "PRAGMA synchronous = NORMAL"),
        Durability::Power => (2, "PRAGMA synchronous = FULL"),
    }
}

impl Writer {
    pub(crate) fn new(pool: SqlitePool) -> Self {
        Self { pool, synchronous: Arc::new(AtomicU8::new(UNKNOWN)) }
    }

    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Waits for the connection. The next commits on it survive what `durability` says.
    pub(crate) async fn acquire(&self, durability: Durability) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        let mut connection = self.pool.acquire().await?;
        self.set(&mut connection, durability).await?;
        Ok(connection)
    }

    async fn set(&self, connection: &mut SqliteConnection, durability: Durability) -> Result<(), sqlx::Error> {
        let (wanted, pragma) = value(durability);
        if self.synchronous.load(Ordering::Acquire) == wanted {
            return Ok(());
        }
        // This future may be dropped before the statement has run.
        self.synchronous.store(UNKNOWN, Ordering::Release);
        connection.execute(pragma).await?;
        self.synchronous.store(wanted, Ordering::Release);
        Ok(())
    }

    /// IMMEDIATE takes the write lock now: a transaction that reads first could not get it later.
    pub(crate) async fn begin(&self, durability: Durability) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
        let connection = self.acquire(durability).await?;
        Transaction::begin(connection, Some(sqlx::SqlStr::from_static("BEGIN IMMEDIATE"))).await
    }
}

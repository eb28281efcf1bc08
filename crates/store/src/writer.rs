//! The connection that writes to SQLite, and commits that survive a power cut.
//!
//! With `synchronous = FULL`, every commit waits for the disk inside the transaction, and all other writers wait for it. Here
//! the connection has `NORMAL`: a commit only appends to the write-ahead log. Who needs more waits afterwards until the log is on
//! the disk, while the next transaction is already running. One `fsync` serves everyone who waits for it.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use sqlx::{AssertSqlSafe, Sqlite, SqlitePool};
use tokio::sync::Mutex;

use super::lender::{Lender, Lent, LentTransaction};

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The end of this process. A power cut may lose the last commits.
    Process,
    /// A power cut.
    Power,
}

/// SQLite allows one writer at a time. The pool has one connection, so that writers wait instead of failing.
#[derive(Clone)]
pub(crate) struct Writer {
    lender: Lender<Sqlite>,
    log: Arc<Log>,
}

/// The write-ahead log.
struct Log {
    path: PathBuf,
    n_asked: AtomicU64,
    /// Everyone up to this number has their commits on the disk. Locked by the one who calls `fsync`.
    flushed: Mutex<u64>,
    #[cfg(test)]
    n_syncs: AtomicU64,
}

impl Writer {
    /// `path` is the database file.
    pub(crate) fn new(pool: SqlitePool, path: &str) -> Self {
        let path = PathBuf::from(format!("{path}-wal"));
        let log = Log {
            path,
            n_asked: AtomicU64::new(0),
            flushed: Mutex::new(0),
            #[cfg(test)]
            n_syncs: AtomicU64::new(0),
        };
        Self { lender: Lender::new(pool), log: Arc::new(log) }
    }

    pub(crate) fn lender(&self) -> &Lender<Sqlite> {
        &self.lender
    }

    pub(crate) async fn lend(&self) -> Result<Lent<Sqlite>, sqlx::Error> {
        self.lender.lend().await
    }

    /// IMMEDIATE takes the write lock now: a transaction that reads first could not get it later.
    pub(crate) async fn begin(&self) -> Result<LentTransaction<Sqlite>, sqlx::Error> {
        self.lender.begin(Some("BEGIN IMMEDIATE")).await
    }

    /// Waits until everything that was committed before this call is on the disk. After an error this is not known.
    pub(crate) async fn flush(&self) -> Result<(), sqlx::Error> {
        self.log.flush().await.map_err(sqlx::Error::Io)
    }
}

/// One of `n` statements of a transaction: the first begins it and the last commits it, so that neither is another wait for
/// SQLite's thread. The connection must be closed if one of them fails.
pub(crate) fn in_one_transaction(sql: &str, at: usize, n: usize) -> AssertSqlSafe<String> {
    let begin = if at == 0 { "BEGIN IMMEDIATE; " } else { "" };
    let commit = if at + 1 == n { "; COMMIT" } else { "" };
    AssertSqlSafe(format!("{begin}{sql}{commit}"))
}

impl Log {
    async fn flush(self: &Arc<Self>) -> io::Result<()> {
        let number = self.n_asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut flushed = self.flushed.lock().await;
        if *flushed >= number {
            return Ok(());
        }
        // Everyone who has asked by now committed before asking.
        let n_asked = self.n_asked.load(Ordering::SeqCst);
        let log = self.clone();
        tokio::task::spawn_blocking(move || log.sync()).await.map_err(io::Error::other)??;
        *flushed = n_asked;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        self.n_syncs.fetch_add(1, Ordering::Relaxed);
        // Opened each time: SQLite deletes the log with its last connection and creates another one. SQLite has no locks on
        // this file, which closing it would release.
        match File::open(&self.path) {
            Ok(file) => file.sync_data(),
            // Everything is in the database file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, db::Db};

    async fn store() -> (tempfile::TempDir, Store, Arc<Log>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("s.db").display()), 2).await.unwrap();
        let Db::Sqlite { write, .. } = &store.db else { panic!("SQLite") };
        let log = write.log.clone();
        (folder, store, log)
    }

    #[tokio::test]
    async fn only_the_text_of_turns_and_the_transactions_of_long_work_do_not_wait_for_the_disk() {
        let (_folder, store, log) = store().await;
        assert!(log.path.exists(), "{}", log.path.display());
        let n_syncs = || log.n_syncs.swap(0, Ordering::Relaxed);
        n_syncs();
        store.save_events(&[], Durability::Process).await.unwrap();
        store.begin_short().await.unwrap().commit().await.unwrap();
        drop(store.begin().await.unwrap());
        assert_eq!(n_syncs(), 0);
        store.save_events(&[], Durability::Power).await.unwrap();
        assert_eq!(n_syncs(), 1, "events that are not text");
        store.begin().await.unwrap().commit().await.unwrap();
        assert_eq!(n_syncs(), 1, "a transaction");
        store.write("DELETE FROM tasks").execute().await.unwrap();
        assert_eq!(n_syncs(), 1, "a single statement");
    }

    #[tokio::test]
    async fn one_sync_serves_everyone_who_committed_before_it() {
        let (_folder, _store, log) = store().await;
        log.n_syncs.store(0, Ordering::Relaxed);
        let syncing = log.flushed.lock().await;
        let waiting: Vec<_> = (0..5)
            .map(|_| {
                tokio::spawn({
                    let log = log.clone();
                    async move { log.flush().await }
                })
            })
            .collect();
        while log.n_asked.load(Ordering::SeqCst) < 5 {
            tokio::task::yield_now().await;
        }
        drop(syncing);
        for one in waiting {
            one.await.unwrap().unwrap();
        }
        assert_eq!(log.n_syncs.load(Ordering::Relaxed), 1);
        log.flush().await.unwrap();
        assert_eq!(log.n_syncs.load(Ordering::Relaxed), 2, "a later commit is not covered");
    }

    #[tokio::test]
    async fn a_log_that_cannot_be_written_to_the_disk_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        // A file under a file: neither found nor readable.
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let pool = SqlitePool::connect_lazy("sqlite::memory:").unwrap();
        let writer = Writer::new(pool, &format!("{}/s.db", file.display()));
        writer.flush().await.unwrap_err();
        assert_eq!(*writer.log.flushed.lock().await, 0, "the next one tries again");
    }
}

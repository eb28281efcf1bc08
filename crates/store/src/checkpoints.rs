//! Checkpoints of SQLite: the pages in the write-ahead log are copied into the database file.
//!
//! By default SQLite does this in the commit that makes the log long: every other write waits for the copy and for the
//! disk. Here a task copies the pages on a connection for reading while the writer continues.

use std::time::Duration;

use sqlx::{Executor, Row, Sqlite};
use tokio::time::MissedTickBehavior;
use tokio_util::task::AbortOnDropHandle;

use super::lender::Lender;

const EVERY: Duration = Duration::from_millis(200);
/// Fewer new pages (1 MiB) are not copied: a page that changes with every commit would be copied again and again.
const WORTH_A_COPY: i64 = 256;
/// SQLite starts the log again when all of it is copied. While turns are running, a commit always follows the copied
/// pages, so the writer copies the last ones itself when the log has become this long (16 MiB).
const LONG: i64 = 4096;

/// Copies until the handle is dropped.
pub(crate) fn start(read: Lender<Sqlite>, write: Lender<Sqlite>) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut has_failed = false;
        while !write.pool().is_closed() {
            ticks.tick().await;
            let copied = copy(&read, &write).await;
            if let Err(error) = &copied
                && !has_failed
                && !write.pool().is_closed()
            {
                tracing::warn!(%error, "the log of the database cannot be copied into the database file; trying again");
            }
            has_failed = copied.is_err();
        }
    }))
}

async fn copy(read: &Lender<Sqlite>, write: &Lender<Sqlite>) -> Result<(), sqlx::Error> {
    let log = Log::after(read, "PRAGMA wal_checkpoint(NOOP)").await?;
    if log.n_pages - log.n_copied < WORTH_A_COPY {
        return Ok(());
    }
    if Log::after(read, PASSIVE).await?.n_pages >= LONG {
        Log::after(write, PASSIVE).await?;
    }
    Ok(())
}

/// Copies what can be copied without waiting for anything.
const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";

struct Log {
    n_pages: i64,
    n_copied: i64,
}

impl Log {
    async fn after(pool: &Lender<Sqlite>, checkpoint: &'static str) -> Result<Self, sqlx::Error> {
        let mut lent = pool.lend().await?;
        let row = lent.fetch_one(checkpoint).await?;
        lent.give_back();
        Ok(Self { n_pages: row.try_get(1)?, n_copied: row.try_get(2)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{db::Db, open::open_sqlite};

    const MIB: u64 = 1 << 20;

    #[tokio::test]
    async fn a_commit_copies_nothing_and_copies_keep_the_log_short() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        // Without the task, so that the test decides when pages are copied.
        let Db::Sqlite { read, write } = &open_sqlite(path.to_str().unwrap(), 2).await.unwrap() else {
            panic!("SQLite")
        };
        let write = write.lender();
        let execute = async |sql: &'static str| {
            let mut lent = write.lend().await.unwrap();
            lent.execute(sql).await.unwrap();
            lent.give_back();
        };
        execute("CREATE TABLE filler (bytes BLOB)").await;
        copy(read, write).await.unwrap();
        let length = |ending: &str| std::fs::metadata(format!("{}{ending}", path.display())).unwrap().len();
        let before = length("");

        for round in 0..5 {
            for _ in 0..8 {
                execute("INSERT INTO filler VALUES (zeroblob(1048576))").await;
            }
            if round == 0 {
                assert_eq!(length(""), before, "no commit copied pages");
            }
            copy(read, write).await.unwrap();
        }
        assert!(length("") > 40 * MIB, "all pages are copied: {}", length(""));
        assert!(length("-wal") < 20 * MIB, "the log was started again: {}", length("-wal"));
    }
}

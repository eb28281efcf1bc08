//! The two databases behind one query builder and one transaction type.
//!
//! SQLite and PostgreSQL share a query text. Where the databases differ, two constants `SQLITE` and `POSTGRES` are next
//! to each other, and decision 001 lists the cause. A statement that only differs by its row locks is written once, as
//! `Dialects::locking`.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use sqlx::{Postgres, Sqlite, postgres::PgArguments, sqlite::SqliteArguments};

use super::{
    Store, StoreError,
    leases::Clock,
    lender::{Lender, LentTransaction},
    query::Target,
    writer::{Durability, Writer},
};
pub(crate) use super::{
    dialects::{Dialects, Sql},
    query::Query,
};

#[derive(Clone)]
pub(crate) enum Db {
    Sqlite {
        read: Lender<Sqlite>,
        write: Writer,
    },
    /// Commits on `log` do not wait for the disk.
    Postgres {
        pool: Lender<Postgres>,
        log: Lender<Postgres>,
    },
}

/// A transaction. Dropping it without a commit rolls it back, so that `?` leaves no partial change.
pub(crate) struct Tx {
    open: OpenTx,
    clock: Arc<Clock>,
}

enum OpenTx {
    /// The writer, if the commit waits for the disk.
    Sqlite(LentTransaction<Sqlite>, Option<Writer>),
    Postgres(LentTransaction<Postgres>),
}

impl Tx {
    pub(crate) fn query(&mut self, sql: &'static str) -> Query<'_> {
        let target = match &mut self.open {
            OpenTx::Sqlite(tx, _) => Target::SqliteTx(tx, SqliteArguments::default()),
            OpenTx::Postgres(tx) => Target::PostgresTx(tx, PgArguments::default()),
        };
        Query::new(sql, target, &self.clock)
    }

    /// The database's time.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    pub(crate) fn commit(self) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(async move {
            #[cfg(debug_assertions)]
            crate::failpoint::reached();
            match self.open {
                OpenTx::Sqlite(tx, writer) => {
                    tx.commit().await?;
                    if let Some(writer) = writer {
                        writer.flush().await?;
                    }
                }
                OpenTx::Postgres(tx) => tx.commit().await?,
            }
            #[cfg(debug_assertions)]
            crate::failpoint::reached();
            Ok(())
        })
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.open, OpenTx::Postgres(_))
    }

    pub(crate) fn in_dialect(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self.open {
            OpenTx::Sqlite(..) => sqlite,
            OpenTx::Postgres(_) => postgres,
        }
    }

    pub(crate) fn text_of(&self, sql: &'static Dialects) -> &'static str {
        self.in_dialect(&sql.sqlite, &sql.postgres)
    }
}

/// Begins a transaction in a task of its own, so that `BEGIN` is never cancelled. sqlx rolls a transaction back when it is dropped,
/// but not while `BEGIN` is under way: the connection would return to the pool with an open transaction, and the next write on
/// it would be confirmed and never committed.
async fn begin_to_the_end(pool: Lender<Postgres>) -> Result<LentTransaction<Postgres>, sqlx::Error> {
    tokio::spawn(async move { pool.begin(None).await }).await.unwrap_or(Err(sqlx::Error::WorkerCrashed))
}

impl Store {
    pub(crate) fn begin(&self) -> BoxFuture<'_, Result<Tx, StoreError>> {
        self.begin_with(Durability::Power)
    }

    /// On PostgreSQL every transaction survives a power cut.
    pub(crate) fn begin_with(&self, durability: Durability) -> BoxFuture<'_, Result<Tx, StoreError>> {
        Box::pin(async move {
            #[cfg(debug_assertions)]
            crate::failpoint::reached();
            let open = match &self.db {
                Db::Sqlite { write, .. } => {
                    let flush = (durability == Durability::Power).then(|| write.clone());
                    OpenTx::Sqlite(write.begin().await?, flush)
                }
                Db::Postgres { pool, .. } => OpenTx::Postgres(begin_to_the_end(pool.clone()).await?),
            };
            Ok(Tx { open, clock: self.clock.clone() })
        })
    }

    /// A read query outside a transaction.
    pub(crate) fn read(&self, sql: &'static str) -> Query<'_> {
        let target = match &self.db {
            Db::Sqlite { read, .. } => Target::SqlitePool(read, SqliteArguments::default()),
            Db::Postgres { pool, .. } => Target::PostgresPool(pool, PgArguments::default()),
        };
        Query::new(sql, target, &self.clock)
    }

    /// A single write statement, in its own transaction.
    pub(crate) fn write(&self, sql: &'static str) -> Query<'_> {
        let target = match &self.db {
            Db::Sqlite { write, .. } => Target::SqliteWriter(write, SqliteArguments::default()),
            Db::Postgres { pool, .. } => Target::PostgresPool(pool, PgArguments::default()),
        };
        Query::new(sql, target, &self.clock)
    }

    /// Several changes in one commit: `sqlite` holds one or more statements that share their arguments, `postgres` is one
    /// statement. On PostgreSQL there is no `BEGIN` and no `COMMIT`, and one reply to wait for; on SQLite one wait for its
    /// thread, with `BEGIN` and `COMMIT`.
    pub(crate) fn write_together(&self, sqlite: &'static str, postgres: &'static str) -> Query<'_> {
        let (sql, target) = match &self.db {
            Db::Sqlite { write, .. } => (sqlite, Target::SqliteTogether(write, SqliteArguments::default())),
            Db::Postgres { pool, .. } => (postgres, Target::PostgresPool(pool, PgArguments::default())),
        };
        Query::new(sql, target, &self.clock)
    }

    pub(crate) fn in_dialect(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self.db {
            Db::Sqlite { .. } => sqlite,
            Db::Postgres { .. } => postgres,
        }
    }

    pub(crate) fn text_of(&self, sql: &'static Dialects) -> &'static str {
        self.in_dialect(&sql.sqlite, &sql.postgres)
    }
}

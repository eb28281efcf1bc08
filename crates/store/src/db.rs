//! The two databases behind one query builder and one transaction type.
//!
//! SQLite and PostgreSQL share a query text. Where the databases differ, two constants `SQLITE` and `POSTGRES` are next
//! to each other and `in_dialect` selects one. Search for `in_dialect` to find every such pair.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use sqlx::{
    Arguments, Encode, FromRow, PgConnection, Postgres, Sqlite, SqliteConnection, Type,
    error::BoxDynError,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use super::{
    Store, StoreError,
    leases::Clock,
    lender::{Lender, LentTransaction},
    writer::{Durability, Writer, in_one_transaction},
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

/// One statement with its arguments. Statements are prepared once per connection and cached.
pub(crate) struct Query<'c> {
    sql: &'static str,
    target: Target<'c>,
    clock: &'c Clock,
    /// The first argument that could not be encoded; reported when the query runs.
    failed: Option<BoxDynError>,
}

enum Target<'c> {
    SqlitePool(&'c Lender<Sqlite>, SqliteArguments),
    SqliteWriter(&'c Writer, SqliteArguments),
    /// Several statements, in a transaction of their own.
    SqliteTogether(&'c Writer, SqliteArguments),
    SqliteTx(&'c mut SqliteConnection, SqliteArguments),
    PostgresPool(&'c Lender<Postgres>, PgArguments),
    PostgresTx(&'c mut PgConnection, PgArguments),
}

/// A type that both databases accept as an argument.
pub(crate) trait Argument<'q>:
    Encode<'q, Sqlite> + Type<Sqlite> + Encode<'q, Postgres> + Type<Postgres>
{
}
impl<'q, T> Argument<'q> for T where T: Encode<'q, Sqlite> + Type<Sqlite> + Encode<'q, Postgres> + Type<Postgres> {}

/// A type that can be read from a row of both databases.
pub(crate) trait Row: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}
impl<T> Row for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

/// Runs one expression on a connection of a pool, which is kept for the next statement if it succeeds.
macro_rules! on_lent {
    ($lent:expr, |$db:ident| $run:expr) => {{
        let mut lent = $lent;
        let $db = &mut *lent;
        let done: Result<_, sqlx::Error> = $run;
        if done.is_ok() {
            lent.give_back();
        }
        done
    }};
}

/// Evaluates one expression with the executor, the statement and the arguments of the target.
macro_rules! on_target {
    ($query:expr, |$db:ident, $sql:ident, $arguments:ident| $run:expr) => {{
        #[cfg(debug_assertions)]
        crate::failpoint::reached();
        if let Some(error) = $query.failed {
            return Err(sqlx::Error::Encode(error));
        }
        let $sql = $query.sql;
        match $query.target {
            Target::SqlitePool(pool, $arguments) => on_lent!(pool.lend().await?, |$db| $run),
            Target::SqliteWriter(writer, $arguments) => {
                let done = on_lent!(writer.lend().await?, |$db| $run)?;
                writer.flush().await?;
                Ok(done)
            }
            Target::SqliteTogether(writer, $arguments) => {
                let $sql = in_one_transaction($sql, 0, 1);
                let done = on_lent!(writer.lend().await?.closes_unless_given_back(), |$db| $run)?;
                writer.flush().await?;
                Ok(done)
            }
            Target::SqliteTx($db, $arguments) => $run,
            Target::PostgresPool(pool, $arguments) => on_lent!(pool.lend().await?, |$db| $run),
            Target::PostgresTx($db, $arguments) => $run,
        }
    }};
}

impl<'c> Query<'c> {
    fn new(sql: &'static str, target: Target<'c>, clock: &'c Clock) -> Self {
        Self { sql, target, clock, failed: None }
    }

    /// Binds the database's time. Stored times never come from the clock of a node, which may be wrong.
    pub(crate) fn bind_now(self) -> Self {
        let now = self.clock.now();
        self.bind(now)
    }

    /// Binds a time in the future: the end of a lease, or when something is due.
    pub(crate) fn bind_in(self, wait: Duration) -> Self {
        let then = self.clock.now() + wait;
        self.bind(then)
    }

    pub(crate) fn bind<'q>(mut self, value: impl Argument<'q>) -> Self {
        let added = match &mut self.target {
            Target::SqlitePool(_, arguments)
            | Target::SqliteWriter(_, arguments)
            | Target::SqliteTogether(_, arguments)
            | Target::SqliteTx(_, arguments) => Arguments::add(arguments, value),
            Target::PostgresPool(_, arguments) | Target::PostgresTx(_, arguments) => Arguments::add(arguments, value),
        };
        self.failed = self.failed.or(added.err());
        self
    }

    /// Runs the statement and returns how many rows it changed.
    pub(crate) fn execute(self) -> Asked<'c, u64> {
        Box::pin(async move {
            on_target!(self, |db, sql, arguments| {
                sqlx::query_with(sql, arguments).execute(db).await.map(|done| done.rows_affected())
            })
        })
    }

    pub(crate) async fn fetch_one<T: Row>(self) -> Result<T, sqlx::Error> {
        self.fetch_optional().await?.ok_or(sqlx::Error::RowNotFound)
    }

    pub(crate) async fn fetch_optional<T: Row>(self) -> Result<Option<T>, sqlx::Error> {
        self.first_row().await?.map(|row| row.read()).transpose()
    }

    pub(crate) async fn fetch_all<T: Row>(self) -> Result<Vec<T>, sqlx::Error> {
        self.rows().await?.iter().map(AnyRow::read).collect()
    }

    fn first_row(self) -> Asked<'c, Option<AnyRow>> {
        Box::pin(async move {
            // The first row of a transaction is not its end.
            if matches!(self.target, Target::SqliteTogether(..)) {
                return Ok(self.rows().await?.into_iter().next());
            }
            on_target!(self, |db, sql, arguments| {
                sqlx::query_with(sql, arguments).fetch_optional(db).await.map(|row| row.map(AnyRow::from))
            })
        })
    }

    fn rows(self) -> Asked<'c, Vec<AnyRow>> {
        Box::pin(async move {
            on_target!(self, |db, sql, arguments| {
                let rows = sqlx::query_with(sql, arguments).fetch_all(db).await;
                rows.map(|rows| rows.into_iter().map(AnyRow::from).collect())
            })
        })
    }
}

/// A statement that runs. It is boxed where it begins: an `async fn` is compiled again in every crate that awaits it, with
/// everything below it, and the drivers of two databases below each query are most of the program's build time.
type Asked<'c, T> = BoxFuture<'c, Result<T, sqlx::Error>>;

/// A row of either database.
enum AnyRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl AnyRow {
    fn read<T: Row>(&self) -> Result<T, sqlx::Error> {
        match self {
            Self::Sqlite(row) => T::from_row(row),
            Self::Postgres(row) => T::from_row(row),
        }
    }
}

impl From<SqliteRow> for AnyRow {
    fn from(row: SqliteRow) -> Self {
        Self::Sqlite(row)
    }
}

impl From<PgRow> for AnyRow {
    fn from(row: PgRow) -> Self {
        Self::Postgres(row)
    }
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
}

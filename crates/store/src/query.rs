//! One statement with its arguments, on a connection of either database.

use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::{
    Arguments, Encode, Executor, FromRow, IntoArguments, PgConnection, Postgres, SqlSafeStr, SqlStr, Sqlite,
    SqliteConnection, Type,
    error::BoxDynError,
    postgres::{PgArguments, PgRow},
    sqlite::{SqliteArguments, SqliteRow},
};

use super::{
    leases::Clock,
    lender::{Lender, Lent},
    writer::{Writer, in_one_transaction},
};

/// One statement with its arguments. Statements are prepared once per connection and cached.
pub(crate) struct Query<'c> {
    sql: &'static str,
    target: Target<'c>,
    clock: &'c Clock,
    /// The first argument that could not be encoded; reported when the query runs.
    failed: Option<BoxDynError>,
}

pub(crate) enum Target<'c> {
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

impl<'c> Query<'c> {
    pub(crate) fn new(sql: &'static str, target: Target<'c>, clock: &'c Clock) -> Self {
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
    pub(crate) async fn execute(self) -> Result<u64, sqlx::Error> {
        Ok(self.ask(Wanted::Count).await?.n_changed)
    }

    pub(crate) async fn fetch_one<T: Row>(self) -> Result<T, sqlx::Error> {
        self.fetch_optional().await?.ok_or(sqlx::Error::RowNotFound)
    }

    pub(crate) async fn fetch_optional<T: Row>(self) -> Result<Option<T>, sqlx::Error> {
        self.ask(Wanted::First).await?.rows.first().map(AnyRow::read).transpose()
    }

    pub(crate) async fn fetch_all<T: Row>(self) -> Result<Vec<T>, sqlx::Error> {
        self.ask(Wanted::All).await?.rows.iter().map(AnyRow::read).collect()
    }

    /// Boxed where it begins: an `async fn` is compiled again in every crate that awaits it, with everything below it, and the
    /// drivers of two databases below each query are most of the program's build time.
    fn ask(self, wanted: Wanted) -> BoxFuture<'c, Result<Reply, sqlx::Error>> {
        Box::pin(async move {
            #[cfg(debug_assertions)]
            crate::failpoint::reached();
            match self.failed {
                Some(error) => Err(sqlx::Error::Encode(error)),
                None => self.target.ask(self.sql, wanted).await,
            }
        })
    }
}

impl Target<'_> {
    async fn ask(self, sql: &'static str, wanted: Wanted) -> Result<Reply, sqlx::Error> {
        let sql = SqlStr::from_static(sql);
        match self {
            Self::SqlitePool(pool, arguments) => ask_lent(pool.lend().await?, sql, arguments, wanted).await,
            Self::SqliteWriter(writer, arguments) => {
                let reply = ask_lent(writer.lend().await?, sql, arguments, wanted).await?;
                writer.flush().await?;
                Ok(reply)
            }
            Self::SqliteTogether(writer, arguments) => {
                let sql = in_one_transaction(sql.as_str(), 0, 1).into_sql_str();
                // The first row of a transaction is not its end.
                let wanted = if wanted == Wanted::First { Wanted::All } else { wanted };
                let lent = writer.lend().await?.closes_unless_given_back();
                let reply = ask_lent(lent, sql, arguments, wanted).await?;
                writer.flush().await?;
                Ok(reply)
            }
            Self::SqliteTx(connection, arguments) => ask::<Sqlite>(connection, sql, arguments, wanted).await,
            Self::PostgresPool(pool, arguments) => ask_lent(pool.lend().await?, sql, arguments, wanted).await,
            Self::PostgresTx(connection, arguments) => ask::<Postgres>(connection, sql, arguments, wanted).await,
        }
    }
}

/// Runs a statement on a connection of a pool, which is kept for the next statement if it succeeds.
async fn ask_lent<DB: Driver>(
    mut lent: Lent<DB>,
    sql: SqlStr,
    arguments: DB::Arguments,
    wanted: Wanted,
) -> Result<Reply, sqlx::Error>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let reply = ask::<DB>(&mut lent, sql, arguments, wanted).await?;
    lent.give_back();
    Ok(reply)
}

async fn ask<DB: Driver>(
    connection: &mut DB::Connection,
    sql: SqlStr,
    arguments: DB::Arguments,
    wanted: Wanted,
) -> Result<Reply, sqlx::Error>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let query = sqlx::query_with(sql, arguments);
    let (n_changed, rows) = match wanted {
        Wanted::Count => (DB::n_changed(query.execute(connection).await?), vec![]),
        Wanted::First => (0, query.fetch_optional(connection).await?.into_iter().map(DB::row).collect()),
        Wanted::All => (0, query.fetch_all(connection).await?.into_iter().map(DB::row).collect()),
    };
    Ok(Reply { n_changed, rows })
}

/// What a caller reads of the reply.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Count,
    First,
    All,
}

struct Reply {
    n_changed: u64,
    rows: Vec<AnyRow>,
}

/// What both drivers have, but in no trait of sqlx.
trait Driver: sqlx::Database<Arguments: IntoArguments<Self>> {
    fn n_changed(done: Self::QueryResult) -> u64;
    fn row(row: Self::Row) -> AnyRow;
}

impl Driver for Sqlite {
    fn n_changed(done: Self::QueryResult) -> u64 {
        done.rows_affected()
    }

    fn row(row: SqliteRow) -> AnyRow {
        AnyRow::Sqlite(row)
    }
}

impl Driver for Postgres {
    fn n_changed(done: Self::QueryResult) -> u64 {
        done.rows_affected()
    }

    fn row(row: PgRow) -> AnyRow {
        AnyRow::Postgres(row)
    }
}

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

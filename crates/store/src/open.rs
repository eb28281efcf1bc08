//! How a database is opened: its connections, its files, and the upgrade of its schema.

use std::{
    fs::File,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use sqlx::{
    Connection,
    migrate::MigrateError,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    Store, StoreError, TURN_LEASE, checkpoints,
    db::Db,
    lender::Lender,
    migrations, newest_schema, notices, old_nodes,
    private::{private_file, private_folder},
    writer::Writer,
};

impl Store {
    /// Opens `sqlite:<path>` or `postgres://…` and brings its schema up to date.
    pub async fn open(url: &str, pool_size: u32) -> Result<Self, StoreError> {
        let db = if url.starts_with("postgres") {
            open_postgres(url, pool_size).await?
        } else {
            open_sqlite(url, pool_size).await?
        };
        let migrated = match &db {
            Db::Sqlite { write, .. } => {
                let _alone = alone(format!("{}.migrating", sqlite_path(url)).into()).await.map_err(sqlx::Error::Io)?;
                migrations::sqlite().run(write.lender().pool()).await
            }
            Db::Postgres { pool, .. } => {
                old_nodes::refuse_old_nodes(pool.pool()).await?;
                migrations::postgres().run(pool.pool()).await
            }
        };
        migrated.map_err(migration_error)?;
        let notices = Arc::new(notices::Notices::new(&db));
        let checkpoints = match &db {
            Db::Sqlite { read, write } => Some(Arc::new(checkpoints::start(read.clone(), write.lender().clone()))),
            Db::Postgres { .. } => None,
        };
        let store = Self {
            db,
            _checkpoints: checkpoints,
            notices,
            clock: Arc::default(),
            call_leases: Arc::default(),
            uncounted: Arc::default(),
            lease: TURN_LEASE,
            paces: Arc::default(),
            served: Arc::default(),
        };
        store.set_clock().await?;
        store.convert_words().await?;
        Ok(store)
    }
}

const TESTED_AFTER_IDLE: Duration = Duration::from_secs(2);

/// A node that is paused inside a transaction must not hold its locks for longer than a lease. A statement that waits
/// for a lock fails after some seconds.
const SESSION: [(&str, &str); 2] = [("idle_in_transaction_session_timeout", "5s"), ("lock_timeout", "8s")];

async fn open_postgres(url: &str, pool_size: u32) -> Result<Db, sqlx::Error> {
    let options = PgConnectOptions::from_str(url)?.application_name(old_nodes::APPLICATION_NAME).options(SESSION);
    let pool = postgres_pool(pool_size).connect_with(options.clone()).await?;
    // The pool for the text of running turns. A power cut may lose the last moments of such text, so the commit does
    // not wait for the disk.
    let log = postgres_pool(1).connect_lazy_with(options.options([("synchronous_commit", "off")]));
    Ok(Db::Postgres { pool: Lender::new(pool), log: Lender::new(log) })
}

fn postgres_pool(size: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(size)
        .acquire_timeout(Duration::from_secs(5))
        .test_before_acquire(false)
        // A connection in regular use is known to work. A connection that was idle for a while may be broken, so it is
        // tested.
        .before_acquire(|connection, about| {
            Box::pin(async move {
                if about.idle_for > TESTED_AFTER_IDLE {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}

/// The migrator's own message for a database of a newer version does not say what to do.
fn migration_error(error: MigrateError) -> StoreError {
    let error = match error {
        MigrateError::VersionMissing(found) => {
            let known = newest_schema().unwrap_or_default();
            let text = format!(
                "the database was upgraded by a newer version of Segue (schema {found}, this version knows {known}). \
                 Start that version, or restore a backup made before the upgrade."
            );
            sqlx::Error::Configuration(text.into())
        }
        other => other.into(),
    };
    StoreError::Database(error)
}

pub(crate) async fn open_sqlite(url: &str, pool_size: u32) -> Result<Db, sqlx::Error> {
    let path = sqlite_path(url);
    if let Some(folder) = Path::new(path).parent() {
        make_folder(folder).map_err(sqlx::Error::Io)?;
    }
    // SQLite creates its log and its shared memory with the permissions of the database file.
    for ending in ["", "-wal", "-shm"] {
        let file = PathBuf::from(format!("{path}{ending}"));
        if ending.is_empty() || file.exists() {
            private_file(&file).map_err(sqlx::Error::Io)?;
        }
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        // `writer` waits for the disk, after the commit.
        .synchronous(SqliteSynchronous::Normal)
        // `checkpoints` copies the log.
        .pragma("wal_autocheckpoint", "0")
        .busy_timeout(Duration::from_secs(5))
        .statement_cache_capacity(200);
    let timeout = Duration::from_secs(5);
    let write = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(timeout)
        // After a failed commit (full disk) the connection still considers itself inside a transaction. It is closed,
        // and another one is used.
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
        .connect_with(options.clone())
        .await?;
    let read =
        SqlitePoolOptions::new().max_connections(pool_size).acquire_timeout(timeout).connect_with(options).await?;
    Ok(Db::Sqlite { read: Lender::new(read), write: Writer::new(write, path) })
}

/// A folder that is created for the database is private. An existing folder is not changed, because other programs may
/// use it.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    if folder.as_os_str().is_empty() || folder.exists() { Ok(()) } else { private_folder(folder) }
}

/// Waits until no other process holds this file. The migrator has its own lock on PostgreSQL, but not on SQLite.
async fn alone(path: PathBuf) -> std::io::Result<File> {
    let wait = move || {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        file.lock()?;
        Ok(file)
    };
    tokio::task::spawn_blocking(wait).await?
}

/// The file path of a `sqlite:` URL.
pub fn sqlite_path(url: &str) -> &str {
    let path = url.strip_prefix("sqlite:").unwrap_or(url);
    path.strip_prefix("//").unwrap_or(path)
}

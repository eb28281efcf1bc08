//! The store: one query text for SQLite and PostgreSQL. Every query takes the owner of the data.

#[macro_use]
mod row;
mod album_trash;
mod albums;
mod attempts;
mod branches;
mod by_age;
mod catalogue_answers;
mod checkpoints;
mod connections;
mod consents;
mod conversation_changes;
mod conversation_model;
mod conversations;
mod db;
mod direct_calls;
mod documents;
mod export_pages;
#[cfg(debug_assertions)]
pub mod failpoint;
mod fair;
mod feedback;
mod fingerprints;
mod folder_leases;
mod folders;
mod found;
#[cfg(feature = "test-util")]
mod hot_queries;
mod imports;
mod in_parts;
mod ingest;
mod ingest_again;
mod ingest_seen;
mod journal;
mod leases;
mod lender;
mod library;
mod library_bulk;
mod library_files;
mod library_insert;
mod limits;
mod listing;
mod listing_statements;
mod locks;
mod matched_entries;
mod matching_line;
#[cfg(feature = "test-util")]
mod memory;
mod merge_log;
mod merge_undo;
mod merges;
mod message_calls;
mod message_pages;
mod migrations;
mod moves;
mod notices;
mod old_nodes;
mod open_entries;
mod own_names;
mod owned;
mod plan;
mod playlist_diff;
mod playlist_edits;
mod playlist_files;
mod playlist_moves;
mod playlists;
mod private;
mod questions;
mod room;
mod sample;
mod schedule;
mod scope_of;
mod shared_index;
mod short;
mod spending;
mod spent_today;
mod step;
mod stored_words;
mod task_order;
mod tasks;
mod titles;
mod tracks;
mod trash;
mod turn_call;
mod turn_end;
mod turn_log;
mod turn_open;
mod turn_start;
mod turn_store;
mod turns;
mod undo;
mod uploads;
mod users;
mod views;
mod without_document;
mod writer;

use std::{
    fs::File,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use chrono::TimeDelta;
use sqlx::{
    Connection,
    migrate::MigrateError,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio_util::task::AbortOnDropHandle;

use db::Db;
use lender::Lender;

pub use albums::LibraryAlbum;
pub use attempts::AttemptSubject;
pub use branches::Siblings;
pub use by_age::Age;
pub use connections::SealedConnection;
pub use consents::{Consent, ConsentLine, ConsentScope, NewConsent};
pub use conversation_changes::ConversationChange;
pub use conversations::{Conversation, ConversationPage, MessageStatus, StoredMessage, TurnError};
pub use export_pages::AlbumKey;
pub use feedback::{Feedback, Opinion};
pub use fingerprints::{FolderSound, SimilarFile, Sound, UncomparedFile};
pub use folder_leases::FOLDER_LEASE;
pub use folders::FolderSource;
pub use found::{Description, FeaturesFound, LyricsFound, with_gaps_filled};
#[cfg(feature = "test-util")]
pub use hot_queries::{HotQuery, hot_queries};
pub use imports::{ImportLine, NewImport, NewOpenEntry};
pub use ingest::LEASE;
pub use ingest_seen::{FailedStep, StepCounts};
pub use journal::{JournalRow, NO_TURN};
pub use leases::{DeadTurn, FIRST_TOKEN, TURN_LEASE, Takeover};
pub use library::LibraryTrack;
pub use library_files::{ArtworkFile, FileChanges, LibraryFile, MovedFile};
pub use library_insert::NewLibraryTrack;
pub use limits::{Limited, TurnLimits};
pub use listing::{LibrarySort, Listing};
#[cfg(feature = "test-util")]
pub use memory::MemoryTurnStore;
pub use merge_log::MergeLine;
pub use merges::FilePart;
pub use message_calls::StoredCall;
pub use message_pages::MessagePage;
pub use notices::News;
pub use open_entries::{OpenClaim, OpenEntry, Resolution};
pub use owned::{OwnCandidate, OwnTrack};
pub use playlist_edits::EditedPlaylist;
pub use playlist_files::PlaylistFile;
pub use playlists::{ItemId, Playlist, PlaylistContent, PlaylistId, PlaylistLine, PlaylistPage, PlaylistTrack};
pub use private::{private_file, private_folder};
pub use scope_of::Visible;
pub use shared_index::INDEX_LEASE;
pub use spending::{Purpose, Reservation, TokenLimits};
pub use spent_today::SpentToday;
pub use step::{Claimed, Ending, Priority, Step};
pub use task_order::TaskPlace;
pub use tasks::{NewTask, Task, TaskChange, TaskFilter, TaskId};
pub use tracks::TrackChange;
pub use trash::{KEPT as TRASH_KEPT, TrashItem, TrashKind, TrashPlace};
pub use turn_end::{Ended, TurnEnd};
pub use turn_log::{Save, Saved};
pub use turn_store::{Pending, TurnStore};
pub use turns::{Again, NewTurn, Start, StartedTurn, TurnRow};
pub use undo::{UndoId, Undone};
pub use users::{Account, Credentials, Hash, KeyHolder, KeyKind, NewKey, name_key};
pub use views::{AlbumLine, ArtistLine, GroupLine};
pub use writer::Durability;
use writer::Writer;

#[derive(Clone)]
pub struct Store {
    db: Db,
    clock: Arc<leases::Clock>,
    notices: Arc<notices::Notices>,
    call_leases: Arc<journal::CallLeases>,
    lease: TimeDelta,
    paces: Arc<short::Paces>,
    served: Arc<fair::Served>,
    /// None with PostgreSQL, which has a process of its own for this.
    _checkpoints: Option<Arc<AbortOnDropHandle<()>>>,
}

/// How many connections of a pool are open, for metrics.
#[derive(Debug)]
pub struct PoolReading {
    pub name: &'static str,
    pub idle: usize,
    pub used: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The row does not exist, or belongs to another owner. Callers cannot distinguish the two.
    #[error("not found")]
    NotFound,
    /// The request is valid, but the current state does not allow it.
    #[error("{0}")]
    Conflict(&'static str),
    /// The database does not answer or returns an error; the operator must act.
    #[error("database error: {0}")]
    Database(#[from] sqlx::Error),
}

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
            lease: TURN_LEASE,
            paces: Arc::default(),
            served: Arc::default(),
        };
        store.set_clock().await?;
        store.convert_words().await?;
        Ok(store)
    }

    /// How many connections are open, idle and in use.
    pub fn pools(&self) -> Vec<PoolReading> {
        fn reading<DB: sqlx::Database>(name: &'static str, pool: &Lender<DB>) -> PoolReading {
            let (size, idle) = pool.reading();
            PoolReading { name, idle, used: size.saturating_sub(idle) }
        }
        match &self.db {
            Db::Sqlite { read, write } => vec![reading("read", read), reading("write", write.lender())],
            Db::Postgres { pool, log } => vec![reading("postgres", pool), reading("log", log)],
        }
    }

    /// "sqlite" or "postgres", for messages.
    pub fn kind(&self) -> &'static str {
        match self.db {
            Db::Sqlite { .. } => "sqlite",
            Db::Postgres { .. } => "postgres",
        }
    }

    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read("SELECT 1").execute().await?;
        Ok(())
    }

    pub async fn close(&self) {
        match &self.db {
            Db::Sqlite { read, write } => {
                read.close().await;
                write.lender().close().await;
            }
            Db::Postgres { pool, log } => {
                pool.close().await;
                log.close().await;
            }
        }
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

async fn open_sqlite(url: &str, pool_size: u32) -> Result<Db, sqlx::Error> {
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

/// The newest schema version of this program.
pub fn newest_schema() -> Option<i64> {
    migrations::newest()
}

/// A LIKE pattern that finds these words anywhere in a text. Special characters are escaped.
fn like_pattern(words: &str) -> String {
    let escaped = words.to_lowercase().replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    format!("%{escaped}%")
}

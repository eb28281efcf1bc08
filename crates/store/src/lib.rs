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
mod dialects;
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
mod long_texts;
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
mod open;
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
mod query;
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

use std::sync::Arc;

use chrono::TimeDelta;
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
pub use feedback::{Feedback, JudgedCall, Opinion};
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
pub use open::sqlite_path;
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

#[derive(Clone)]
pub struct Store {
    db: Db,
    clock: Arc<leases::Clock>,
    notices: Arc<notices::Notices>,
    call_leases: Arc<journal::CallLeases>,
    uncounted: Arc<room::Uncounted>,
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

/// The newest schema version of this program.
pub fn newest_schema() -> Option<i64> {
    migrations::newest()
}

/// A LIKE pattern that finds these words anywhere in a text. Special characters are escaped.
fn like_pattern(words: &str) -> String {
    let escaped = words.to_lowercase().replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    format!("%{escaped}%")
}

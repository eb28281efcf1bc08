//! Why a service rejected a request or failed: one error type for every caller. The variants tell who can act on it.

use crate::{count::OutOfRange, text_limit::WrongLength};
use music::TrackRef;
use search::IndexError;
use sources::tidal::TidalError;
use store::{Limited, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The item does not exist or belongs to another user. Callers cannot distinguish the two.
    #[error("not found")]
    NotFound,
    /// The request is valid, but the current state does not allow it.
    #[error("{0}")]
    Conflict(&'static str),
    /// A turn runs in this conversation; the caller can wait for it or stop it.
    #[error("{0}")]
    TurnRunning(&'static str),
    /// The caller can correct this field.
    #[error("{field}: {problem}")]
    Invalid { field: &'static str, problem: String },
    /// The caller can correct the length of a text.
    #[error(transparent)]
    WrongLength(#[from] WrongLength),
    /// The caller can correct a number.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The request contains no change.
    #[error("{0}")]
    Incomplete(&'static str),
    /// The caller must wait.
    #[error(transparent)]
    Limited(#[from] Limited),
    #[error("the server is shutting down")]
    Closing,
    /// The turn ended so long ago that its events are deleted.
    #[error("the turn has ended; read the conversation instead")]
    Gone,
    /// No source knows the recording. The caller can search for it by name.
    #[error("no source knows a recording called {0}")]
    UnknownTrack(TrackRef),
    #[error(transparent)]
    Catalogue(#[from] TidalError),
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A tool call cannot be recorded, so it does not run; the operator must act.
    #[error("journal error: {0}")]
    Journal(String),
    /// The database does not answer or returns an error; the operator must act.
    #[error("database error: {0}")]
    Database(sqlx::Error),
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::NotFound,
            StoreError::Conflict(why) => Self::Conflict(why),
            StoreError::Database(cause) => Self::Database(cause),
        }
    }
}

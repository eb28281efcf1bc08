//! Why a service refused or failed: one error for every caller. The variants say who can act on it.

use crate::text_limit::WrongLength;
use music::Isrc;
use search::IndexError;
use sources::tidal::TidalError;
use store::{Limited, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not there, or another user's: the two are never told apart.
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
    /// The request asks for nothing.
    #[error("{0}")]
    Incomplete(&'static str),
    /// The caller must wait.
    #[error(transparent)]
    Limited(#[from] Limited),
    #[error("the server is shutting down")]
    Closing,
    /// The turn ended so long ago that its events are deleted.
    #[error("the turn has ended; the conversation is the record")]
    Gone,
    /// No source knows the recording. The caller can search for it by name.
    #[error("no source knows a recording with the code {0}")]
    UnknownTrack(Isrc),
    #[error(transparent)]
    Catalogue(#[from] TidalError),
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The database does not answer or refuses; the operator must look.
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

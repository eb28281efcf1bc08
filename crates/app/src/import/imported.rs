//! What is imported, and the result.

use std::{fs::File, path::PathBuf};

use super::{ImportReport, Kept, Match};
use crate::Error;
use formats::{ImportError, ImportedTrack};
use music::TrackId;
use store::OpenEntry;

/// The input of an import.
pub enum Given {
    /// A file, an archive or a folder on this machine.
    Path(PathBuf),
    Upload {
        file: File,
        name: String,
    },
}

impl Given {
    /// What its owner calls it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Upload { name, .. } => name.clone(),
        }
    }

    /// The same content, for the comparison of sounds after the import.
    pub(crate) fn again(&self) -> Result<Self, ImportError> {
        Ok(match self {
            Self::Path(path) => Self::Path(path.clone()),
            Self::Upload { file, name } => Self::Upload { file: file.try_clone()?, name: name.clone() },
        })
    }
}

/// The result of several files.
#[derive(Default)]
pub struct ImportedAll {
    pub imported: Vec<Imported>,
    /// What contains audio.
    pub audio: Vec<Given>,
    /// By name: the files of which nothing was imported.
    pub refused: Vec<(String, ImportFailure)>,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportFailure {
    /// The user can correct the file.
    #[error(transparent)]
    File(#[from] ImportError),
    #[error(transparent)]
    Service(#[from] Error),
    #[error("the import stopped in the middle: {0}")]
    Bug(#[from] tokio::task::JoinError),
}

/// An open entry, as its owner sees it.
pub type OpenLine = OpenEntry<ImportedTrack, Match>;

/// The result of one file.
pub struct Imported {
    pub report: ImportReport,
    pub kept: Kept,
    pub open: Vec<OpenLine>,
    /// The track of each entry.
    pub ids: Vec<TrackId>,
}

//! Opening an index: its folder, its lock, and what is deleted because it is broken, older, or of another embedder.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, RwLock, atomic::AtomicBool},
};

use anyhow::Context;
use tantivy::{Index, ReloadPolicy, directory::MmapDirectory};
use tracing::{info, warn};

use super::{
    super::{IndexError, recent::Recent, vectors::Vectors},
    EmbeddedIndex, Shared, read_note,
    schema::{self, Fields},
    snapshot::Snapshot,
};
use crate::{
    cores,
    embed::{Embedder, EmbedderId},
};

const LOCK_FILE: &str = "owner.lock";
const VECTOR_FILE: &str = "vectors.i16";

impl EmbeddedIndex {
    /// Opens the index of this embedder in a folder. If it is missing, broken or of an older version, an empty one is
    /// created; [`crate::catch_up`] fills it.
    pub fn open(dir: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let home = home(dir, &embedder.id());
        fs::create_dir_all(&home)?;
        let Some(lock) = try_lock(&home)? else {
            info!("Another process owns the index; reading what it writes");
            let shared = Shared::open(&home, embedder)
                .map_err(|error| IndexError::Away(format!("another process is creating it: {error}")))?;
            return Ok(Self { shared: Arc::new(shared) });
        };
        let shared = match Shared::open(&home, embedder.clone()) {
            Ok(shared) => shared,
            Err(error) => {
                warn!("The index in {} cannot be used and is rebuilt: {error}", home.display());
                clear(&home)?;
                Shared::open(&home, embedder)?
            }
        };
        shared.own(lock)?;
        discard_older(dir)?;
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Whether this embedder already has an index in this folder. If not, a new one is built while the current one
    /// serves.
    pub fn exists(dir: &Path, embedder: &EmbedderId) -> bool {
        home(dir, embedder).join("meta.json").exists()
    }

    /// Deletes the indexes of all other embedders, after this one has caught up.
    pub(super) fn discard_others(&self) -> Result<(), IndexError> {
        let Some(dir) = self.shared.home.parent() else { return Ok(()) };
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() && path != self.shared.home && try_lock(&path)?.is_some() {
                fs::remove_dir_all(path)?;
            }
        }
        Ok(())
    }
}

impl Shared {
    fn open(home: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let fields = Fields::new();
        let directory = MmapDirectory::open(home).context("the index folder cannot be opened")?;
        let index = Index::open_or_create(directory, fields.schema.clone())?;
        Fields::register_tokenizers(&index);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let note = read_note(&index)?;
        if note.embedder.as_ref().is_some_and(|made_by| *made_by != embedder.id()) {
            return Err(IndexError::WrongSchema("its vectors come from another embedder".into()));
        }
        let dims = embedder.id().dims;
        let vectors = cores::on_all(|| Vectors::open(&home.join(VECTOR_FILE), dims, note.n_slots))?;
        let snapshot = RwLock::new(Arc::new(Snapshot::new(reader.searcher(), note, &vectors)?));
        Ok(Self {
            embedder,
            home: home.to_path_buf(),
            fields,
            index,
            reader,
            vectors,
            snapshot,
            recent: Recent::default(),
            loading: Mutex::default(),
            owned: Mutex::default(),
            is_owner: AtomicBool::new(false),
            turn: tokio::sync::Mutex::default(),
        })
    }
}

/// One folder per embedder and version, so that a new index can be filled while the old one still serves.
fn home(dir: &Path, embedder: &EmbedderId) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let name = format!("v{}-{}-{}-{}", schema::VERSION, embedder.model, embedder.dims, embedder.hash);
    dir.join(name.chars().map(plain).collect::<String>())
}

/// Deletes the indexes of earlier versions: this version cannot read them and builds its own from the database.
fn discard_older(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let version = name.strip_prefix('v').and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if path.is_dir() && version.is_some_and(|version| version < schema::VERSION) && try_lock(&path)?.is_some() {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(())
}

pub(super) fn try_lock(home: &Path) -> io::Result<Option<File>> {
    let lock = File::options().create(true).append(true).open(home.join(LOCK_FILE))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes everything except the lock that we hold.
fn clear(home: &Path) -> io::Result<()> {
    for entry in fs::read_dir(home)? {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else if !path.ends_with(LOCK_FILE) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

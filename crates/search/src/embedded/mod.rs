//! The embedded index: tantivy for words, our own vectors for meaning, in one folder of the data directory.
//!
//! The folder belongs to one process at a time (a lock on `owner.lock`). Another process that opens it reads what the
//! owner has committed, and its writes fail. After the owner has ended, the next write takes ownership.

mod find;
mod narrow;
mod open;
mod schema;
mod search;
mod snapshot;
mod spelling;
mod write;

pub use find::Signalled;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context;
use futures::future::BoxFuture;
use tantivy::{Index, IndexReader};

use super::{
    Change, IndexError, IndexInfo, Scope, SearchPlan, SearchResults, Successor, TrackIndex, recent::Recent,
    vectors::Vectors,
};
use crate::embed::Embedder;
use music::{DocumentId, Track};
use schema::{Fields, Note};
use snapshot::{DocumentKey, Snapshot};
use write::Owned;

/// Clones are cheap and share one index.
#[derive(Clone)]
pub struct EmbeddedIndex {
    shared: Arc<Shared>,
}

struct Shared {
    embedder: Arc<dyn Embedder>,
    home: PathBuf,
    fields: Fields,
    index: Index,
    reader: IndexReader,
    vectors: Vectors,
    /// Locked only to take or to replace it, so that no search waits for a commit.
    snapshot: RwLock<Arc<Snapshot>>,
    recent: Recent<DocumentKey>,
    /// Held while a newer snapshot is loaded.
    loading: Mutex<()>,
    /// `None` while another process owns the folder. Held while a batch is committed.
    owned: Mutex<Option<Owned>>,
    /// Whether `owned` is set. A search reads it without waiting for a commit.
    is_owner: AtomicBool,
    /// Held while a batch is written, so that batches are written one after another.
    turn: tokio::sync::Mutex<()>,
}

impl EmbeddedIndex {
    /// Memory that grows with the number of tracks, without the operating system's page cache.
    pub fn memory_bytes(&self) -> usize {
        self.shared.vectors.memory_bytes() + self.shared.vectors.len() as usize * size_of::<tantivy::DocAddress>()
    }
}

impl Successor for EmbeddedIndex {
    fn took_over(&self) -> Result<(), IndexError> {
        self.discard_others()
    }
}

impl TrackIndex for EmbeddedIndex {
    fn find<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<SearchResults, IndexError>> {
        Box::pin(self.look(plan))
    }

    fn get<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>> {
        let (shared, ids) = (self.shared.clone(), ids.to_vec());
        Box::pin(blocking(move || shared.get(&ids)))
    }

    fn contains<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<BTreeSet<DocumentId>, IndexError>> {
        let (shared, ids) = (self.shared.clone(), ids.to_vec());
        Box::pin(blocking(move || shared.contains(ids)))
    }

    fn count<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<u64, IndexError>> {
        let (shared, scope) = (self.shared.clone(), scope.clone());
        Box::pin(blocking(move || narrow::count(&shared.fields, &*shared.current()?, &scope)))
    }

    fn apply<'a>(&'a self, changes: &'a [Change]) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(self.write(changes))
    }

    fn info(&self) -> BoxFuture<'_, Result<IndexInfo, IndexError>> {
        let shared = self.shared.clone();
        Box::pin(blocking(move || shared.info()))
    }
}

impl Shared {
    fn info(&self) -> Result<IndexInfo, IndexError> {
        let snapshot = self.current()?;
        Ok(IndexInfo {
            engine: "embedded",
            n_tracks: snapshot.searcher.num_docs(),
            revision: snapshot.note.revision,
            embedder: self.embedder.id(),
            writable: self.is_owner(),
        })
    }

    /// The last commit: our own, or the owner's if it has written a newer one.
    fn current(&self) -> Result<Arc<Snapshot>, IndexError> {
        let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone();
        if self.is_owner() || read_note(&self.index)? == snapshot.note {
            return Ok(snapshot);
        }
        self.refresh()
    }

    /// Loads the last commit.
    fn refresh(&self) -> Result<Arc<Snapshot>, IndexError> {
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        // The note is read first: a commit in between makes it older than the documents, never newer.
        let note = read_note(&self.index)?;
        self.reader.reload()?;
        self.vectors.extend_to(note.n_slots)?;
        let loaded = Arc::new(Snapshot::new(self.reader.searcher(), note, &self.vectors)?);
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = loaded.clone();
        Ok(loaded)
    }

    fn is_owner(&self) -> bool {
        self.is_owner.load(Ordering::Acquire)
    }
}

fn read_note(index: &Index) -> Result<Note, IndexError> {
    match index.load_metas()?.payload {
        Some(note) => Ok(serde_json::from_str(&note).context("the note of the last commit cannot be read")?),
        None => Ok(Note::default()),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
) -> Result<T, IndexError> {
    tokio::task::spawn_blocking(work).await.context("the index thread died")?
}

/// Where a search computes: see [`SearchPlan::gives_way`].
async fn at_priority_of<T: Send + 'static>(
    plan: &SearchPlan,
    work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
) -> Result<T, IndexError> {
    if plan.gives_way { in_background(work).await } else { blocking(work).await }
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
) -> Result<T, IndexError> {
    background::spawn_blocking(work).await.context("the index thread died")?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_search_that_gives_way_computes_on_a_thread_of_low_priority() {
        let name = || Ok(std::thread::current().name().map(str::to_owned));
        let plan = SearchPlan::new("rain", 5);
        let (ordinary, giving_way) = (at_priority_of(&plan, name).await, plan.giving_way());
        assert_ne!(ordinary.unwrap().as_deref(), Some("background"));
        assert_eq!(at_priority_of(&giving_way, name).await.unwrap().as_deref(), Some("background"));
    }
}

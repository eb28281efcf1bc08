//! The serving index, and the index that replaces it after the embedder has changed, or after a slow embedder has read
//! a large import.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock},
};

use futures::future::BoxFuture;
use tracing::info;

use super::{Change, IndexError, IndexInfo, Scope, SearchPlan, SearchResults, TrackIndex, TrackSource, catch_up};
use music::{DocumentId, Track};

/// An index that can replace the index of another embedder.
pub trait Successor: TrackIndex {
    /// Called when this index starts to serve. The previous one may be deleted.
    fn took_over(&self) -> Result<(), IndexError>;
}

/// A slow embedder reads up to this many changes while its index serves. With more, the fast index serves meanwhile.
const FEW: usize = 16;
/// The number of changes that the next index reads at once. Between two batches the serving index reads new changes.
const NEXT_BATCH: usize = 64;

/// While the index of a new embedder is filled from the database, the old index serves with its own embedder.
pub struct LiveIndex {
    indexes: RwLock<Indexes>,
    /// An index that reads all changes at once, beside the index of a slow embedder.
    fast: Option<Arc<dyn Successor>>,
}

#[derive(Clone)]
struct Indexes {
    current: Arc<dyn Successor>,
    /// The index of the configured embedder. It starts to serve after it has read all changes.
    next: Option<Arc<dyn Successor>>,
}

impl LiveIndex {
    /// The wanted index serves, unless a previous one has read more changes: then the previous one serves until the
    /// wanted one has caught up.
    pub async fn new(wanted: Arc<dyn Successor>, before: Option<Arc<dyn Successor>>) -> Result<Self, IndexError> {
        let mut indexes = Indexes { current: wanted.clone(), next: None };
        if let Some(before) = before
            && before.info().await?.revision > wanted.info().await?.revision
        {
            indexes = Indexes { current: before, next: Some(wanted) };
        }
        Ok(Self { indexes: RwLock::new(indexes), fast: None })
    }

    /// The wanted index, whose embedder is slow, and one with a fast embedder, which serves whenever the wanted one has
    /// many changes to read: tracks are found at once, and better later.
    pub async fn with_fast(wanted: Arc<dyn Successor>, fast: Arc<dyn Successor>) -> Result<Self, IndexError> {
        let is_empty = wanted.info().await?.revision == 0;
        let live = Self { fast: Some(fast.clone()), ..Self::new(wanted.clone(), Some(fast.clone())).await? };
        if is_empty {
            live.serve(Indexes { current: fast, next: Some(wanted) });
        }
        Ok(live)
    }

    /// Applies all changes and returns their number. If the index is being replaced, the serving index also stays up
    /// to date while the new one is filled, and is replaced afterwards.
    pub async fn follow(&self, source: &dyn TrackSource) -> Result<usize, IndexError> {
        let n_fast = self.follow_fast(source).await?;
        let Indexes { current, next } = self.indexes();
        let mut n_changes = catch_up(&*current, source).await?.max(n_fast);
        let Some(next) = next else { return Ok(n_changes) };
        loop {
            let changes = source.changes_after(next.info().await?.revision, NEXT_BATCH).await?;
            if changes.is_empty() {
                break;
            }
            next.apply(&changes).await?;
            n_changes += catch_up(&*current, source).await?;
        }
        let read_to = next.info().await?.revision;
        let waits_for_tracks = self.fast.is_some() && read_to == 0;
        // Another node is filling it; or there are no tracks yet, and the first ones should be found at once.
        if waits_for_tracks || read_to < current.info().await?.revision {
            return Ok(n_changes);
        }
        info!("The index of the embedder {} is complete and serves from now on", next.info().await?.embedder);
        self.serve(Indexes { current: next.clone(), next: None });
        // Searches that still use the old index keep it open. It is deleted now, or at the next change.
        drop(current);
        next.took_over()?;
        Ok(n_changes)
    }

    /// Applies all changes to the fast index, and lets it serve if the wanted one has many changes to read.
    async fn follow_fast(&self, source: &dyn TrackSource) -> Result<usize, IndexError> {
        let Some(fast) = &self.fast else { return Ok(0) };
        let n_changes = catch_up(&**fast, source).await?;
        let Indexes { current, next } = self.indexes();
        if next.is_none() && source.changes_after(current.info().await?.revision, FEW + 1).await?.len() > FEW {
            self.serve(Indexes { current: fast.clone(), next: Some(current) });
        }
        Ok(n_changes)
    }

    fn serve(&self, indexes: Indexes) {
        *self.indexes.write().unwrap_or_else(PoisonError::into_inner) = indexes;
    }

    /// Whether there is work: unread changes, or an index to be replaced.
    pub async fn is_behind(&self, source: &dyn TrackSource) -> Result<bool, IndexError> {
        let Indexes { current, next } = self.indexes();
        Ok(next.is_some() || !source.changes_after(current.info().await?.revision, 1).await?.is_empty())
    }

    /// The index of the configured embedder, which may not serve yet.
    pub async fn wanted(&self) -> Result<IndexInfo, IndexError> {
        let Indexes { current, next } = self.indexes();
        next.unwrap_or(current).info().await
    }

    fn indexes(&self) -> Indexes {
        self.indexes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TrackIndex for LiveIndex {
    fn find<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<SearchResults, IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.find(plan).await })
    }

    fn get<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.get(ids).await })
    }

    fn contains<'a>(&'a self, ids: &'a [DocumentId]) -> BoxFuture<'a, Result<BTreeSet<DocumentId>, IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.contains(ids).await })
    }

    fn count<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<u64, IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.count(scope).await })
    }

    fn apply<'a>(&'a self, changes: &'a [Change]) -> BoxFuture<'a, Result<(), IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.apply(changes).await })
    }

    fn info(&self) -> BoxFuture<'_, Result<IndexInfo, IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.info().await })
    }
}

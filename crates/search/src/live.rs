//! The serving index, and the index that replaces it after the embedder has changed.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock},
};

use futures::future::BoxFuture;
use tracing::info;

use super::{BATCH, Change, Found, IndexError, IndexInfo, Scope, SearchPlan, TrackIndex, TrackSource, catch_up};
use music::{DocumentId, Track};

/// An index that can replace the index of another embedder.
pub trait Successor: TrackIndex {
    /// Called when this index starts to serve. The previous one may be deleted.
    fn took_over(&self) -> Result<(), IndexError>;
}

/// While the index of a new embedder is filled from the database, the old index serves with its own embedder.
pub struct LiveIndex {
    indexes: RwLock<Indexes>,
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
        let indexes = match before {
            Some(before) if before.info().await?.revision > wanted.info().await?.revision => {
                Indexes { current: before, next: Some(wanted) }
            }
            _ => Indexes { current: wanted, next: None },
        };
        Ok(Self { indexes: RwLock::new(indexes) })
    }

    /// Applies all changes and returns their number. If the index is being replaced, the serving index also stays up
    /// to date while the new one is filled, and is replaced afterwards.
    pub async fn follow(&self, source: &dyn TrackSource) -> Result<usize, IndexError> {
        let Indexes { current, next } = self.indexes();
        let mut n_changes = catch_up(&*current, source).await?;
        let Some(next) = next else { return Ok(n_changes) };
        loop {
            let changes = source.changes_after(next.info().await?.revision, BATCH).await?;
            if changes.is_empty() {
                break;
            }
            next.apply(&changes).await?;
            n_changes += catch_up(&*current, source).await?;
        }
        if next.info().await?.revision < current.info().await?.revision {
            // Another node is filling it.
            return Ok(n_changes);
        }
        info!("The index of the embedder {} is complete and serves from now on", next.info().await?.embedder);
        *self.indexes.write().unwrap_or_else(PoisonError::into_inner) = Indexes { current: next.clone(), next: None };
        // Searches that still use the old index keep it open. It is deleted now, or at the next change.
        drop(current);
        next.took_over()?;
        Ok(n_changes)
    }

    /// Whether there is work: unread changes, or an index to be replaced.
    pub async fn is_behind(&self, source: &dyn TrackSource) -> Result<bool, IndexError> {
        let Indexes { current, next } = self.indexes();
        Ok(next.is_some() || !source.changes_after(current.info().await?.revision, 1).await?.is_empty())
    }

    fn indexes(&self) -> Indexes {
        self.indexes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TrackIndex for LiveIndex {
    fn find<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<Found, IndexError>> {
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

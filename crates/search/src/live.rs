//! The index that serves, and the one that replaces it when the embedder has changed.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock},
};

use futures::future::BoxFuture;
use tracing::info;

use super::{BATCH, Change, Found, IndexError, IndexInfo, SearchPlan, TrackIndex, TrackSource, catch_up};
use music::{Isrc, Track};

/// An index that can take the place of another embedder's.
pub trait Successor: TrackIndex {
    /// It serves from now on; what served before may go.
    fn took_over(&self) -> Result<(), IndexError>;
}

/// While a new embedder's index is filled from the truth, the old one answers with its own embedder.
pub struct LiveIndex {
    indexes: RwLock<Indexes>,
}

#[derive(Clone)]
struct Indexes {
    current: Arc<dyn Successor>,
    /// Made by the embedder that is wanted; becomes current when it has read everything.
    next: Option<Arc<dyn Successor>>,
}

impl LiveIndex {
    /// The wanted index serves, unless there is one from before that has read further: then that one serves meanwhile.
    pub async fn new(wanted: Arc<dyn Successor>, before: Option<Arc<dyn Successor>>) -> Result<Self, IndexError> {
        let indexes = match before {
            Some(before) if before.info().await?.revision > wanted.info().await?.revision => {
                Indexes { current: before, next: Some(wanted) }
            }
            _ => Indexes { current: wanted, next: None },
        };
        Ok(Self { indexes: RwLock::new(indexes) })
    }

    /// Reads the truth to its end; answers how many changes there were. With an index to be replaced, the serving one
    /// keeps up while the new one is filled, and then steps back.
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
        info!("Every track has a vector of {}", next.info().await?.embedder);
        *self.indexes.write().unwrap_or_else(PoisonError::into_inner) = Indexes { current: next.clone(), next: None };
        // Whoever still searches the old one keeps it open; it goes now, or at the next change.
        drop(current);
        next.took_over()?;
        Ok(n_changes)
    }

    /// Whether there is anything to do: something unread, or an index to step back.
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

    fn get<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.get(isrcs).await })
    }

    fn contains<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<BTreeSet<Isrc>, IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.contains(isrcs).await })
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

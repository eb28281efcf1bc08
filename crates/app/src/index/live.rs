//! The embedded index that serves, and the one that replaces it when the embedder has changed.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
};

use futures::future::BoxFuture;
use tracing::info;

use super::{BATCH, Change, EmbeddedIndex, Hit, IndexError, IndexInfo, SearchPlan, TrackIndex, TrackSource, catch_up};
use crate::{
    embed::Embedder,
    music::{Isrc, Track},
};

/// While a new embedder's index is filled from the truth, the old one answers with its own embedder.
pub struct LiveIndex {
    indexes: RwLock<Indexes>,
}

#[derive(Clone)]
struct Indexes {
    current: EmbeddedIndex,
    /// Made by the embedder that is wanted; becomes current when it has read everything.
    next: Option<EmbeddedIndex>,
}

impl LiveIndex {
    /// Opens the index of `embedder`. If it does not exist yet but that of `before` does, the latter serves meanwhile.
    pub fn open(dir: &Path, embedder: Arc<dyn Embedder>, before: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let is_replacing = !EmbeddedIndex::exists(dir, &embedder.id()) && EmbeddedIndex::exists(dir, &before.id());
        let wanted = EmbeddedIndex::open(dir, embedder)?;
        let indexes = match is_replacing {
            true => Indexes { current: EmbeddedIndex::open(dir, before)?, next: Some(wanted) },
            false => Indexes { current: wanted, next: None },
        };
        Ok(Self { indexes: RwLock::new(indexes) })
    }

    /// Reads the truth to its end; answers how many changes there were. With an index to be replaced, the serving one
    /// keeps up while the new one is filled, and then steps back.
    pub async fn follow(&self, source: &dyn TrackSource) -> Result<usize, IndexError> {
        let Indexes { current, next } = self.indexes();
        let mut n_changes = catch_up(&current, source).await?;
        let Some(next) = next else { return Ok(n_changes) };
        loop {
            let changes = source.changes_after(next.info().await?.revision, BATCH).await?;
            if changes.is_empty() {
                break;
            }
            next.apply(&changes).await?;
            n_changes += catch_up(&current, source).await?;
        }
        info!("Every track has a vector of {}", next.info().await?.embedder);
        *self.indexes.write().unwrap_or_else(PoisonError::into_inner) = Indexes { current: next.clone(), next: None };
        // Whoever still searches the old one keeps its open files; the folder goes now, or at the next change.
        drop(current);
        next.discard_others()?;
        Ok(n_changes)
    }

    /// What is being filled behind the one that serves, if anything.
    pub async fn next_info(&self) -> Result<Option<IndexInfo>, IndexError> {
        match self.indexes().next {
            Some(next) => Ok(Some(next.info().await?)),
            None => Ok(None),
        }
    }

    fn indexes(&self) -> Indexes {
        self.indexes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TrackIndex for LiveIndex {
    fn search<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<Vec<Hit>, IndexError>> {
        let current = self.indexes().current;
        Box::pin(async move { current.search(plan).await })
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

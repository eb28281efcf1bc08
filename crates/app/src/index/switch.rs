//! Changing the embedder without a gap: the old index answers until the new one has read everything.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock},
};

use futures::future::BoxFuture;

use super::{Change, Hit, IndexError, IndexInfo, SearchPlan, TrackIndex};
use crate::music::{Isrc, Track};

/// An index that can be replaced while it is in use. A call that has begun ends on the index it began on.
pub struct Switch(RwLock<Arc<dyn TrackIndex>>);

impl Switch {
    pub fn new(index: Arc<dyn TrackIndex>) -> Self {
        Self(RwLock::new(index))
    }

    pub fn to(&self, index: Arc<dyn TrackIndex>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = index;
    }

    fn now(&self) -> Arc<dyn TrackIndex> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TrackIndex for Switch {
    fn search<'a>(&'a self, plan: &'a SearchPlan) -> BoxFuture<'a, Result<Vec<Hit>, IndexError>> {
        Box::pin(async move { self.now().search(plan).await })
    }

    fn get<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<Vec<Track>, IndexError>> {
        Box::pin(async move { self.now().get(isrcs).await })
    }

    fn contains<'a>(&'a self, isrcs: &'a [Isrc]) -> BoxFuture<'a, Result<BTreeSet<Isrc>, IndexError>> {
        Box::pin(async move { self.now().contains(isrcs).await })
    }

    fn apply<'a>(&'a self, changes: &'a [Change]) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(async move { self.now().apply(changes).await })
    }

    fn info(&self) -> BoxFuture<'_, Result<IndexInfo, IndexError>> {
        Box::pin(async move { self.now().info().await })
    }
}

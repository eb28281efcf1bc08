//! Ingestion: the steps that make a library track searchable by meaning.
//!
//! The steps of a track and their results are rows of the database. A step with a stored result is never repeated. A
//! step that was begun by a node that died is started again by another node.

mod describe;
mod extract;
mod features;
mod lyrics;
mod progress;
mod rematch;
mod sources;
mod worker;

use std::sync::Arc;

use engine::UserId;
use tokio::sync::{Notify, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{info, warn};

pub use self::progress::{Counters, EnrichProgress, StepProgress};
pub(crate) use self::{describe::Describer, progress::progress, sources::Sources};
use crate::{import::KnownTracks, turns::pause};
use ::sources::tidal::Tidal;
pub use store::Step;
use store::{Store, StoreError};

/// How often the leases of dead nodes are checked.
const LOOK_FOR_DEAD_EVERY: std::time::Duration = std::time::Duration::from_secs(10);

/// How many tracks without a document are scheduled at once.
const SCHEDULED_AT_ONCE: u32 = 500;

pub(crate) struct Pipeline {
    store: Store,
    node: String,
    pub(crate) sources: Sources,
    tidal: Tidal,
    describer: Describer,
    /// Whether users of this installation see each other's catalogued tracks.
    pub(crate) shared: bool,
    pub(crate) counters: Counters,
    /// Increases whenever a step begins or ends in this process.
    news: watch::Sender<u64>,
    /// Notified when documents were written that the index must read.
    pub(crate) put: Arc<Notify>,
}

impl Pipeline {
    pub(crate) fn new(
        store: Store,
        node: String,
        sources: Sources,
        tidal: Tidal,
        describer: Describer,
        shared: bool,
    ) -> Self {
        let (counters, news) = (Counters::default(), watch::Sender::new(0));
        Self { store, node, sources, tidal, describer, shared, counters, news, put: Arc::default() }
    }

    /// The first catalogue that is asked: the tracks that this user may see.
    pub(crate) async fn home(&self, owner: &UserId) -> Result<KnownTracks<'_>, StoreError> {
        Ok(KnownTracks { store: &self.store, scope: self.store.scope_of(owner, self.shared).await? })
    }

    /// Wakes the workers: something was scheduled, or a step has ended.
    pub(crate) fn tell(&self) {
        self.news.send_modify(|n| *n = n.wrapping_add(1));
        // A track that was added to or removed from a library has changed documents too.
        self.put.notify_one();
    }

    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Starts a worker for each step, until `ended`. Steps that an earlier process of this node left unfinished are
    /// started again.
    pub(crate) async fn start(
        self: &Arc<Self>,
        is_reborn: bool,
        tasks: &TaskTracker,
        ended: &CancellationToken,
    ) -> Result<(), StoreError> {
        let n_released = self.store.release_steps(is_reborn.then_some(self.node.as_str())).await?;
        if n_released > 0 {
            info!("{n_released} unfinished enrichment steps are started again");
        }
        self.prepare().await?;
        for step in Step::ALL {
            tasks.spawn(self.clone().work(step, ended.clone()));
        }
        tasks.spawn(self.clone().look_for_open_entries(ended.clone()));
        tasks.spawn(self.clone().look_for_dead_nodes(ended.clone()));
        Ok(())
    }

    /// Applies the current settings to stored steps.
    async fn prepare(&self) -> Result<(), StoreError> {
        self.give_tracks_to_entries().await?;
        while self.store.schedule_tracks_without_document(SCHEDULED_AT_ONCE).await? > 0 {}
        let on = [(Step::Lyrics, self.sources.lrclib.is_some()), (Step::Features, self.sources.reccobeats.is_some())];
        for (step, is_on) in on {
            if is_on {
                self.store.switch_on(step).await?;
            }
        }
        // An extract is free. A user decides about the cost of a model: `segue ingest --describe-again`.
        if !self.describer.has_model() {
            self.describe_again().await?;
        }
        Ok(())
    }

    /// Repeats descriptions of other versions. The old descriptions are used until then.
    pub(crate) async fn describe_again(&self) -> Result<u64, StoreError> {
        let (version, replaces) = self.describer.version();
        let n_again = self.store.describe_again(&version, replaces).await?;
        if n_again > 0 {
            info!("{n_again} tracks are described again by {version}; their old descriptions are used until then");
            self.tell();
        }
        Ok(n_again)
    }

    async fn look_for_dead_nodes(self: Arc<Self>, ended: CancellationToken) {
        while pause(LOOK_FOR_DEAD_EVERY, &ended).await {
            match self.store.release_steps(None).await {
                Ok(0) => {}
                Ok(n) => {
                    info!("{n} enrichment steps of a dead node are started again");
                    self.tell();
                }
                Err(error) => warn!("Expired leases of enrichment steps cannot be read: {error}"),
            }
        }
    }

    /// Releases the steps that this node will not finish, so that other nodes can run them at once.
    pub(crate) async fn release_steps(&self) {
        if let Err(error) = self.store.release_steps(Some(&self.node)).await {
            warn!("Enrichment steps could not be released; their leases expire later: {error}");
        }
    }
}

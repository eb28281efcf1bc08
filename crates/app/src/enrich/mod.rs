//! Ingestion: how a track of a library becomes one that can be found by meaning, and what is done when that is hard.
//!
//! The steps of a track and their results are rows of the database. Whatever dies, a step whose result is kept is never
//! done again; a step that was begun is started again by another node.

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

pub(crate) use self::{describe::Describer, progress::progress, sources::Sources};
pub use self::{
    progress::{Counters, Progress, StepProgress},
    sources::SourceUrls,
};
use crate::{import::KnownTracks, turns::pause};
use ::sources::tidal::Tidal;
pub use store::Step;
use store::{Store, StoreError};

/// How often leases of nodes that died are looked for.
const LOOK_FOR_DEAD_EVERY: std::time::Duration = std::time::Duration::from_secs(10);

/// Tracks that are scheduled at once when a library is older than the pipeline.
const FORGOTTEN_AT_ONCE: u32 = 500;

pub(crate) struct Pipeline {
    store: Store,
    node: String,
    pub(crate) sources: Sources,
    tidal: Tidal,
    describer: Describer,
    /// Users of this installation see each other's catalogued tracks.
    pub(crate) shared: bool,
    pub(crate) counters: Counters,
    /// Counts up whenever steps begin or end here.
    news: watch::Sender<u64>,
    /// Rung when tracks were put where the index reads them.
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

    /// The first catalogue that is asked: what this user may see.
    pub(crate) async fn home(&self, owner: &UserId) -> Result<KnownTracks<'_>, StoreError> {
        Ok(KnownTracks { store: &self.store, scope: self.store.scope_of(owner, self.shared).await? })
    }

    /// Wakes the workers: something was scheduled, or a step has ended.
    pub(crate) fn tell(&self) {
        self.news.send_modify(|n| *n = n.wrapping_add(1));
        // What entered or left a library has changed documents too.
        self.put.notify_one();
    }

    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Starts a worker for each step, until `ended`. What an earlier life of this node left is begun anew.
    pub(crate) async fn start(
        self: &Arc<Self>,
        is_reborn: bool,
        tasks: &TaskTracker,
        ended: &CancellationToken,
    ) -> Result<(), StoreError> {
        let n_released = self.store.release_steps(is_reborn.then_some(self.node.as_str())).await?;
        if n_released > 0 {
            info!("{n_released} steps of ingestion were left in the middle and begin anew");
        }
        self.prepare().await?;
        for step in Step::ALL {
            tasks.spawn(self.clone().work(step, ended.clone()));
        }
        tasks.spawn(self.clone().look_for_open_entries(ended.clone()));
        tasks.spawn(self.clone().look_for_dead_nodes(ended.clone()));
        Ok(())
    }

    /// What the settings of today make of the rows of yesterday.
    async fn prepare(&self) -> Result<(), StoreError> {
        self.give_tracks_to_entries().await?;
        while self.store.schedule_forgotten(FORGOTTEN_AT_ONCE).await? > 0 {}
        let on = [(Step::Lyrics, self.sources.lrclib.is_some()), (Step::Features, self.sources.reccobeats.is_some())];
        for (step, is_on) in on {
            if is_on {
                self.store.switch_on(step).await?;
            }
        }
        // An extract costs nothing. What a model costs is for a person to decide: `segue ingest --describe-again`.
        if !self.describer.has_model() {
            self.describe_again().await?;
        }
        Ok(())
    }

    /// Descriptions of other versions are made again, while the old ones serve.
    pub(crate) async fn describe_again(&self) -> Result<u64, StoreError> {
        let (version, replaces) = self.describer.version();
        let n_again = self.store.describe_again(&version, replaces).await?;
        if n_again > 0 {
            info!("{n_again} tracks are described again by {version}, while their old descriptions serve");
            self.tell();
        }
        Ok(n_again)
    }

    async fn look_for_dead_nodes(self: Arc<Self>, ended: CancellationToken) {
        while pause(LOOK_FOR_DEAD_EVERY, &ended).await {
            match self.store.release_steps(None).await {
                Ok(0) => {}
                Ok(n) => {
                    info!("{n} steps of a node that is gone begin anew");
                    self.tell();
                }
                Err(error) => warn!("Leases cannot be looked at: {error}"),
            }
        }
    }

    /// Lets others have at once what this node will not finish.
    pub(crate) async fn let_go(&self) {
        if let Err(error) = self.store.release_steps(Some(&self.node)).await {
            warn!("Steps of ingestion stay leased until their time is up: {error}");
        }
    }
}

//! The state of the index and of enrichment, and the steps that need a user's action.

use std::time::Duration;

use engine::UserId;
use futures::Stream;
use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tracing::{instrument, warn};

use super::Library;
use crate::{
    Error,
    enrich::{EnrichProgress, Step, StepProgress},
};
use store::FailedStep;

/// The state of the index.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatus {
    /// Tracks that can be found now.
    pub tracks: u64,
    /// Tracks that are being added to the index or removed from it.
    pub pending: u64,
    /// `embedded` or `qdrant`.
    pub engine: String,
    /// The model that turns text into vectors.
    pub embedder: String,
}

/// The state of the index and of enrichment, with failed steps.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestStatus {
    #[serde(flatten)]
    pub index: IndexStatus,
    /// Steps that failed and are not retried automatically.
    pub failed: u64,
    /// Your tracks with failed steps, newest first.
    pub failures: Vec<FailedStep>,
    /// Entries of imports that are being searched for.
    pub looking_for: u64,
    /// Whether your searches find the sample library; `DELETE /api/library/sample` removes it.
    pub has_sample: bool,
    /// The progress of each step.
    pub steps: EnrichProgress,
}

impl IngestStatus {
    /// Whether no work is left now.
    pub fn is_done(&self) -> bool {
        self.index.pending == 0 && self.looking_for == 0 && self.steps.values().all(|step| step.left() == 0)
    }
}

const MOST_FAILURES: u32 = 100;
/// Each status is a count in the database, so there are at most two a second.
const NOT_OFTENER_THAN: Duration = Duration::from_millis(500);

impl Library {
    #[instrument(name = "library.index_status", skip_all)]
    pub async fn index_status(&self) -> Result<IndexStatus, Error> {
        let info = self.index.info().await?;
        let n_unread = self.store.n_changes_after(info.revision).await?;
        let n_on_their_way = self.store.n_steps_left(Step::Index).await?;
        Ok(IndexStatus {
            tracks: info.n_tracks,
            pending: n_unread + n_on_their_way,
            engine: info.engine.to_owned(),
            embedder: info.embedder.to_string(),
        })
    }

    /// Whether the index has not read documents that this user may see: it is being filled, or a change is new.
    pub(crate) async fn is_filling(&self, owner: &UserId) -> Result<bool, Error> {
        let read_to = self.index.info().await?.revision;
        if self.store.n_changes_after(read_to).await? == 0 {
            return Ok(false);
        }
        Ok(self.store.n_visible(&self.scope(owner).await?, read_to).await? > 0)
    }

    /// The tracks that this user can find now, and those that are being indexed.
    async fn status_of(&self, owner: &UserId, steps: &EnrichProgress) -> Result<IndexStatus, Error> {
        let info = self.index.info().await?;
        let scope = self.scope(owner).await?;
        // Counting documents reads them all. If the index has read every change, its own count is used.
        let (n_tracks, n_unread) = match self.store.n_changes_after(info.revision).await? {
            0 => (self.index.count(&scope).await?, 0),
            _ => {
                let n_unread = self.store.n_visible(&scope, info.revision).await?;
                (self.store.n_visible(&scope, 0).await?.saturating_sub(n_unread), n_unread)
            }
        };
        let n_on_their_way = steps.get(&Step::Index).map_or(0, StepProgress::left);
        Ok(IndexStatus {
            tracks: n_tracks,
            pending: n_unread + n_on_their_way,
            engine: info.engine.to_owned(),
            embedder: info.embedder.to_string(),
        })
    }

    /// The progress of enrichment, and the owner's tracks that need an action.
    #[instrument(name = "library.ingest_status", skip_all, fields(user.id = %owner))]
    pub async fn ingest_status(&self, owner: &UserId) -> Result<IngestStatus, Error> {
        let steps = self.steps_of(owner).await?;
        let n_looked_for = if self.pipeline.can_match() { self.store.n_open_entries(owner).await? } else { 0 };
        Ok(IngestStatus {
            index: self.status_of(owner, &steps).await?,
            has_sample: self.store.has_sample(owner).await?,
            failed: steps.values().map(|step| step.failed).sum(),
            failures: self.store.failures(owner, MOST_FAILURES).await?,
            looking_for: u64::try_from(n_looked_for).unwrap_or(0),
            steps,
        })
    }

    /// Changes whenever a step of enrichment begins or ends in this process.
    pub fn ingest_news(&self) -> tokio::sync::watch::Receiver<u64> {
        self.pipeline.news()
    }

    /// The progress now and after each change, until no work is left or the server shuts down.
    #[instrument(name = "library.follow_ingest", skip_all, fields(user.id = %owner))]
    pub async fn follow_ingest(
        &self,
        owner: &UserId,
        shutdown: CancellationToken,
    ) -> Result<impl Stream<Item = IngestStatus> + Send + 'static, Error> {
        let first = self.ingest_status(owner).await?;
        let (library, owner) = (self.clone(), owner.clone());
        Ok(async_stream::stream! {
            let mut news = library.ingest_news();
            let mut is_done = first.is_done();
            yield first;
            while !is_done {
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    () = tokio::time::sleep(NOT_OFTENER_THAN) => {}
                }
                // Changes by other nodes are not announced here, so the wait for news is limited.
                let _ = tokio::time::timeout(NOT_OFTENER_THAN, news.changed()).await;
                let status = match library.ingest_status(&owner).await {
                    Ok(status) => status,
                    Err(error) => {
                        warn!("The progress of ingestion cannot be read: {error}");
                        return;
                    }
                };
                is_done = status.is_done();
                yield status;
            }
        })
    }

    /// Retries steps that failed permanently. Returns how many.
    #[instrument(name = "library.retry_failed_steps", skip_all)]
    pub async fn retry_failed_steps(&self) -> Result<u64, Error> {
        let n_steps = self.store.retry_failed_steps().await?;
        self.pipeline.tell();
        Ok(n_steps)
    }

    /// Repeats descriptions of other versions with the current describer. Returns how many.
    #[instrument(name = "library.describe_again", skip_all)]
    pub async fn describe_again(&self) -> Result<u64, Error> {
        Ok(self.pipeline.describe_again().await?)
    }

    /// Requests the data of every track from every source again. Returns how many tracks.
    #[instrument(name = "library.force_steps", skip_all)]
    pub async fn force_steps(&self) -> Result<u64, Error> {
        let n_tracks = self.store.force_steps().await?;
        self.pipeline.tell();
        Ok(n_tracks)
    }
}

//! How much is indexed, how far enrichment has come, and what needs a person.

use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use tracing::instrument;

use super::Library;
use crate::{
    Error,
    enrich::{Progress, Step, StepProgress},
};
use store::Failure;

/// How much is indexed, and of what.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatus {
    /// Tracks that can be found now.
    pub tracks: u64,
    /// Tracks on their way into the index, or out of it.
    pub pending: u64,
    /// `embedded` or `qdrant`.
    pub engine: String,
    /// The model that turns text into vectors.
    pub embedder: String,
}

/// How much is indexed, how much is on its way, and what is in its way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngestStatus {
    #[serde(flatten)]
    pub index: IndexStatus,
    /// Steps that failed and will not be tried again by themselves.
    pub failed: u64,
    /// Which of your tracks they are of, newest first.
    pub failures: Vec<Failure>,
    /// Entries of imports that are being looked for.
    pub looking_for: u64,
    /// The sample library is among what you can find; `DELETE /api/library/sample` removes it.
    pub has_sample: bool,
    /// How far each step has come.
    pub steps: Progress,
}

impl IngestStatus {
    /// Nothing is left to be done now.
    pub fn is_done(&self) -> bool {
        self.index.pending == 0 && self.looking_for == 0 && self.steps.values().all(|step| step.left() == 0)
    }
}

const MOST_FAILURES: u32 = 100;

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

    /// What this user can find now, and what of it is on its way.
    async fn status_of(&self, owner: &UserId, steps: &Progress) -> Result<IndexStatus, Error> {
        let info = self.index.info().await?;
        let scope = self.scope(owner).await?;
        // Counting documents reads them all. While the index has read every change, it knows the number.
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

    /// How far enrichment has come, and which of the owner's tracks need a person.
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

    /// Tries steps again that had failed for good; how many they are.
    #[instrument(name = "library.retry_failed_steps", skip_all)]
    pub async fn retry_failed_steps(&self) -> Result<u64, Error> {
        let n_steps = self.store.retry_failed_steps().await?;
        self.pipeline.tell();
        Ok(n_steps)
    }

    /// Lets the describer of today describe tracks again that another one described; how many they are.
    #[instrument(name = "library.describe_again", skip_all)]
    pub async fn describe_again(&self) -> Result<u64, Error> {
        Ok(self.pipeline.describe_again().await?)
    }

    /// Asks every source again about every track; how many they are.
    #[instrument(name = "library.force_steps", skip_all)]
    pub async fn force_steps(&self) -> Result<u64, Error> {
        let n_tracks = self.store.force_steps().await?;
        self.pipeline.tell();
        Ok(n_tracks)
    }
}

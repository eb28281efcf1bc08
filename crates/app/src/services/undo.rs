//! Undo: reverts the change of one tool call or one batch.

use std::sync::Arc;

use engine::UserId;
use tracing::instrument;

use crate::{Error, enrich::Pipeline};
use store::Store;
pub use store::{UndoId, Undone};

#[derive(Clone)]
pub struct Undo {
    pub(crate) store: Store,
    pub(crate) pipeline: Arc<Pipeline>,
}

impl Undo {
    /// Undoes the change `id`, once. If a later change contradicts it, returns a conflict and changes nothing.
    #[instrument(name = "undo.take_back", skip_all, fields(user.id = %owner, undo.id = %id))]
    pub async fn take_back(&self, owner: &UserId, id: UndoId) -> Result<Undone, Error> {
        let undone = self.store.undo(owner, id).await?;
        // Restored tracks are indexed again.
        self.pipeline.tell();
        Ok(undone)
    }
}

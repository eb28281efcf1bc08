//! Undo: takes back what one tool call or one batch did.

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
    /// Takes back what `id` names, once. A change that came later and contradicts it is a conflict, and nothing changes.
    #[instrument(name = "undo.take_back", skip_all, fields(user.id = %owner, undo.id = %id))]
    pub async fn take_back(&self, owner: &UserId, id: UndoId) -> Result<Undone, Error> {
        let undone = self.store.undo(owner, id).await?;
        // Tracks that came back are indexed again.
        self.pipeline.tell();
        Ok(undone)
    }
}

//! Undo: takes back what one tool call or one batch did.

use engine::UserId;
use tracing::instrument;

use crate::Error;
use store::Store;
pub use store::{UndoId, Undone};

#[derive(Clone)]
pub struct Undo {
    pub(crate) store: Store,
}

impl Undo {
    /// Takes back what `id` names, once. A change that came later and contradicts it is a conflict, and nothing changes.
    #[instrument(name = "undo.take_back", skip_all, fields(user.id = %owner, undo.id = %id))]
    pub async fn take_back(&self, owner: &UserId, id: UndoId) -> Result<Undone, Error> {
        Ok(self.store.undo(owner, id).await?)
    }
}

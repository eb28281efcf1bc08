//! Removes several tracks of a library in one step.

use engine::UserId;
use tracing::instrument;

use super::Library;
use crate::Error;
use music::TrackRef;
use store::UndoId;

const MOST_AT_ONCE: usize = 1000;

impl Library {
    /// Removes several tracks in one step. Returns how many were removed, and the id for the undo.
    #[instrument(name = "library.remove_tracks", skip_all, fields(user.id = %owner))]
    pub async fn remove_tracks(&self, owner: &UserId, names: &[TrackRef]) -> Result<(usize, UndoId), Error> {
        if !(1..=MOST_AT_ONCE).contains(&names.len()) {
            let problem = format!("must have 1 to {MOST_AT_ONCE} entries");
            return Err(Error::Invalid { field: "trackIds", problem });
        }
        let removed = self.store.remove_all_from_library(owner, names).await?;
        self.pipeline.tell();
        Ok(removed)
    }
}

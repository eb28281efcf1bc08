//! Removes several tracks of a library in one step, with one undo.

use engine::UserId;
use sqlx::types::Json;

use super::{
    Store, StoreError, UndoId,
    db::Tx,
    documents::project,
    locks::lock_library,
    schedule::{park, wake},
    undo::{Change, remember},
};
use music::TrackRef;

impl Store {
    /// Removes these tracks and returns how many were removed. Tracks that are not in the library are ignored;
    /// `NotFound` if none is.
    pub async fn remove_all_from_library(
        &self,
        owner: &UserId,
        names: &[TrackRef],
    ) -> Result<(usize, UndoId), StoreError> {
        const SQL: &str = "UPDATE library_tracks SET removed_at = $3 WHERE user_id = $1 AND removed_at IS NULL
            AND (recording_id IN (SELECT value FROM json_each($2)) OR isrc IN (SELECT value FROM json_each($2)))
            RETURNING recording_id";
        let mut tx = self.begin().await?;
        lock_library(&mut tx, owner.as_str()).await?;
        let query = tx.query(SQL).bind(owner.as_str()).bind(Json(names)).bind(self.clock.now());
        let removed: Vec<(String,)> = query.fetch_all().await?;
        if removed.is_empty() {
            return Err(StoreError::NotFound);
        }
        let ids: Vec<String> = removed.into_iter().map(|(id,)| id).collect();
        park(&mut tx, &ids).await?;
        project(&mut tx, &ids).await?;
        let n_removed = ids.len();
        let undo_id = remember(&mut tx, owner, None, &Change::TracksRemoved { ids }).await?;
        tx.commit().await?;
        Ok((n_removed, undo_id))
    }
}

/// Restores removed tracks. A track that is already in the library is not changed. The caller has locked the library.
pub(crate) async fn bring_back(tx: &mut Tx, owner: &UserId, ids: &[String]) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE library_tracks SET removed_at = NULL, left_with_file = FALSE
        WHERE user_id = $1 AND removed_at IS NOT NULL AND erased_at IS NULL
            AND recording_id IN (SELECT value FROM json_each($2)) RETURNING recording_id";
    let back: Vec<(String,)> = tx.query(SQL).bind(owner.as_str()).bind(Json(ids)).fetch_all().await?;
    if back.is_empty() {
        return Err(StoreError::Conflict("The tracks are in the library again, or were deleted for good."));
    }
    let back: Vec<String> = back.into_iter().map(|(id,)| id).collect();
    wake(tx, &back).await?;
    project(tx, &back).await
}

//! The sample library: loaded once into an empty installation, and removed by each user separately.

use engine::UserId;

use super::{
    Store, StoreError,
    documents::project,
    locks::lock_library,
    schedule::{park, wake},
};

/// One of the tracks is enough; the comparison makes use of the index `documents_of_sample`.
pub(crate) const HAS_SAMPLE: &str = "SELECT recording_id FROM documents WHERE is_sample AND track IS NOT NULL
    AND recording_id > '' AND NOT EXISTS (SELECT 1 FROM sample_removals WHERE user_id = $1) LIMIT 1";

impl Store {
    /// Whether this installation has never contained a track, so that the sample may be loaded. Returns true once,
    /// because the answer is stored.
    pub async fn take_sample_offer(&self) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO sample_offers (one, offered_at)
            SELECT 1, $1 WHERE NOT EXISTS (SELECT 1 FROM documents) AND NOT EXISTS (SELECT 1 FROM library_tracks)
            ON CONFLICT (one) DO NOTHING";
        Ok(self.write(SQL).bind_now().execute().await? == 1)
    }

    /// Removes the sample for one user: searches no longer find it, and its tracks are removed from the library.
    /// Returns how many.
    pub async fn remove_sample(&self, owner: &UserId) -> Result<u64, StoreError> {
        const MARK: &str = "INSERT INTO sample_removals (user_id, removed_at) VALUES ($1, $2)
            ON CONFLICT (user_id) DO NOTHING";
        const TRACKS: &str = "UPDATE library_tracks SET removed_at = $2
            WHERE user_id = $1 AND is_sample AND own IS NULL AND removed_at IS NULL RETURNING recording_id";
        // Uses the clock of all removals, because the trash compares the times.
        let (mut tx, at) = (self.begin().await?, self.clock.now());
        lock_library(&mut tx, owner.as_str()).await?;
        tx.query(MARK).bind(owner.as_str()).bind(at).execute().await?;
        let removed: Vec<(String,)> = tx.query(TRACKS).bind(owner.as_str()).bind(at).fetch_all().await?;
        let recordings: Vec<String> = removed.into_iter().map(|(id,)| id).collect();
        park(&mut tx, &recordings).await?;
        project(&mut tx, &recordings).await?;
        tx.commit().await?;
        Ok(recordings.len() as u64)
    }

    /// Restores the sample for a user, in its state before the removal.
    pub async fn restore_sample(&self, owner: &UserId) -> Result<(), StoreError> {
        const UNMARK: &str = "DELETE FROM sample_removals WHERE user_id = $1 RETURNING removed_at";
        const TRACKS: &str = "UPDATE library_tracks SET removed_at = NULL
            WHERE user_id = $1 AND is_sample AND removed_at >= $2 RETURNING recording_id";
        let mut tx = self.begin().await?;
        lock_library(&mut tx, owner.as_str()).await?;
        let removed: Option<(chrono::DateTime<chrono::Utc>,)> =
            tx.query(UNMARK).bind(owner.as_str()).fetch_optional().await?;
        let Some((removed_at,)) = removed else { return Ok(()) };
        let back: Vec<(String,)> = tx.query(TRACKS).bind(owner.as_str()).bind(removed_at).fetch_all().await?;
        let recordings: Vec<String> = back.into_iter().map(|(id,)| id).collect();
        wake(&mut tx, &recordings).await?;
        project(&mut tx, &recordings).await?;
        tx.commit().await
    }

    /// Whether this user sees a sample.
    pub async fn has_sample(&self, owner: &UserId) -> Result<bool, StoreError> {
        let row: Option<(String,)> = self.read(HAS_SAMPLE).bind(owner.as_str()).fetch_optional().await?;
        Ok(row.is_some())
    }
}

//! Which of a user's uploads may sound the same? Uploads are not stored. Their recordings have the hash of the audio as a name.

use engine::UserId;

use super::{SimilarFile, Store, StoreError, db::Sql, fingerprints::WITH_SHARED_KEYS};
use music::Fingerprint;

pub(crate) static SIMILAR: Sql = Sql::new(|| {
    format!(
        "SELECT n.recording_id, p.seconds, p.words FROM {WITH_SHARED_KEYS}
        JOIN fingerprints p ON p.id = found.fingerprint_id
        JOIN own_names n ON n.user_id = p.user_id AND n.kind = 'audio' AND n.value = p.content_hash
        WHERE p.user_id = $1 AND p.seconds BETWEEN $3 AND $4 AND n.recording_id <> $5
        ORDER BY found.n_shared DESC, n.recording_id LIMIT $6"
    )
});

impl Store {
    /// Uploads of this user with other recordings whose sound shares keys with this one and whose length is nearly the same.
    pub async fn similar_uploads(
        &self,
        owner: &UserId,
        recording: &str,
        sound: &Fingerprint,
    ) -> Result<Vec<SimilarFile>, StoreError> {
        self.similar_sounds(&SIMILAR, owner, recording, sound).await
    }

    /// The recordings whose audio was uploaded with this hash.
    pub async fn uploaded_recordings(&self, owner: &UserId, content_hash: &str) -> Result<Vec<String>, StoreError> {
        const SQL: &str = "SELECT recording_id FROM own_names WHERE user_id = $1 AND kind = 'audio' AND value = $2
            ORDER BY recording_id";
        let rows: Vec<(String,)> = self.read(SQL).bind(owner.as_str()).bind(content_hash).fetch_all().await?;
        Ok(rows.into_iter().map(|(recording,)| recording).collect())
    }
}

//! Words of library tracks that an older version stored, which `q` of a listing does not find.

use super::{Store, StoreError};
use music::name_words::stored_words;

/// Rows of one transaction.
const PART: i64 = 500;

impl Store {
    /// Converts the words that an older version stored. There are none after the first start of this version.
    pub(crate) async fn convert_words(&self) -> Result<(), StoreError> {
        const OLD: &str = "SELECT user_id, recording_id, title, artist, album FROM library_tracks
            WHERE searchable NOT LIKE ' %' ORDER BY user_id, recording_id LIMIT $1";
        const PUT: &str = "UPDATE library_tracks SET searchable = $3 WHERE user_id = $1 AND recording_id = $2";
        loop {
            let rows: Vec<(String, String, String, String, String)> = self.read(OLD).bind(PART).fetch_all().await?;
            if rows.is_empty() {
                return Ok(());
            }
            let mut tx = self.begin().await?;
            for (owner, recording, title, artist, album) in &rows {
                let words = stored_words(&[title, artist, album]);
                tx.query(PUT).bind(owner).bind(recording).bind(words).execute().await?;
            }
            tx.commit().await?;
        }
    }
}

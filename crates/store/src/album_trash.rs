//! Removed albums in the trash. A user saves albums by hand, so they are few, and all of them are read.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use engine::UserId;
use uuid::Uuid;

use super::{Store, StoreError, TrashItem, TrashKind, db::Tx, trash::KEPT};

const REMOVED: &str = "SELECT album_id, title, artist, removed_at FROM library_albums
    WHERE user_id = $1 AND removed_at > $2";

/// Other items of the trash have UUIDs; an album has the id of its catalogue.
fn trash_id(album_id: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("removed album\n{album_id}").as_bytes())
}

impl Store {
    /// Removed albums that can be restored, in no order.
    pub(crate) async fn deleted_albums(&self, owner: &UserId) -> Result<Vec<TrashItem>, StoreError> {
        let query = self.read(REMOVED).bind(owner.as_str()).bind(self.clock.now() - KEPT);
        let rows: Vec<(String, String, String, DateTime<Utc>)> = query.fetch_all().await?;
        let items = rows.into_iter().map(|(album, title, detail, deleted_at)| TrashItem {
            kind: TrashKind::Album,
            id: trash_id(&album),
            album_id: Some(album),
            title,
            detail,
            deleted_at,
        });
        Ok(items.collect())
    }

    /// Erases albums that were removed too long ago to be restored.
    pub(crate) async fn erase_expired_albums(&self) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM library_albums WHERE (user_id, album_id) IN
            (SELECT user_id, album_id FROM library_albums WHERE removed_at < $1 LIMIT 50)";
        let before = self.clock.now() - KEPT;
        self.in_parts(SQL, |query| query.bind(before)).await?;
        Ok(())
    }
}

/// The removed albums by their ids in the trash.
pub(crate) async fn removed_albums(tx: &mut Tx, owner: &UserId) -> Result<HashMap<Uuid, String>, StoreError> {
    const SQL: &str = "SELECT album_id FROM library_albums WHERE user_id = $1 AND removed_at IS NOT NULL";
    let albums: Vec<(String,)> = tx.query(SQL).bind(owner.as_str()).fetch_all().await?;
    Ok(albums.into_iter().map(|(album,)| (trash_id(&album), album)).collect())
}

/// Erases a removed album. Returns how many there were.
pub(crate) async fn erase_album(tx: &mut Tx, owner: &UserId, album: &str) -> Result<u64, StoreError> {
    const SQL: &str = "DELETE FROM library_albums WHERE user_id = $1 AND album_id = $2 AND removed_at IS NOT NULL";
    Ok(tx.query(SQL).bind(owner.as_str()).bind(album).execute().await?)
}

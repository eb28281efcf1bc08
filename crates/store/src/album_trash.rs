//! Removed albums in the trash. A user saves albums by hand, so they are few, and all of them are read.

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
        const SQL: &str = "DELETE FROM library_albums WHERE removed_at < $1";
        self.write(SQL).bind(self.clock.now() - KEPT).execute().await?;
        Ok(())
    }
}

/// Erases the removed album with this id in the trash. Returns how many there were.
pub(crate) async fn erase_album(tx: &mut Tx, owner: &UserId, id: Uuid) -> Result<u64, StoreError> {
    const IDS: &str = "SELECT album_id FROM library_albums WHERE user_id = $1 AND removed_at IS NOT NULL";
    const SQL: &str = "DELETE FROM library_albums WHERE user_id = $1 AND album_id = $2 AND removed_at IS NOT NULL";
    let albums: Vec<(String,)> = tx.query(IDS).bind(owner.as_str()).fetch_all().await?;
    match albums.into_iter().find(|(album,)| trash_id(album) == id) {
        Some((album,)) => Ok(tx.query(SQL).bind(owner.as_str()).bind(album).execute().await?),
        None => Ok(0),
    }
}

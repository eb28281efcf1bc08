//! Pages of a user's rows for the export. A page begins after the last row of the page before, so that every page costs the
//! same, and no list is in memory as a whole.

use chrono::{DateTime, Utc};
use engine::UserId;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    Opinion, Store, StoreError,
    db::Sql,
    library::{LibraryTrack, columns},
};

pub(crate) static TRACKS_AFTER: Sql = Sql::new(|| {
    let columns = columns("library_tracks");
    format!(
        "SELECT {columns} FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL AND recording_id > $2
            ORDER BY recording_id LIMIT $3"
    )
});
pub(crate) const OWN_FACTS_AFTER: &str = "SELECT recording_id, own FROM library_tracks
    WHERE user_id = $1 AND own IS NOT NULL AND recording_id > $2 ORDER BY recording_id LIMIT $3";
pub(crate) const OPEN_ENTRIES_AFTER: &str = "SELECT id, entry FROM open_entries
    WHERE user_id = $1 AND id > $2 AND NOT dismissed ORDER BY id LIMIT $3";

impl Store {
    /// Tracks of the library after the one with the id `after`, by id. An empty id is before all others.
    pub async fn library_after(
        &self,
        owner: &UserId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<LibraryTrack>, StoreError> {
        Ok(self.read(&TRACKS_AFTER).bind(owner.as_str()).bind(after).bind(i64::from(limit)).fetch_all().await?)
    }

    /// The data of the user's own files and exports, with the ids of the tracks, by id.
    pub async fn own_facts_after(
        &self,
        owner: &UserId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<(String, Value)>, StoreError> {
        let page = self.read(OWN_FACTS_AFTER).bind(owner.as_str()).bind(after).bind(i64::from(limit));
        let rows: Vec<(String, Json<Value>)> = page.fetch_all().await?;
        Ok(rows.into_iter().map(|(id, Json(own))| (id, own)).collect())
    }

    /// Entries of imports that no catalogue has confirmed, by id, without dismissed ones.
    pub async fn open_entries_after(
        &self,
        owner: &UserId,
        after: Uuid,
        limit: u32,
    ) -> Result<Vec<(Uuid, Value)>, StoreError> {
        let page = self.read(OPEN_ENTRIES_AFTER).bind(owner.as_str()).bind(after).bind(i64::from(limit));
        let rows: Vec<(Uuid, Json<Value>)> = page.fetch_all().await?;
        Ok(rows.into_iter().map(|(id, Json(entry))| (id, entry)).collect())
    }

    /// Saved albums, newest first.
    pub async fn albums_after<A: DeserializeOwned>(
        &self,
        owner: &UserId,
        after: Option<&AlbumKey>,
        limit: u32,
    ) -> Result<Vec<(AlbumKey, A)>, StoreError> {
        const SQL: &str =
            "SELECT added_at, album_id, album FROM library_albums WHERE user_id = $1 AND removed_at IS NULL
            AND ($2 IS NULL OR added_at < $2 OR (added_at = $2 AND album_id > $3))
            ORDER BY added_at DESC, album_id LIMIT $4";
        let page = self.read(SQL).bind(owner.as_str()).bind(after.map(|(at, _)| *at)).bind(after.map(|(_, id)| id));
        let rows: Vec<(DateTime<Utc>, String, Json<Value>)> = page.bind(i64::from(limit)).fetch_all().await?;
        let albums = rows.into_iter().map(|(added_at, id, Json(album))| {
            let album = serde_json::from_value(album).map_err(|error| sqlx::Error::Decode(error.into()))?;
            Ok(((added_at, id), album))
        });
        albums.collect()
    }

    /// Feedback, by conversation and item.
    pub async fn feedback_after(
        &self,
        owner: &UserId,
        after: Option<&(Uuid, String)>,
        limit: u32,
    ) -> Result<Vec<Opinion>, StoreError> {
        const SQL: &str = "SELECT conversation_id, item_id, kind, created_at FROM feedback
            WHERE user_id = $1 AND ($2 IS NULL OR (conversation_id, item_id) > ($2, $3))
            ORDER BY conversation_id, item_id LIMIT $4";
        let page = self.read(SQL).bind(owner.as_str()).bind(after.map(|(id, _)| *id)).bind(after.map(|(_, item)| item));
        Ok(page.bind(i64::from(limit)).fetch_all().await?)
    }
}

/// The place of a saved album in the list of albums: when it was added, and its id.
pub type AlbumKey = (DateTime<Utc>, String);

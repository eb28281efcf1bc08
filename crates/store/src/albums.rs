//! Saved albums of the catalogue. Their tracks are in the library too.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use engine::UserId;
use serde::{Serialize, de::DeserializeOwned};
use sqlx::types::Json;

use super::{
    Priority, Store, StoreError,
    db::Tx,
    documents::project,
    library::searchable,
    plan::NewDocument,
    schedule::{park, schedule, wake},
};
use music::Track;

/// A saved album with the codes of its tracks.
#[derive(Clone, Debug)]
pub struct LibraryAlbum<A> {
    pub album: A,
    pub added_at: DateTime<Utc>,
}

const RECORDINGS: &str = "SELECT recording_id FROM library_album_tracks
    WHERE user_id = $1 AND album_id = $2 ORDER BY recording_id";

async fn recordings_of(tx: &mut Tx, owner: &UserId, album_id: &str) -> Result<Vec<String>, StoreError> {
    let ids: Vec<(String,)> = tx.query(RECORDINGS).bind(owner.as_str()).bind(album_id).fetch_all().await?;
    Ok(ids.into_iter().map(|(id,)| id).collect())
}

impl Store {
    /// Saves an album and its tracks.
    pub async fn add_album(
        &self,
        owner: &UserId,
        album_id: &str,
        (title, artist): (&str, &str),
        album: &impl Serialize,
        tracks: &[Track],
    ) -> Result<(), StoreError> {
        const ALBUM: &str = "INSERT INTO library_albums (user_id, album_id, album, title, artist, searchable, added_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (user_id, album_id) DO UPDATE SET album = excluded.album, removed_at = NULL";
        const TRACK: &str = "INSERT INTO library_album_tracks
                (user_id, album_id, recording_id, isrc, name, duration)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (user_id, album_id, recording_id) DO NOTHING";
        let album = serde_json::to_value(album).map_err(|error| sqlx::Error::Encode(error.into()))?;
        let mut tx = self.begin().await?;
        tx.query(ALBUM)
            .bind(owner.as_str())
            .bind(album_id)
            .bind(Json(album))
            .bind(title)
            .bind(artist)
            .bind(searchable(&[title, artist]))
            .bind_now()
            .execute()
            .await?;
        for track in tracks {
            tx.query(TRACK)
                .bind(owner.as_str())
                .bind(album_id)
                .bind(track.id.to_string())
                .bind(track.isrc.as_ref().map(|isrc| isrc.as_str()))
                .bind(track.recording_name().to_string())
                .bind(track.duration)
                .execute()
                .await?;
        }
        let documents: Vec<_> = tracks.iter().cloned().map(NewDocument::public).collect();
        schedule(&mut tx, &documents, Priority::ByHand, owner.as_str()).await?;
        let recordings: Vec<_> = tracks.iter().map(|track| track.id.to_string()).collect();
        project(&mut tx, &recordings).await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn albums<A: DeserializeOwned + Send + Unpin>(
        &self,
        owner: &UserId,
        words: Option<&str>,
    ) -> Result<Vec<LibraryAlbum<A>>, StoreError> {
        const SQL: &str = r"SELECT album, added_at FROM library_albums
            WHERE user_id = $1 AND removed_at IS NULL AND ($2 IS NULL OR searchable LIKE $2 ESCAPE '\')
            ORDER BY added_at DESC, album_id";
        let pattern = words.map(super::like_pattern);
        let rows: Vec<(Json<serde_json::Value>, DateTime<Utc>)> =
            self.read(SQL).bind(owner.as_str()).bind(pattern.as_deref()).fetch_all().await?;
        let albums = rows.into_iter().map(|(Json(album), added_at)| {
            let album = serde_json::from_value(album).map_err(|error| sqlx::Error::Decode(error.into()))?;
            Ok(LibraryAlbum { album, added_at })
        });
        albums.collect()
    }

    pub async fn album<A: DeserializeOwned>(&self, owner: &UserId, album_id: &str) -> Result<A, StoreError> {
        const SQL: &str =
            "SELECT album FROM library_albums WHERE user_id = $1 AND album_id = $2 AND removed_at IS NULL";
        let row: Option<(Json<serde_json::Value>,)> =
            self.read(SQL).bind(owner.as_str()).bind(album_id).fetch_optional().await?;
        let (Json(album),) = row.ok_or(StoreError::NotFound)?;
        Ok(serde_json::from_value(album).map_err(|error| sqlx::Error::Decode(error.into()))?)
    }

    pub async fn remove_album(&self, owner: &UserId, album_id: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE library_albums SET removed_at = $3
            WHERE user_id = $1 AND album_id = $2 AND removed_at IS NULL";
        let mut tx = self.begin().await?;
        let query = tx.query(SQL).bind(owner.as_str()).bind(album_id).bind_now();
        if query.execute().await? == 0 {
            return Err(StoreError::NotFound);
        }
        let recordings = recordings_of(&mut tx, owner, album_id).await?;
        park(&mut tx, &recordings).await?;
        project(&mut tx, &recordings).await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn restore_album(&self, owner: &UserId, album_id: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE library_albums SET removed_at = NULL WHERE user_id = $1 AND album_id = $2";
        let mut tx = self.begin().await?;
        let query = tx.query(SQL).bind(owner.as_str()).bind(album_id);
        if query.execute().await? == 0 {
            return Err(StoreError::NotFound);
        }
        let recordings = recordings_of(&mut tx, owner, album_id).await?;
        wake(&mut tx, &recordings).await?;
        project(&mut tx, &recordings).await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn owned_albums(&self, owner: &UserId, album_ids: &[&str]) -> Result<BTreeSet<String>, StoreError> {
        const SQL: &str = "SELECT album_id FROM library_albums
            WHERE user_id = $1 AND removed_at IS NULL AND album_id IN (SELECT value FROM json_each($2))";
        let rows: Vec<(String,)> = self.read(SQL).bind(owner.as_str()).bind(Json(album_ids)).fetch_all().await?;
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }
}

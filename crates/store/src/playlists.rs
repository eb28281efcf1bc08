//! Playlists: what an agent suggested and a listener kept.

use chrono::{DateTime, Utc};
use engine::{CallId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, now};
use music::Track;

engine::uuid_id!(PlaylistId);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Playlist {
    pub id: PlaylistId,
    pub title: String,
    pub created_at: DateTime<Utc>,
    pub tracks: Vec<PlaylistTrack>,
}

/// A track as it was when it was chosen, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaylistTrack {
    #[serde(flatten)]
    pub track: Track,
    pub reasoning: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaylistLine {
    pub id: PlaylistId,
    pub title: String,
    pub created_at: DateTime<Utc>,
    pub track_count: usize,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: Uuid,
    title: String,
    tracks: Json<Vec<PlaylistTrack>>,
    created_at: DateTime<Utc>,
}

impl From<Row> for Playlist {
    fn from(row: Row) -> Self {
        Self { id: PlaylistId(row.id), title: row.title, created_at: row.created_at, tracks: row.tracks.0 }
    }
}

impl Store {
    pub async fn save_playlist(
        &self,
        owner: &UserId,
        title: &str,
        tracks: Vec<PlaylistTrack>,
        call: Option<CallId>,
    ) -> Result<Playlist, StoreError> {
        const SQL: &str = "INSERT INTO playlists (id, user_id, title, tracks, created_at) VALUES ($1, $2, $3, $4, $5)";
        let playlist = Playlist { id: PlaylistId::new(), title: title.to_owned(), created_at: now(), tracks };
        let mut tx = self.begin().await?;
        let playlist = self
            .settle(&mut tx, call, async |tx| {
                tx.query(SQL)
                    .bind(playlist.id.0)
                    .bind(owner.as_str())
                    .bind(title)
                    .bind(Json(&playlist.tracks))
                    .bind(playlist.created_at)
                    .execute()
                    .await?;
                Ok(playlist)
            })
            .await?;
        tx.commit().await?;
        Ok(playlist)
    }

    /// Newest first.
    pub async fn playlists(&self, owner: &UserId) -> Result<Vec<Playlist>, StoreError> {
        const SQL: &str = "SELECT id, title, tracks, created_at FROM playlists
            WHERE user_id = $1 AND deleted_at IS NULL ORDER BY id DESC";
        let rows: Vec<Row> = self.read(SQL).bind(owner.as_str()).fetch_all().await?;
        Ok(rows.into_iter().map(Playlist::from).collect())
    }

    pub async fn playlist(&self, owner: &UserId, id: PlaylistId) -> Result<Playlist, StoreError> {
        const SQL: &str = "SELECT id, title, tracks, created_at FROM playlists
            WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL";
        let row: Option<Row> = self.read(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        row.map(Playlist::from).ok_or(StoreError::NotFound)
    }

    pub async fn delete_playlist(&self, owner: &UserId, id: PlaylistId) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE playlists SET deleted_at = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
            RETURNING id";
        let row: Option<(Uuid,)> = self.write(SQL).bind(id.0).bind(owner.as_str()).bind(now()).fetch_optional().await?;
        row.map(drop).ok_or(StoreError::NotFound)
    }

    pub async fn restore_playlist(&self, owner: &UserId, id: PlaylistId) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE playlists SET deleted_at = NULL WHERE id = $1 AND user_id = $2 RETURNING id";
        let row: Option<(Uuid,)> = self.write(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        row.map(drop).ok_or(StoreError::NotFound)
    }
}

impl From<&Playlist> for PlaylistLine {
    fn from(playlist: &Playlist) -> Self {
        Self {
            id: playlist.id,
            title: playlist.title.clone(),
            created_at: playlist.created_at,
            track_count: playlist.tracks.len(),
        }
    }
}

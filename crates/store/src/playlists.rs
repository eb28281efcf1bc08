//! Reads playlists: complete, or one line of each. `playlist_edits.rs` changes them.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, long_texts::decoded};
use music::{Track, TrackId};

engine::uuid_id!(PlaylistId);
engine::uuid_id!(
    /// The id of one entry of a playlist.
    ItemId
);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Playlist {
    pub id: PlaylistId,
    pub created_at: DateTime<Utc>,
    /// `None` if the playlist was never edited.
    pub edited_at: Option<DateTime<Utc>>,
    /// Increases with every edit.
    pub revision: i64,
    #[serde(flatten)]
    pub content: PlaylistContent,
}

/// The parts of a playlist that its owner may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaylistContent {
    pub title: String,
    pub description: String,
    pub tracks: Vec<PlaylistTrack>,
}

/// A track as it was when it was added, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaylistTrack {
    #[serde(rename = "itemId")]
    pub item_id: ItemId,
    #[serde(flatten)]
    pub track: Track,
    pub reasoning: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaylistLine {
    pub id: PlaylistId,
    pub title: String,
    pub description: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub track_count: usize,
}

pub struct PlaylistPage {
    pub playlists: Vec<PlaylistLine>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<PlaylistId>,
}

struct PlaylistRow {
    id: Uuid,
    title: String,
    description: String,
    /// JSON.
    tracks: String,
    created_at: DateTime<Utc>,
    edited_at: Option<DateTime<Utc>>,
    revision: i64,
}
from_row!(PlaylistRow { id, title, description, tracks, created_at, edited_at, revision });

impl TryFrom<PlaylistRow> for Playlist {
    type Error = StoreError;

    fn try_from(row: PlaylistRow) -> Result<Self, StoreError> {
        let PlaylistRow { id, title, description, tracks, created_at, edited_at, revision } = row;
        let content = PlaylistContent { title, description, tracks: decoded(&tracks)? };
        Ok(Self { id: PlaylistId(id), created_at, edited_at, revision, content })
    }
}

struct LineRow {
    id: Uuid,
    title: String,
    description: String,
    created_at: DateTime<Utc>,
    edited_at: Option<DateTime<Utc>>,
    n_tracks: i64,
}
from_row!(LineRow { id, title, description, created_at, edited_at, n_tracks });

impl From<LineRow> for PlaylistLine {
    fn from(row: LineRow) -> Self {
        Self {
            id: PlaylistId(row.id),
            title: row.title,
            description: row.description,
            created_at: row.created_at,
            updated_at: row.edited_at.unwrap_or(row.created_at),
            track_count: usize::try_from(row.n_tracks).unwrap_or_default(),
        }
    }
}

impl Store {
    /// A page of lines, newest first.
    pub async fn playlist_lines(
        &self,
        owner: &UserId,
        after: Option<PlaylistId>,
        limit: u32,
    ) -> Result<PlaylistPage, StoreError> {
        const SQL: &str = "SELECT id, title, description, created_at, edited_at, n_tracks FROM playlists
            WHERE user_id = $1 AND deleted_at IS NULL AND ($2 IS NULL OR (created_at, id) <
                (SELECT created_at, id FROM playlists WHERE id = $2 AND user_id = $1))
            ORDER BY created_at DESC, id DESC LIMIT $3";
        let query = self.read(SQL).bind(owner.as_str()).bind(after.map(|id| id.0)).bind(i64::from(limit) + 1);
        let mut rows: Vec<LineRow> = query.fetch_all().await?;
        let has_more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = rows.last().filter(|_| has_more).map(|last| PlaylistId(last.id));
        Ok(PlaylistPage { playlists: rows.into_iter().map(PlaylistLine::from).collect(), next })
    }

    pub async fn playlist(&self, owner: &UserId, id: PlaylistId) -> Result<Playlist, StoreError> {
        const SQL: &str = "SELECT id, title, description, created_at, edited_at, revision,
                CASE WHEN tracks_id IS NULL THEN CAST(tracks AS TEXT) ELSE
                    (SELECT string_agg(body, '' ORDER BY number) FROM long_text_parts WHERE text_id = tracks_id)
                END AS tracks
            FROM playlists WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL";
        let row: Option<PlaylistRow> = self.read(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        row.ok_or(StoreError::NotFound)?.try_into()
    }

    /// The paths of the user's files of these recordings. A recording without a file is left out.
    pub async fn file_paths(
        &self,
        owner: &UserId,
        recordings: &BTreeSet<TrackId>,
    ) -> Result<HashMap<TrackId, String>, StoreError> {
        const SQL: &str = "SELECT recording_id, MIN(path) FROM library_files WHERE user_id = $1
            AND missing_at IS NULL AND recording_id IN (SELECT value FROM json_each($2)) GROUP BY recording_id";
        let ids: Vec<String> = recordings.iter().map(TrackId::to_string).collect();
        let rows: Vec<(String, String)> = self.read(SQL).bind(owner.as_str()).bind(Json(ids)).fetch_all().await?;
        Ok(rows.into_iter().filter_map(|(id, path)| Some((id.parse().ok()?, path))).collect())
    }

    pub async fn delete_playlist(&self, owner: &UserId, id: PlaylistId) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE playlists SET deleted_at = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
            RETURNING id";
        let query = self.write(SQL).bind(id.0).bind(owner.as_str()).bind(self.clock.now());
        let row: Option<(Uuid,)> = query.fetch_optional().await?;
        row.map(drop).ok_or(StoreError::NotFound)
    }

    pub async fn restore_playlist(&self, owner: &UserId, id: PlaylistId) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE playlists SET deleted_at = NULL WHERE id = $1 AND user_id = $2 AND erased_at IS NULL
            RETURNING id";
        let row: Option<(Uuid,)> = self.write(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        row.map(drop).ok_or(StoreError::NotFound)
    }
}

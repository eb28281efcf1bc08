//! Folders that are kept in step with a library, and the files a user has in them.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    Store, StoreError,
    documents::project,
    now,
    schedule::{park, wake},
};
use music::TrackId;

/// A folder that is kept in step.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderSource {
    pub id: Uuid,
    #[serde(skip)]
    pub owner: String,
    pub path: String,
    pub created_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced_at: Option<DateTime<Utc>>,
    /// What the last scan found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
}

#[derive(sqlx::FromRow)]
struct SourceRow {
    id: Uuid,
    user_id: String,
    path: String,
    created_at: DateTime<Utc>,
    synced_at: Option<DateTime<Utc>>,
    report: Option<Json<Value>>,
}

impl From<SourceRow> for FolderSource {
    fn from(row: SourceRow) -> Self {
        let SourceRow { id, user_id: owner, path, created_at, synced_at, report } = row;
        Self { id, owner, path, created_at, synced_at, report: report.map(|Json(report)| report) }
    }
}

/// A file as the last scan saw it.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct LibraryFile {
    pub path: String,
    pub size: i64,
    pub modified_ms: i64,
    pub content_hash: Option<String>,
    pub recording_id: String,
    pub is_missing: bool,
}

/// What a scan changes.
#[derive(Clone, Debug, Default)]
pub struct FileChanges {
    /// New files and files that have changed, each with its track.
    pub put: Vec<(LibraryFile, TrackId)>,
    /// Where a file was, and where it is now.
    pub moved: Vec<(String, LibraryFile)>,
    pub gone: Vec<String>,
}

macro_rules! sources {
    ($condition:literal) => {
        concat!(
            "SELECT id, user_id, path, created_at, synced_at, report FROM library_sources WHERE ",
            $condition,
            " ORDER BY created_at, path"
        )
    };
}

impl Store {
    /// A folder of a user; the same one twice is one.
    pub async fn add_folder(&self, owner: &UserId, path: &str) -> Result<FolderSource, StoreError> {
        const SQL: &str = "INSERT INTO library_sources (id, user_id, kind, path, created_at)
            VALUES ($1, $2, 'folder', $3, $4) ON CONFLICT (user_id, path) DO UPDATE SET kind = excluded.kind
            RETURNING id, user_id, path, created_at, synced_at, report";
        let query = self.write(SQL).bind(Uuid::now_v7()).bind(owner.as_str()).bind(path).bind(now());
        let row: SourceRow = query.fetch_one().await?;
        Ok(row.into())
    }

    pub async fn folders(&self, owner: &UserId) -> Result<Vec<FolderSource>, StoreError> {
        const SQL: &str = sources!("user_id = $1");
        let rows: Vec<SourceRow> = self.read(SQL).bind(owner.as_str()).fetch_all().await?;
        Ok(rows.into_iter().map(FolderSource::from).collect())
    }

    pub async fn folder(&self, owner: &UserId, id: Uuid) -> Result<FolderSource, StoreError> {
        const SQL: &str = sources!("user_id = $1 AND id = $2");
        let row: Option<SourceRow> = self.read(SQL).bind(owner.as_str()).bind(id).fetch_optional().await?;
        row.map(FolderSource::from).ok_or(StoreError::NotFound)
    }

    /// Of every user: for the process that keeps them in step.
    pub async fn all_folders(&self) -> Result<Vec<FolderSource>, StoreError> {
        const SQL: &str = sources!("kind = 'folder'");
        let rows: Vec<SourceRow> = self.read(SQL).fetch_all().await?;
        Ok(rows.into_iter().map(FolderSource::from).collect())
    }

    /// A folder is kept in step no more; its tracks stay in the library.
    pub async fn remove_folder(&self, owner: &UserId, id: Uuid) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM library_sources WHERE user_id = $1 AND id = $2";
        const FILES: &str = "DELETE FROM library_files WHERE user_id = $1 AND source_id = $2";
        let mut tx = self.begin().await?;
        if tx.query(SQL).bind(owner.as_str()).bind(id).execute().await? == 0 {
            return Err(StoreError::NotFound);
        }
        tx.query(FILES).bind(owner.as_str()).bind(id).execute().await?;
        tx.commit().await
    }

    pub async fn files_of(&self, source: Uuid) -> Result<Vec<LibraryFile>, StoreError> {
        const SQL: &str =
            "SELECT path, size, modified_ms, content_hash, recording_id, missing_at IS NOT NULL AS is_missing
            FROM library_files WHERE source_id = $1";
        Ok(self.read(SQL).bind(source).fetch_all().await?)
    }

    /// A file of a track that is there, for its picture.
    pub async fn file_of(&self, owner: &UserId, track: &str) -> Result<String, StoreError> {
        const SQL: &str = "SELECT path FROM library_files
            WHERE user_id = $1 AND recording_id = $2 AND missing_at IS NULL ORDER BY path LIMIT 1";
        let row: Option<(String,)> = self.read(SQL).bind(owner.as_str()).bind(track).fetch_optional().await?;
        row.map(|(path,)| path).ok_or(StoreError::NotFound)
    }

    /// Keeps what a scan found. A track whose last file is gone leaves the library, softly; one whose file is back
    /// returns.
    pub async fn keep_files(
        &self,
        owner: &UserId,
        source: Uuid,
        changes: &FileChanges,
        report: Option<&Value>,
    ) -> Result<(), StoreError> {
        const MOVE: &str = "UPDATE library_files SET path = $3, size = $4, modified_ms = $5, missing_at = NULL
            WHERE user_id = $1 AND path = $2 RETURNING recording_id";
        const FREE: &str = "DELETE FROM library_files WHERE user_id = $1 AND path = $2";
        const PUT: &str = "INSERT INTO library_files
                (user_id, path, source_id, recording_id, size, modified_ms, content_hash)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (user_id, path) DO UPDATE SET source_id = excluded.source_id,
                recording_id = excluded.recording_id, size = excluded.size, modified_ms = excluded.modified_ms,
                content_hash = excluded.content_hash, missing_at = NULL";
        const GONE: &str = "UPDATE library_files SET missing_at = $3 WHERE user_id = $1 AND path = $2
            RETURNING recording_id";
        const REPORT: &str = "UPDATE library_sources SET synced_at = $2, report = $3 WHERE id = $1";
        let mut tx = self.begin().await?;
        let mut touched = BTreeSet::new();
        for (from, file) in &changes.moved {
            tx.query(FREE).bind(owner.as_str()).bind(&file.path).execute().await?;
            let query = tx.query(MOVE).bind(owner.as_str()).bind(from).bind(&file.path).bind(file.size);
            let row: Option<(String,)> = query.bind(file.modified_ms).fetch_optional().await?;
            touched.extend(row.map(|(recording,)| recording));
        }
        for (file, track) in &changes.put {
            let query = tx.query(PUT).bind(owner.as_str()).bind(&file.path).bind(source).bind(track.to_string());
            query.bind(file.size).bind(file.modified_ms).bind(file.content_hash.as_deref()).execute().await?;
            touched.insert(track.to_string());
        }
        for path in &changes.gone {
            let row: Option<(String,)> =
                tx.query(GONE).bind(owner.as_str()).bind(path).bind(now()).fetch_optional().await?;
            touched.extend(row.map(|(recording,)| recording));
        }
        keep_tracks_in_step(&mut tx, owner, &touched.into_iter().collect::<Vec<_>>()).await?;
        if let Some(report) = report {
            tx.query(REPORT).bind(source).bind(now()).bind(Json(report)).execute().await?;
        }
        tx.commit().await
    }
}

/// Tracks without a file leave, tracks with one are there. What the user removed by hand before its file went stays so.
async fn keep_tracks_in_step(tx: &mut super::db::Tx, owner: &UserId, recordings: &[String]) -> Result<(), StoreError> {
    const LEAVE: &str = "UPDATE library_tracks SET removed_at = $3
        WHERE user_id = $1 AND recording_id = $2 AND removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM library_files f
            WHERE f.user_id = $1 AND f.recording_id = $2 AND f.missing_at IS NULL)";
    const RETURN: &str = "UPDATE library_tracks SET removed_at = NULL
        WHERE user_id = $1 AND recording_id = $2 AND removed_at IS NOT NULL
            AND EXISTS (SELECT 1 FROM library_files f
                WHERE f.user_id = $1 AND f.recording_id = $2 AND f.missing_at IS NULL)";
    for recording in recordings {
        let one = std::slice::from_ref(recording);
        if tx.query(LEAVE).bind(owner.as_str()).bind(recording).bind(now()).execute().await? > 0 {
            park(tx, one).await?;
        }
        if tx.query(RETURN).bind(owner.as_str()).bind(recording).execute().await? > 0 {
            wake(tx, one).await?;
        }
    }
    project(tx, recordings).await
}

//! Folders that are synchronised with a library.

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, db::Sql};

/// A synchronised folder.
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
    /// The report of the last scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
}

struct SourceRow {
    id: Uuid,
    user_id: String,
    path: String,
    created_at: DateTime<Utc>,
    synced_at: Option<DateTime<Utc>>,
    report: Option<Json<Value>>,
}
from_row!(SourceRow { id, user_id, path, created_at, synced_at, report });

impl From<SourceRow> for FolderSource {
    fn from(row: SourceRow) -> Self {
        let SourceRow { id, user_id: owner, path, created_at, synced_at, report } = row;
        Self { id, owner, path, created_at, synced_at, report: report.map(|Json(report)| report) }
    }
}

const COLUMNS: &str = "id, user_id, path, created_at, synced_at, report";

fn sources(condition: &str) -> String {
    format!("SELECT {COLUMNS} FROM library_sources WHERE {condition} ORDER BY created_at, path")
}

impl Store {
    /// Adds a folder of a user. Adding the same folder twice adds it once.
    pub async fn add_folder(&self, owner: &UserId, path: &str) -> Result<FolderSource, StoreError> {
        static SQL: Sql = Sql::new(|| {
            format!(
                "INSERT INTO library_sources (id, user_id, kind, path, created_at)
                VALUES ($1, $2, 'folder', $3, $4) ON CONFLICT (user_id, path) DO UPDATE SET kind = excluded.kind
                RETURNING {COLUMNS}"
            )
        });
        let query = self.write(&SQL).bind(Uuid::now_v7()).bind(owner.as_str()).bind(path).bind_now();
        let row: SourceRow = query.fetch_one().await?;
        Ok(row.into())
    }

    pub async fn folders(&self, owner: &UserId) -> Result<Vec<FolderSource>, StoreError> {
        static SQL: Sql = Sql::new(|| sources("user_id = $1"));
        let rows: Vec<SourceRow> = self.read(&SQL).bind(owner.as_str()).fetch_all().await?;
        Ok(rows.into_iter().map(FolderSource::from).collect())
    }

    pub async fn folder(&self, owner: &UserId, id: Uuid) -> Result<FolderSource, StoreError> {
        static SQL: Sql = Sql::new(|| sources("user_id = $1 AND id = $2"));
        let row: Option<SourceRow> = self.read(&SQL).bind(owner.as_str()).bind(id).fetch_optional().await?;
        row.map(FolderSource::from).ok_or(StoreError::NotFound)
    }

    /// The folders of all users, for the task that synchronises them.
    pub async fn all_folders(&self) -> Result<Vec<FolderSource>, StoreError> {
        static SQL: Sql = Sql::new(|| sources("kind = 'folder'"));
        let rows: Vec<SourceRow> = self.read(&SQL).fetch_all().await?;
        Ok(rows.into_iter().map(FolderSource::from).collect())
    }

    /// Stops the synchronisation of a folder. Its tracks stay in the library.
    pub async fn remove_folder(&self, owner: &UserId, id: Uuid) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM library_sources WHERE user_id = $1 AND id = $2";
        const FILES: &str = "DELETE FROM library_files WHERE user_id = $1 AND source_id = $2";
        const PLAYLISTS: &str = "DELETE FROM library_playlist_files WHERE user_id = $1 AND source_id = $2";
        const SOUNDS: &str = "DELETE FROM fingerprints WHERE user_id = $1 AND NOT EXISTS (SELECT 1 FROM library_files f
                WHERE f.user_id = fingerprints.user_id AND f.content_hash = fingerprints.content_hash)
            AND NOT EXISTS (SELECT 1 FROM own_names n WHERE n.user_id = fingerprints.user_id AND n.kind = 'audio'
                AND n.value = fingerprints.content_hash)";
        let mut tx = self.begin().await?;
        if tx.query(SQL).bind(owner.as_str()).bind(id).execute().await? == 0 {
            return Err(StoreError::NotFound);
        }
        tx.query(FILES).bind(owner.as_str()).bind(id).execute().await?;
        tx.query(PLAYLISTS).bind(owner.as_str()).bind(id).execute().await?;
        tx.query(SOUNDS).bind(owner.as_str()).execute().await?;
        tx.commit().await
    }

    /// Stores the report of a scan.
    pub async fn keep_scan(&self, source: Uuid, report: &Value) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE library_sources SET synced_at = $2, report = $3 WHERE id = $1";
        self.write(SQL).bind(source).bind_now().bind(Json(report)).execute().await?;
        Ok(())
    }
}

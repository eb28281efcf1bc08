//! The files of synchronised folders, and the tracks that are removed or restored with them.

use std::collections::BTreeSet;

use engine::UserId;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    Store, StoreError,
    db::Tx,
    documents::project,
    locks::lock_library,
    schedule::{park, wake},
};

/// A file, or one track of a file with a CUE sheet, as the last scan found it.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryFile {
    pub path: String,
    /// 0 for a whole file; the tracks of a CUE sheet count from 1.
    pub part: i32,
    pub size: i64,
    pub modified_ms: i64,
    /// The files that belong to it: lyrics, a CUE sheet, a picture.
    pub beside: String,
    pub content_hash: Option<String>,
    /// Empty if the file cannot be read.
    pub recording_id: String,
    /// `embedded`, or the path of a picture in the same folder.
    pub artwork: Option<String>,
    /// Why it cannot be read.
    pub problem: Option<String>,
    /// Whether the user has decided which track it is.
    pub is_pinned: bool,
    pub is_missing: bool,
}
from_row!(LibraryFile {
    path,
    part,
    size,
    modified_ms,
    beside,
    content_hash,
    recording_id,
    artwork,
    problem,
    is_pinned,
    is_missing
});

/// The old path of a moved file, and its current data.
#[derive(Clone, Debug)]
pub struct MovedFile {
    pub from: String,
    pub to: String,
    pub size: i64,
    pub modified_ms: i64,
    pub beside: String,
}

/// The changes of a scan.
#[derive(Clone, Debug, Default)]
pub struct FileChanges {
    /// New and changed files, each with all its parts.
    pub put: Vec<LibraryFile>,
    pub moved: Vec<MovedFile>,
    pub gone: Vec<String>,
}

/// The picture of a track: in its file, or beside it.
#[derive(Clone, Debug)]
pub struct ArtworkFile {
    pub path: String,
    /// `embedded`, or the path of a picture in the same folder.
    pub artwork: String,
    /// The synchronised folder.
    pub root: String,
}
from_row!(ArtworkFile { path, artwork, root });

const FORGET_PARTS: &str = "DELETE FROM library_files WHERE user_id = $1 AND path = $2 RETURNING recording_id";
const MOVE: &str = "UPDATE library_files SET path = $3, size = $4, modified_ms = $5, beside = $6, missing_at = NULL
    WHERE user_id = $1 AND path = $2 RETURNING recording_id";
const PUT: &str = "INSERT INTO library_files (user_id, path, part, source_id, recording_id, size, modified_ms, beside,
        content_hash, artwork, problem, is_pinned)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
const GONE: &str = "UPDATE library_files SET missing_at = $3 WHERE user_id = $1 AND path = $2 RETURNING recording_id";

impl Store {
    pub async fn files_of(&self, source: Uuid) -> Result<Vec<LibraryFile>, StoreError> {
        const SQL: &str = "SELECT path, part, size, modified_ms, beside, content_hash, recording_id, artwork, problem,
                is_pinned, missing_at IS NOT NULL AS is_missing
            FROM library_files WHERE source_id = $1 ORDER BY path, part";
        Ok(self.read(SQL).bind(source).fetch_all().await?)
    }

    /// The picture of a track in the user's library.
    pub async fn artwork_of(&self, owner: &UserId, track: &str) -> Result<ArtworkFile, StoreError> {
        const SQL: &str = "SELECT f.path, f.artwork, s.path AS root FROM library_files f
            JOIN library_sources s ON s.id = f.source_id AND s.user_id = f.user_id
            JOIN library_tracks t ON t.user_id = f.user_id AND t.recording_id = f.recording_id AND t.removed_at IS NULL
            WHERE f.user_id = $1 AND f.recording_id = $2 AND f.missing_at IS NULL AND f.artwork IS NOT NULL
            ORDER BY f.path LIMIT 1";
        let row = self.read(SQL).bind(owner.as_str()).bind(track).fetch_optional().await?;
        row.ok_or(StoreError::NotFound)
    }

    /// The tracks of the user, among these, that have a picture.
    pub async fn with_artwork(&self, owner: &UserId, tracks: &[String]) -> Result<BTreeSet<String>, StoreError> {
        const SQL: &str = "SELECT DISTINCT recording_id FROM library_files WHERE user_id = $1
            AND missing_at IS NULL AND artwork IS NOT NULL AND recording_id IN (SELECT value FROM json_each($2))";
        if tracks.is_empty() {
            return Ok(BTreeSet::new());
        }
        let rows: Vec<(String,)> = self.read(SQL).bind(owner.as_str()).bind(Json(tracks)).fetch_all().await?;
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// Stores the result of a scan. A track without files is removed from the library and can be restored; it is
    /// restored when its file is back.
    pub async fn keep_files(&self, owner: &UserId, source: Uuid, changes: &FileChanges) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        lock_library(&mut tx, owner.as_str()).await?;
        let mut touched = BTreeSet::new();
        for moved in &changes.moved {
            touched.extend(forget_parts(&mut tx, owner, &moved.to).await?);
            let query = tx.query(MOVE).bind(owner.as_str()).bind(&moved.from).bind(&moved.to).bind(moved.size);
            let rows: Vec<(String,)> = query.bind(moved.modified_ms).bind(&moved.beside).fetch_all().await?;
            touched.extend(rows.into_iter().map(|(recording,)| recording));
        }
        let paths: BTreeSet<&str> = changes.put.iter().map(|file| file.path.as_str()).collect();
        for path in paths {
            touched.extend(forget_parts(&mut tx, owner, path).await?);
        }
        for file in &changes.put {
            put(&mut tx, owner, source, file).await?;
            touched.insert(file.recording_id.clone());
        }
        for path in &changes.gone {
            let rows: Vec<(String,)> = tx.query(GONE).bind(owner.as_str()).bind(path).bind_now().fetch_all().await?;
            touched.extend(rows.into_iter().map(|(recording,)| recording));
        }
        // Unreadable files have no track.
        touched.remove("");
        keep_tracks_in_step(&mut tx, owner, &touched.into_iter().collect::<Vec<_>>()).await?;
        tx.commit().await
    }
}

async fn forget_parts(tx: &mut Tx, owner: &UserId, path: &str) -> Result<Vec<String>, StoreError> {
    let rows: Vec<(String,)> = tx.query(FORGET_PARTS).bind(owner.as_str()).bind(path).fetch_all().await?;
    Ok(rows.into_iter().map(|(recording,)| recording).collect())
}

async fn put(tx: &mut Tx, owner: &UserId, source: Uuid, file: &LibraryFile) -> Result<(), StoreError> {
    tx.query(PUT)
        .bind(owner.as_str())
        .bind(&file.path)
        .bind(file.part)
        .bind(source)
        .bind(&file.recording_id)
        .bind(file.size)
        .bind(file.modified_ms)
        .bind(&file.beside)
        .bind(file.content_hash.as_deref())
        .bind(file.artwork.as_deref())
        .bind(file.problem.as_deref())
        .bind(file.is_pinned)
        .execute()
        .await?;
    Ok(())
}

/// Removes tracks whose files are gone, and restores tracks whose files are back. A track that the user removed by hand
/// stays removed.
pub(crate) async fn keep_tracks_in_step(tx: &mut Tx, owner: &UserId, recordings: &[String]) -> Result<(), StoreError> {
    const LEAVE: &str = "UPDATE library_tracks SET removed_at = $3, left_with_file = TRUE
        WHERE user_id = $1 AND recording_id = $2 AND removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM library_files f
            WHERE f.user_id = $1 AND f.recording_id = $2 AND f.missing_at IS NULL)";
    const RETURN: &str = "UPDATE library_tracks SET removed_at = NULL, left_with_file = FALSE
        WHERE user_id = $1 AND recording_id = $2 AND left_with_file
            AND EXISTS (SELECT 1 FROM library_files f
                WHERE f.user_id = $1 AND f.recording_id = $2 AND f.missing_at IS NULL)";
    for recording in recordings {
        let one = std::slice::from_ref(recording);
        if tx.query(LEAVE).bind(owner.as_str()).bind(recording).bind_now().execute().await? > 0 {
            park(tx, one).await?;
        }
        if tx.query(RETURN).bind(owner.as_str()).bind(recording).execute().await? > 0 {
            wake(tx, one).await?;
        }
    }
    project(tx, recordings).await
}

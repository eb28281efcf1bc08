//! Playlist files of synchronised folders: each is a playlist of its owner.

use std::collections::HashMap;

use engine::UserId;
use sqlx::types::Json;
use uuid::Uuid;

use super::{PlaylistTrack, Store, StoreError, imports::listed};
use music::Track;

/// A playlist file as the last scan found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaylistFile {
    pub path: String,
    pub size: i64,
    pub modified_ms: i64,
    /// The number of entries whose file was missing.
    pub n_missing: i32,
}
from_row!(PlaylistFile { path, size, modified_ms, n_missing });

struct ListedRow {
    recording_id: String,
    isrc: Option<String>,
    title: String,
    artist: String,
    album: String,
    duration: Option<f64>,
}
from_row!(ListedRow { recording_id, isrc, title, artist, album, duration });

impl ListedRow {
    fn track(self) -> Option<Track> {
        let id = self.recording_id.parse().ok()?;
        let isrc = self.isrc.and_then(|isrc| isrc.parse().ok());
        Some(Track { isrc, duration: self.duration, ..Track::with_id(id, self.title, self.artist, self.album) })
    }
}

impl Store {
    pub async fn playlist_files(&self, source: Uuid) -> Result<Vec<PlaylistFile>, StoreError> {
        const SQL: &str = "SELECT path, size, modified_ms, n_missing FROM library_playlist_files WHERE source_id = $1";
        Ok(self.read(SQL).bind(source).fetch_all().await?)
    }

    /// Stores a playlist file and its tracks in their order. A playlist that its owner deleted stays deleted.
    pub async fn keep_playlist_file(
        &self,
        owner: &UserId,
        source: Uuid,
        file: &PlaylistFile,
        title: &str,
        tracks: &[String],
    ) -> Result<(), StoreError> {
        const PUT: &str = "INSERT INTO library_playlist_files (user_id, path, source_id, size, modified_ms, n_missing)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (user_id, path) DO UPDATE SET source_id = excluded.source_id,
                size = excluded.size, modified_ms = excluded.modified_ms, n_missing = excluded.n_missing";
        const TRACKS: &str = "SELECT recording_id, isrc, title, artist, album, duration FROM library_tracks
            WHERE user_id = $1 AND recording_id IN (SELECT value FROM json_each($2))";
        let rows: Vec<ListedRow> = self.read(TRACKS).bind(owner.as_str()).bind(Json(tracks)).fetch_all().await?;
        let known: HashMap<String, Track> =
            rows.into_iter().filter_map(|row| Some((row.recording_id.clone(), row.track()?))).collect();
        let tracks: Vec<PlaylistTrack> = tracks.iter().filter_map(|id| known.get(id)).map(listed).collect();
        if !tracks.is_empty() {
            self.put_playlist(owner, &kind_of(&file.path), title, &tracks).await?;
        }
        // Last: after a crash before it, the next scan reads the file again.
        let query = self.write(PUT).bind(owner.as_str()).bind(&file.path).bind(source).bind(file.size);
        query.bind(file.modified_ms).bind(file.n_missing).execute().await?;
        Ok(())
    }

    /// Forgets a deleted playlist file. Its playlist is kept, because the user may have added tracks to it.
    pub async fn forget_playlist_file(&self, owner: &UserId, path: &str) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM library_playlist_files WHERE user_id = $1 AND path = $2";
        self.write(SQL).bind(owner.as_str()).bind(path).execute().await?;
        Ok(())
    }
}

/// Two files with the same name in different folders are two playlists.
fn kind_of(path: &str) -> String {
    format!("file {path}")
}

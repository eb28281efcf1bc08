//! The library: the tracks of a user, and how they are listed, added, removed and restored.

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Priority, Store, StoreError,
    db::Sql,
    documents::project,
    library_insert::{Removed, insert_tracks},
    locks::lock_library,
    schedule::{park, wake},
};
use music::{Track, TrackRef};

/// A track as the library lists it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LibraryTrack {
    pub track_id: String,
    pub isrc: Option<String>,
    pub tidal_id: Option<String>,
    pub title: String,
    pub artist: String,
    pub album: String,
    pub duration: Option<f64>,
    pub genre: Option<String>,
    pub year: Option<i32>,
    pub track_number: Option<i32>,
    pub is_sample: bool,
    /// The number of plays in the imported listening history.
    pub n_plays: i32,
    pub first_played_at: Option<DateTime<Utc>>,
    pub last_played_at: Option<DateTime<Utc>>,
    /// The location of the audio: a file of this server, or the location in an import.
    pub location: Option<String>,
    /// How certain the match to a recording is: Segue still searches for `ambiguous` and `unmatched` entries.
    #[serde(rename = "match")]
    pub match_quality: String,
    pub added_at: DateTime<Utc>,
}
from_row!(LibraryTrack {
    track_id,
    isrc,
    tidal_id,
    title,
    artist,
    album,
    duration,
    genre,
    year,
    track_number,
    is_sample,
    n_plays,
    first_played_at,
    last_played_at,
    location,
    match_quality,
    added_at
});

/// The columns of a library track. `rows` is the table, or an alias of its rows.
pub(crate) fn columns(rows: &str) -> String {
    format!(
        "recording_id AS track_id, isrc, tidal_id, title, artist, album, duration, genre, year, track_number,
            is_sample, n_plays, first_played_at, last_played_at, added_at,
            COALESCE((SELECT MIN(f.path) FROM library_files f WHERE f.user_id = {rows}.user_id
                AND f.recording_id = {rows}.recording_id AND f.missing_at IS NULL), location) AS location,
            COALESCE((SELECT MIN(e.found ->> 'outcome') FROM open_entries e WHERE e.user_id = {rows}.user_id
                AND e.recording_id = {rows}.recording_id), 'matched') AS match_quality"
    )
}

/// A track by its id, its code, or a further code in a file of the user.
const ONE_TRACK: &str =
    "WHERE user_id = $1 AND (recording_id = $2 OR isrc = $2 OR recording_id IN (SELECT n.recording_id
    FROM own_names n WHERE n.user_id = $1 AND n.kind = 'isrc' AND n.value = $2))";

impl Store {
    /// Adds tracks. A track that is in the library is not changed; a removed one is restored.
    pub async fn add_to_library(&self, owner: &UserId, tracks: &[Track]) -> Result<u64, StoreError> {
        self.insert(owner, tracks, Removed::ComesBack).await
    }

    /// Adds tracks that were never in the library. A track that the owner removed stays removed.
    pub async fn add_new_to_library(&self, owner: &UserId, tracks: &[Track]) -> Result<u64, StoreError> {
        self.insert(owner, tracks, Removed::StaysAway).await
    }

    async fn insert(&self, owner: &UserId, tracks: &[Track], removed: Removed) -> Result<u64, StoreError> {
        let new: Vec<_> = tracks.iter().cloned().map(super::NewLibraryTrack::catalogued).collect();
        let mut tx = self.begin().await?;
        let n_added = insert_tracks(&mut tx, owner, &new, removed, Priority::ByHand).await?;
        tx.commit().await?;
        Ok(n_added)
    }

    pub async fn library_track(&self, owner: &UserId, name: &TrackRef) -> Result<LibraryTrack, StoreError> {
        static SQL: Sql = Sql::new(|| {
            let columns = columns("library_tracks");
            format!(
                "SELECT {columns} FROM library_tracks {ONE_TRACK} AND removed_at IS NULL ORDER BY recording_id LIMIT 1"
            )
        });
        let found = self.read(&SQL).bind(owner.as_str()).bind(name.to_string()).fetch_optional().await?;
        found.ok_or(StoreError::NotFound)
    }

    pub async fn remove_from_library(&self, owner: &UserId, name: &TrackRef) -> Result<(), StoreError> {
        static SQL: Sql = Sql::new(|| {
            format!(
                "UPDATE library_tracks SET removed_at = $3 {ONE_TRACK} AND removed_at IS NULL RETURNING recording_id"
            )
        });
        let mut tx = self.begin().await?;
        lock_library(&mut tx, owner.as_str()).await?;
        let query = tx.query(&SQL).bind(owner.as_str()).bind(name.to_string()).bind(self.clock.now());
        let removed: Vec<(String,)> = query.fetch_all().await?;
        if removed.is_empty() {
            return Err(StoreError::NotFound);
        }
        let recordings: Vec<String> = removed.into_iter().map(|(id,)| id).collect();
        park(&mut tx, &recordings).await?;
        project(&mut tx, &recordings).await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn restore_to_library(&self, owner: &UserId, name: &TrackRef) -> Result<LibraryTrack, StoreError> {
        static SQL: Sql = Sql::new(|| {
            let columns = columns("library_tracks");
            format!(
                "UPDATE library_tracks SET removed_at = NULL, left_with_file = FALSE {ONE_TRACK} AND erased_at IS NULL
                    AND recording_id NOT IN (SELECT recording_id FROM track_merges
                        WHERE user_id = $1 AND kind = 'merge' AND undone_at IS NULL)
                RETURNING {columns}"
            )
        });
        let mut tx = self.begin().await?;
        lock_library(&mut tx, owner.as_str()).await?;
        let query = tx.query(&SQL).bind(owner.as_str()).bind(name.to_string());
        let mut restored: Vec<LibraryTrack> = query.fetch_all().await?;
        let recordings: Vec<String> = restored.iter().map(|track| track.track_id.clone()).collect();
        let track = restored.pop().ok_or(StoreError::NotFound)?;
        wake(&mut tx, &recordings).await?;
        project(&mut tx, &recordings).await?;
        tx.commit().await?;
        Ok(track)
    }
}

/// The text in which a part is searched.
pub(crate) fn searchable(texts: &[&str]) -> String {
    texts.join(" ").to_lowercase()
}

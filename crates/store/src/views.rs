//! Artists, albums and genres: views of the tracks a user has.

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Store, StoreError};

/// An artist of the user's tracks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
pub struct ArtistLine {
    pub name: String,
    pub track_count: i64,
    pub album_count: i64,
}

/// An album of the user's tracks.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct AlbumLine {
    pub title: String,
    pub artist: String,
    pub track_count: i64,
    pub year: Option<i32>,
    pub added_at: DateTime<Utc>,
    /// A track of it whose file has a picture.
    pub pictured: Option<String>,
}

/// A genre, or the first year of a decade, of the user's tracks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
pub struct GroupLine {
    pub name: String,
    pub track_count: i64,
}

impl Store {
    /// By name, with how many there are in all.
    pub async fn artists(
        &self,
        owner: &UserId,
        words: Option<&str>,
        (offset, limit): (u32, u32),
    ) -> Result<(Vec<ArtistLine>, i64), StoreError> {
        const PAGE: &str = r"SELECT MIN(artist) AS name, COUNT(*) AS track_count,
                COUNT(DISTINCT CASE WHEN album <> '' THEN LOWER(album) END) AS album_count
            FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL AND artist <> ''
                AND ($2 IS NULL OR LOWER(artist) LIKE $2 ESCAPE '\')
            GROUP BY LOWER(artist) ORDER BY LOWER(artist) LIMIT $3 OFFSET $4";
        const COUNT: &str = r"SELECT COUNT(DISTINCT LOWER(artist)) FROM library_tracks
            WHERE user_id = $1 AND removed_at IS NULL AND artist <> ''
                AND ($2 IS NULL OR LOWER(artist) LIKE $2 ESCAPE '\')";
        let pattern = words.map(super::like_pattern);
        let page = self.read(PAGE).bind(owner.as_str()).bind(pattern.as_deref());
        let artists = page.bind(i64::from(limit)).bind(i64::from(offset)).fetch_all().await?;
        let (n,): (i64,) = self.read(COUNT).bind(owner.as_str()).bind(pattern.as_deref()).fetch_one().await?;
        Ok((artists, n))
    }

    /// Albums of the tracks the user has, newest first. Tracks of several artists are one album where their files name
    /// an album artist.
    pub async fn album_views(&self, owner: &UserId, words: Option<&str>) -> Result<Vec<AlbumLine>, StoreError> {
        const SQL: &str = r"SELECT MIN(album) AS title, MIN(COALESCE(album_artist, artist)) AS artist,
                COUNT(*) AS track_count, MIN(year) AS year, MAX(added_at) AS added_at,
                MIN(CASE WHEN EXISTS (SELECT 1 FROM library_files f WHERE f.user_id = library_tracks.user_id
                    AND f.recording_id = library_tracks.recording_id AND f.missing_at IS NULL
                    AND f.artwork IS NOT NULL) THEN recording_id END) AS pictured
            FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL AND album <> ''
                AND ($2 IS NULL OR LOWER(album || ' ' || COALESCE(album_artist, artist)) LIKE $2 ESCAPE '\')
            GROUP BY LOWER(album), LOWER(COALESCE(album_artist, artist))
            ORDER BY MAX(added_at) DESC, LOWER(MIN(album))";
        let pattern = words.map(super::like_pattern);
        Ok(self.read(SQL).bind(owner.as_str()).bind(pattern.as_deref()).fetch_all().await?)
    }

    /// Genres, the most frequent first.
    pub async fn genres(&self, owner: &UserId) -> Result<Vec<GroupLine>, StoreError> {
        const SQL: &str = "SELECT MIN(genre) AS name, COUNT(*) AS track_count FROM library_tracks
            WHERE user_id = $1 AND removed_at IS NULL AND genre IS NOT NULL
            GROUP BY LOWER(genre) ORDER BY COUNT(*) DESC, LOWER(MIN(genre)) LIMIT 500";
        Ok(self.read(SQL).bind(owner.as_str()).fetch_all().await?)
    }

    /// Decades, by their first year, the newest first.
    pub async fn decades(&self, owner: &UserId) -> Result<Vec<GroupLine>, StoreError> {
        const SQL: &str = "SELECT CAST(year / 10 * 10 AS TEXT) AS name, COUNT(*) AS track_count FROM library_tracks
            WHERE user_id = $1 AND removed_at IS NULL AND year IS NOT NULL
            GROUP BY year / 10 ORDER BY year / 10 DESC";
        Ok(self.read(SQL).bind(owner.as_str()).fetch_all().await?)
    }
}

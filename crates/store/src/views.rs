//! Artists, albums and genres of a user's tracks.

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Store, StoreError, db::Sql};

/// An artist of the user's tracks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtistLine {
    pub name: String,
    pub track_count: i64,
    pub album_count: i64,
}
from_row!(ArtistLine { name, track_count, album_count });

/// An album of the user's tracks.
#[derive(Clone, Debug, PartialEq)]
pub struct AlbumLine {
    pub title: String,
    pub artist: String,
    pub track_count: i64,
    pub year: Option<i32>,
    pub added_at: DateTime<Utc>,
    /// A track of it whose file has a picture.
    pub pictured: Option<String>,
}
from_row!(AlbumLine { title, artist, track_count, year, added_at, pictured });

/// A genre of the user's tracks, or the first year of a decade.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupLine {
    pub name: String,
    pub track_count: i64,
}
from_row!(GroupLine { name, track_count });

/// The albums of an artist are counted only for the artists of the page: PostgreSQL would count those of skipped artists too.
pub(crate) const ARTISTS: &str = r"SELECT found.name, found.n_tracks AS track_count,
        (SELECT COUNT(DISTINCT LOWER(l.album)) FROM library_tracks l WHERE l.user_id = $1 AND l.removed_at IS NULL
            AND LOWER(SUBSTR(l.artist, 1, 100)) = LOWER(SUBSTR(found.name, 1, 100))
            AND LOWER(l.artist) = LOWER(found.name) AND l.album <> '') AS album_count
    FROM (SELECT g.name, g.key, g.n_tracks FROM library_groups g
        WHERE g.user_id = $1 AND g.kind = 'artist' AND ($2 IS NULL OR g.key LIKE $2 ESCAPE '\')
        ORDER BY g.key LIMIT $3 OFFSET $4) AS found
    ORDER BY found.key";
pub(crate) const N_ARTISTS: &str = r"SELECT COUNT(*) FROM library_groups g
    WHERE g.user_id = $1 AND g.kind = 'artist' AND ($2 IS NULL OR g.key LIKE $2 ESCAPE '\')";
fn albums_in_order(columns: &str) -> String {
    format!(
        r"SELECT {columns} FROM library_groups g WHERE g.user_id = $1 AND g.kind = 'album'
            AND ($2 IS NULL OR LOWER(g.name || ' ' || g.artist) LIKE $2 ESCAPE '\')
        ORDER BY g.added_at DESC, g.key LIMIT $3 OFFSET $4"
    )
}

/// The picture is also read only for the albums of the page.
fn with_picture(found: &str) -> String {
    format!(
        "SELECT found.name AS title, found.artist, found.n_tracks AS track_count, found.year, found.added_at,
            (SELECT MIN(l.recording_id) FROM library_tracks l JOIN library_files f ON f.user_id = l.user_id
                AND f.recording_id = l.recording_id AND f.missing_at IS NULL AND f.artwork IS NOT NULL
             WHERE l.user_id = $1 AND l.removed_at IS NULL
                AND LOWER(SUBSTR(l.album, 1, 100)) = LOWER(SUBSTR(found.name, 1, 100))
                AND LOWER(l.album) = LOWER(found.name)
                AND LOWER(COALESCE(l.album_artist, l.artist)) = LOWER(found.artist)) AS pictured
        FROM ({found}) AS found"
    )
}

pub(crate) static ALBUMS: Sql =
    Sql::new(|| with_picture(&albums_in_order("g.*")) + " ORDER BY found.added_at DESC, found.key");
/// $4 is the character between the names in a key.
pub(crate) static ALBUM: Sql = Sql::new(|| {
    with_picture(
        "SELECT g.* FROM library_groups g WHERE g.user_id = $1 AND g.kind = 'album'
            AND g.key = LOWER(SUBSTR($2, 1, 200)) || $4 || LOWER(SUBSTR($3, 1, 200))",
    )
});
static ALBUM_NAMES: Sql = Sql::new(|| albums_in_order("g.name, g.artist"));
pub(crate) const GENRES: &str = "SELECT name, n_tracks AS track_count FROM library_groups
    WHERE user_id = $1 AND kind = 'genre' ORDER BY n_tracks DESC, key LIMIT 500";
pub(crate) const DECADES: &str = "SELECT CAST(year / 10 * 10 AS TEXT) AS name,
        CAST(SUM(n_tracks) AS BIGINT) AS track_count FROM library_groups
    WHERE user_id = $1 AND kind = 'year' GROUP BY year / 10 ORDER BY year / 10 DESC";

/// Views of `library_groups`, which database triggers keep up to date.
impl Store {
    /// Artists by name, and how many there are.
    pub async fn artists(
        &self,
        owner: &UserId,
        words: Option<&str>,
        (offset, limit): (u32, u32),
    ) -> Result<(Vec<ArtistLine>, i64), StoreError> {
        let pattern = words.map(super::like_pattern);
        let page = self.read(ARTISTS).bind(owner.as_str()).bind(pattern.as_deref());
        let artists = page.bind(i64::from(limit)).bind(i64::from(offset)).fetch_all().await?;
        let (n,): (i64,) = self.read(N_ARTISTS).bind(owner.as_str()).bind(pattern.as_deref()).fetch_one().await?;
        Ok((artists, n))
    }

    /// Albums of the user's tracks, newest first. Tracks of several artists are one album if their files have an album
    /// artist.
    pub async fn album_views(
        &self,
        owner: &UserId,
        words: Option<&str>,
        (offset, limit): (u32, u32),
    ) -> Result<Vec<AlbumLine>, StoreError> {
        let pattern = words.map(super::like_pattern);
        let page = self.read(&ALBUMS).bind(owner.as_str()).bind(pattern.as_deref());
        Ok(page.bind(i64::from(limit)).bind(i64::from(offset)).fetch_all().await?)
    }

    /// An album by its title and its artist.
    pub async fn album_view(&self, owner: &UserId, title: &str, artist: &str) -> Result<Option<AlbumLine>, StoreError> {
        let album = self.read(&ALBUM).bind(owner.as_str()).bind(title).bind(artist).bind("\u{1f}");
        Ok(album.fetch_optional().await?)
    }

    /// The title and the artist of the first albums, in the order of [`Store::album_views`].
    pub async fn album_names(
        &self,
        owner: &UserId,
        words: Option<&str>,
        limit: u32,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let pattern = words.map(super::like_pattern);
        let names = self.read(&ALBUM_NAMES).bind(owner.as_str()).bind(pattern.as_deref());
        Ok(names.bind(i64::from(limit)).bind(0_i64).fetch_all().await?)
    }

    /// Genres, the most frequent first.
    pub async fn genres(&self, owner: &UserId) -> Result<Vec<GroupLine>, StoreError> {
        Ok(self.read(GENRES).bind(owner.as_str()).fetch_all().await?)
    }

    /// Decades, by their first year, the newest first.
    pub async fn decades(&self, owner: &UserId) -> Result<Vec<GroupLine>, StoreError> {
        Ok(self.read(DECADES).bind(owner.as_str()).fetch_all().await?)
    }
}

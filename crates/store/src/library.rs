//! The library: tracks and albums a user owns, and the one question every tool asks: is this in it?

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sqlx::types::Json;
use std::collections::BTreeSet;

use super::{
    Priority, Store, StoreError,
    db::Tx,
    now,
    schedule::{park, schedule, wake},
};
use music::{Isrc, Track, identity::same_length};

/// A track as the library lists it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
pub struct LibraryTrack {
    pub isrc: String,
    pub tidal_id: Option<String>,
    pub title: String,
    pub artist: String,
    pub album: String,
    pub duration: Option<f64>,
    pub added_at: DateTime<Utc>,
}

/// A saved album with the codes of its tracks.
#[derive(Clone, Debug)]
pub struct LibraryAlbum<A> {
    pub album: A,
    pub added_at: DateTime<Utc>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LibrarySort {
    /// Newest first.
    #[default]
    Added,
    Title,
    Artist,
    Album,
}

/// What to list: words to look for, in which order, and which part.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    pub words: Option<&'a str>,
    pub sort: LibrarySort,
    pub offset: u32,
    pub limit: u32,
}

/// Something that may be in a library. A recording is recognised by its code, its catalogue id, or its name and length.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub isrc: Option<Isrc>,
    pub tidal_id: Option<String>,
    pub recording: String,
    pub duration: Option<f64>,
}

impl From<&Track> for Candidate {
    fn from(track: &Track) -> Self {
        Self {
            isrc: Some(track.isrc.clone()),
            tidal_id: track.tidal_id.clone(),
            recording: track.recording_name().to_string(),
            duration: track.duration,
        }
    }
}

const CODES_OF_ALBUM: &str = "SELECT isrc FROM library_album_tracks WHERE user_id = $1 AND album_id = $2 ORDER BY isrc";

/// What becomes of a track that the owner had and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    ComesBack,
    StaysRemoved,
}

/// Adds tracks to a library and schedules their enrichment. Returns how many are new there.
pub(crate) async fn insert_tracks(
    tx: &mut Tx,
    owner: &UserId,
    tracks: &[Track],
    removed: Removed,
    priority: Priority,
) -> Result<u64, StoreError> {
    const BRING_BACK: &str = "INSERT INTO library_tracks
            (user_id, isrc, tidal_id, recording, duration, title, artist, album, searchable, added_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (user_id, isrc) DO UPDATE
            SET removed_at = NULL, added_at = excluded.added_at WHERE library_tracks.removed_at IS NOT NULL";
    const LEAVE: &str = "INSERT INTO library_tracks
            (user_id, isrc, tidal_id, recording, duration, title, artist, album, searchable, added_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (user_id, isrc) DO NOTHING";
    let sql = match removed {
        Removed::ComesBack => BRING_BACK,
        Removed::StaysRemoved => LEAVE,
    };
    let mut n_added = 0;
    for track in tracks {
        n_added += tx
            .query(sql)
            .bind(owner.as_str())
            .bind(track.isrc.as_str())
            .bind(track.tidal_id.as_deref())
            .bind(track.recording_name().to_string())
            .bind(track.duration)
            .bind(&track.title)
            .bind(&track.artist)
            .bind(&track.album)
            .bind(searchable(&[&track.title, &track.artist, &track.album]))
            .bind(now())
            .execute()
            .await?;
    }
    schedule(tx, tracks, priority).await?;
    Ok(n_added)
}

async fn codes_of_album(tx: &mut Tx, owner: &UserId, album_id: &str) -> Result<Vec<String>, StoreError> {
    let codes: Vec<(String,)> = tx.query(CODES_OF_ALBUM).bind(owner.as_str()).bind(album_id).fetch_all().await?;
    Ok(codes.into_iter().map(|(isrc,)| isrc).collect())
}

macro_rules! list_tracks {
    ($order:literal) => {
        concat!(
            r"SELECT isrc, tidal_id, title, artist, album, duration, added_at FROM library_tracks
              WHERE user_id = $1 AND removed_at IS NULL AND ($2 IS NULL OR searchable LIKE $2 ESCAPE '\') ORDER BY ",
            $order,
            " LIMIT $3 OFFSET $4"
        )
    };
}

impl Store {
    /// Adds tracks. What is there already stays where it is; what was removed comes back.
    pub async fn add_to_library(&self, owner: &UserId, tracks: &[Track]) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        let n_added = insert_tracks(&mut tx, owner, tracks, Removed::ComesBack, Priority::ByHand).await?;
        tx.commit().await?;
        Ok(n_added)
    }

    /// Adds tracks that were never there. What the owner removed stays removed.
    pub async fn add_new_to_library(&self, owner: &UserId, tracks: &[Track]) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        let n_added = insert_tracks(&mut tx, owner, tracks, Removed::StaysRemoved, Priority::ByHand).await?;
        tx.commit().await?;
        Ok(n_added)
    }

    pub async fn library_tracks(
        &self,
        owner: &UserId,
        listing: Listing<'_>,
    ) -> Result<(Vec<LibraryTrack>, i64), StoreError> {
        const COUNT: &str = r"SELECT COUNT(*) FROM library_tracks
            WHERE user_id = $1 AND removed_at IS NULL AND ($2 IS NULL OR searchable LIKE $2 ESCAPE '\')";
        let sql = match listing.sort {
            LibrarySort::Added => list_tracks!("added_at DESC, isrc DESC"),
            LibrarySort::Title => list_tracks!("LOWER(title), isrc"),
            LibrarySort::Artist => list_tracks!("LOWER(artist), LOWER(album), isrc"),
            LibrarySort::Album => list_tracks!("LOWER(album), isrc"),
        };
        let pattern = listing.words.map(super::like_pattern);
        let tracks = self
            .read(sql)
            .bind(owner.as_str())
            .bind(pattern.as_deref())
            .bind(i64::from(listing.limit))
            .bind(i64::from(listing.offset))
            .fetch_all()
            .await?;
        let (n,): (i64,) = self.read(COUNT).bind(owner.as_str()).bind(pattern.as_deref()).fetch_one().await?;
        Ok((tracks, n))
    }

    pub async fn library_track(&self, owner: &UserId, isrc: &Isrc) -> Result<LibraryTrack, StoreError> {
        const SQL: &str = "SELECT isrc, tidal_id, title, artist, album, duration, added_at FROM library_tracks
            WHERE user_id = $1 AND isrc = $2 AND removed_at IS NULL";
        let found = self.read(SQL).bind(owner.as_str()).bind(isrc.as_str()).fetch_optional().await?;
        found.ok_or(StoreError::NotFound)
    }

    pub async fn remove_from_library(&self, owner: &UserId, isrc: &Isrc) -> Result<(), StoreError> {
        const SQL: &str =
            "UPDATE library_tracks SET removed_at = $3 WHERE user_id = $1 AND isrc = $2 AND removed_at IS NULL";
        let mut tx = self.begin().await?;
        let query = tx.query(SQL).bind(owner.as_str()).bind(isrc.as_str()).bind(now());
        if query.execute().await? == 0 {
            return Err(StoreError::NotFound);
        }
        park(&mut tx, [isrc.as_str()]).await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn restore_to_library(&self, owner: &UserId, isrc: &Isrc) -> Result<LibraryTrack, StoreError> {
        const SQL: &str = "UPDATE library_tracks SET removed_at = NULL WHERE user_id = $1 AND isrc = $2
            RETURNING isrc, tidal_id, title, artist, album, duration, added_at";
        let mut tx = self.begin().await?;
        let found: Option<LibraryTrack> =
            tx.query(SQL).bind(owner.as_str()).bind(isrc.as_str()).fetch_optional().await?;
        let track = found.ok_or(StoreError::NotFound)?;
        wake(&mut tx, [isrc.as_str()]).await?;
        tx.commit().await?;
        Ok(track)
    }

    /// Which of these are in the library, by themselves or on a saved album: one query, whatever their number.
    pub async fn owned(&self, owner: &UserId, candidates: &[Candidate]) -> Result<Vec<bool>, StoreError> {
        const SQLITE: &str = "SELECT isrc, tidal_id, recording, duration FROM library_tracks
                WHERE user_id = $1 AND removed_at IS NULL AND (isrc IN (SELECT value FROM json_each($2))
                    OR recording IN (SELECT value FROM json_each($3)) OR tidal_id IN (SELECT value FROM json_each($4)))
            UNION ALL SELECT t.isrc, NULL, t.recording, t.duration FROM library_album_tracks t
                JOIN library_albums a ON a.user_id = t.user_id AND a.album_id = t.album_id AND a.removed_at IS NULL
                WHERE t.user_id = $1 AND (t.isrc IN (SELECT value FROM json_each($2))
                    OR t.recording IN (SELECT value FROM json_each($3)))";
        const POSTGRES: &str = "SELECT isrc, tidal_id, recording, duration FROM library_tracks
                WHERE user_id = $1 AND removed_at IS NULL AND (isrc IN (SELECT jsonb_array_elements_text($2))
                    OR recording IN (SELECT jsonb_array_elements_text($3))
                    OR tidal_id IN (SELECT jsonb_array_elements_text($4)))
            UNION ALL SELECT t.isrc, NULL, t.recording, t.duration FROM library_album_tracks t
                JOIN library_albums a ON a.user_id = t.user_id AND a.album_id = t.album_id AND a.removed_at IS NULL
                WHERE t.user_id = $1 AND (t.isrc IN (SELECT jsonb_array_elements_text($2))
                    OR t.recording IN (SELECT jsonb_array_elements_text($3)))";
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let isrcs: Vec<_> = candidates.iter().filter_map(|candidate| candidate.isrc.as_ref()).collect();
        let recordings: Vec<_> = candidates.iter().map(|candidate| &candidate.recording).collect();
        let tidal_ids: Vec<_> = candidates.iter().filter_map(|candidate| candidate.tidal_id.as_ref()).collect();
        let sql = self.in_dialect(SQLITE, POSTGRES);
        let owned: Vec<OwnedRow> = self
            .read(sql)
            .bind(owner.as_str())
            .bind(Json(isrcs))
            .bind(Json(recordings))
            .bind(Json(tidal_ids))
            .fetch_all()
            .await?;
        Ok(candidates.iter().map(|candidate| owned.iter().any(|row| row.is(candidate))).collect())
    }

    /// Saves an album and the tracks on it.
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
        const TRACK: &str = "INSERT INTO library_album_tracks (user_id, album_id, isrc, recording, duration)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id, album_id, isrc) DO NOTHING";
        let album = serde_json::to_value(album).map_err(|error| sqlx::Error::Encode(error.into()))?;
        let mut tx = self.begin().await?;
        tx.query(ALBUM)
            .bind(owner.as_str())
            .bind(album_id)
            .bind(Json(album))
            .bind(title)
            .bind(artist)
            .bind(searchable(&[title, artist]))
            .bind(now())
            .execute()
            .await?;
        for track in tracks {
            tx.query(TRACK)
                .bind(owner.as_str())
                .bind(album_id)
                .bind(track.isrc.as_str())
                .bind(track.recording_name().to_string())
                .bind(track.duration)
                .execute()
                .await?;
        }
        schedule(&mut tx, tracks, Priority::ByHand).await?;
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
        let query = tx.query(SQL).bind(owner.as_str()).bind(album_id).bind(now());
        if query.execute().await? == 0 {
            return Err(StoreError::NotFound);
        }
        let codes = codes_of_album(&mut tx, owner, album_id).await?;
        park(&mut tx, codes.iter().map(String::as_str)).await?;
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
        let codes = codes_of_album(&mut tx, owner, album_id).await?;
        wake(&mut tx, codes.iter().map(String::as_str)).await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn owned_albums(&self, owner: &UserId, album_ids: &[&str]) -> Result<BTreeSet<String>, StoreError> {
        const SQLITE: &str = "SELECT album_id FROM library_albums
            WHERE user_id = $1 AND removed_at IS NULL AND album_id IN (SELECT value FROM json_each($2))";
        const POSTGRES: &str = "SELECT album_id FROM library_albums
            WHERE user_id = $1 AND removed_at IS NULL AND album_id IN (SELECT jsonb_array_elements_text($2))";
        let sql = self.in_dialect(SQLITE, POSTGRES);
        let rows: Vec<(String,)> = self.read(sql).bind(owner.as_str()).bind(Json(album_ids)).fetch_all().await?;
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }
}

#[derive(sqlx::FromRow)]
struct OwnedRow {
    isrc: String,
    tidal_id: Option<String>,
    recording: String,
    duration: Option<f64>,
}

impl OwnedRow {
    fn is(&self, candidate: &Candidate) -> bool {
        let same_code = candidate.isrc.as_ref().is_some_and(|isrc| isrc.as_str() == self.isrc);
        let same_id = candidate.tidal_id.is_some() && candidate.tidal_id == self.tidal_id;
        same_code
            || same_id
            || (candidate.recording == self.recording && same_length(candidate.duration, self.duration))
    }
}

pub(crate) fn searchable(texts: &[&str]) -> String {
    texts.join(" ").to_lowercase()
}

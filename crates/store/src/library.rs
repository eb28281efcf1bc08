//! The library: tracks a user owns, listed, added, removed and restored.

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Priority, Store, StoreError,
    db::Query,
    documents::project,
    library_insert::{Removed, insert_tracks},
    schedule::{park, wake},
};
use music::{Track, TrackRef};

/// A track as the library lists it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, sqlx::FromRow)]
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
    /// How often a history says it was played.
    pub n_plays: i32,
    pub first_played_at: Option<DateTime<Utc>>,
    pub last_played_at: Option<DateTime<Utc>>,
    /// Where the audio is: a file of this server, or what an import said.
    pub location: Option<String>,
    /// How sure it is which recording this is: `ambiguous` and `unmatched` are still looked for.
    #[sqlx(rename = "match_quality")]
    #[serde(rename = "match")]
    pub match_quality: String,
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
    /// Newest release first.
    Year,
    /// Most played first.
    Plays,
}

/// What to list: words to look for, what must be exactly so, in which order, and which part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listing<'a> {
    pub words: Option<&'a str>,
    pub artist: Option<&'a str>,
    pub album: Option<&'a str>,
    pub genre: Option<&'a str>,
    pub year: Option<i32>,
    /// Only tracks with their year in the ten from this one on.
    pub decade: Option<i32>,
    pub sort: LibrarySort,
    pub offset: u32,
    pub limit: u32,
}

impl Listing<'_> {
    fn has_no_filter(&self) -> bool {
        let Self { words, artist, album, genre, year, decade, sort: _, offset: _, limit: _ } = self;
        [words, artist, album, genre].iter().all(|text| text.is_none()) && year.is_none() && decade.is_none()
    }

    fn bound<'c>(&self, query: Query<'c>, owner: &UserId, pattern: Option<&str>) -> Query<'c> {
        let named = query.bind(owner.as_str()).bind(pattern).bind(self.artist).bind(self.album);
        named.bind(self.genre).bind(self.year).bind(self.decade)
    }
}

macro_rules! columns {
    () => {
        "recording_id AS track_id, isrc, tidal_id, title, artist, album, duration, genre, year, track_number,
            is_sample, n_plays, first_played_at, last_played_at, added_at,
            COALESCE((SELECT MIN(f.path) FROM library_files f WHERE f.user_id = library_tracks.user_id
                AND f.recording_id = library_tracks.recording_id AND f.missing_at IS NULL), location) AS location,
            COALESCE((SELECT MIN(e.found ->> 'outcome') FROM open_entries e WHERE e.user_id = library_tracks.user_id
                AND e.recording_id = library_tracks.recording_id), 'matched') AS match_quality"
    };
}

macro_rules! listed {
    () => {
        r" FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL
            AND ($2 IS NULL OR searchable LIKE $2 ESCAPE '\') AND ($3 IS NULL OR LOWER(artist) = LOWER($3) OR LOWER(album_artist) = LOWER($3))
            AND ($4 IS NULL OR LOWER(album) = LOWER($4)) AND ($5 IS NULL OR LOWER(genre) = LOWER($5))
            AND ($6 IS NULL OR year = $6) AND ($7 IS NULL OR (year >= $7 AND year < $7 + 10))"
    };
}

macro_rules! list_tracks {
    ($order:literal) => {
        concat!("SELECT ", columns!(), listed!(), " ORDER BY ", $order, " LIMIT $8 OFFSET $9")
    };
}

/// The orders of a listing. Each has an index (migration 0015), so that a page without filters reads its own rows only.
/// Names are compared by their first hundred letters: an entry of an index has a largest size.
macro_rules! in_order {
    ($select:ident, $sort:expr) => {
        match $sort {
            LibrarySort::Added => $select!("added_at DESC, recording_id DESC"),
            LibrarySort::Title => $select!("LOWER(SUBSTR(title, 1, 100)), recording_id"),
            LibrarySort::Artist => $select!(
                "LOWER(SUBSTR(artist, 1, 100)), LOWER(SUBSTR(album, 1, 100)), disc_number, track_number, recording_id"
            ),
            LibrarySort::Album => {
                $select!("LOWER(SUBSTR(album, 1, 100)), disc_number, track_number, recording_id")
            }
            LibrarySort::Year => {
                $select!("COALESCE(year, 0) DESC, LOWER(SUBSTR(album, 1, 100)), track_number, recording_id")
            }
            LibrarySort::Plays => $select!("n_plays DESC, LOWER(SUBSTR(title, 1, 100)), recording_id"),
        }
    };
}

macro_rules! every_track {
    ($order:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL ORDER BY ",
            $order,
            " LIMIT $2 OFFSET $3"
        )
    };
}

/// A page of a listing without filters.
pub(crate) fn every_track_by(sort: LibrarySort) -> &'static str {
    in_order!(every_track, sort)
}

pub(crate) const COUNT_EVERY_TRACK: &str =
    "SELECT COUNT(*) FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL";

/// A track by its id, its code, or a further code that a file of the user gives it.
macro_rules! one_track {
    () => {
        "WHERE user_id = $1 AND (recording_id = $2 OR isrc = $2 OR recording_id IN (SELECT n.recording_id
            FROM own_names n WHERE n.user_id = $1 AND n.kind = 'isrc' AND n.value = $2))"
    };
}

impl Store {
    /// Adds tracks. What is there already stays where it is; what was removed comes back.
    pub async fn add_to_library(&self, owner: &UserId, tracks: &[Track]) -> Result<u64, StoreError> {
        self.insert(owner, tracks, Removed::ComesBack).await
    }

    /// Adds tracks that were never there. What the owner removed stays removed.
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

    pub async fn library_tracks(
        &self,
        owner: &UserId,
        listing: Listing<'_>,
    ) -> Result<(Vec<LibraryTrack>, i64), StoreError> {
        const COUNT: &str = concat!("SELECT COUNT(*)", listed!());
        let (limit, offset) = (i64::from(listing.limit), i64::from(listing.offset));
        if listing.has_no_filter() {
            let page = self.read(every_track_by(listing.sort)).bind(owner.as_str()).bind(limit).bind(offset);
            let tracks = page.fetch_all().await?;
            let (n,): (i64,) = self.read(COUNT_EVERY_TRACK).bind(owner.as_str()).fetch_one().await?;
            return Ok((tracks, n));
        }
        let sql = in_order!(list_tracks, listing.sort);
        let pattern = listing.words.map(super::like_pattern);
        let page = listing.bound(self.read(sql), owner, pattern.as_deref());
        let tracks = page.bind(limit).bind(offset).fetch_all().await?;
        let count = listing.bound(self.read(COUNT), owner, pattern.as_deref());
        let (n,): (i64,) = count.fetch_one().await?;
        Ok((tracks, n))
    }

    pub async fn library_track(&self, owner: &UserId, name: &TrackRef) -> Result<LibraryTrack, StoreError> {
        const SQL: &str = concat!(
            "SELECT ",
            columns!(),
            " FROM library_tracks ",
            one_track!(),
            " AND removed_at IS NULL ORDER BY recording_id LIMIT 1"
        );
        let found = self.read(SQL).bind(owner.as_str()).bind(name.to_string()).fetch_optional().await?;
        found.ok_or(StoreError::NotFound)
    }

    pub async fn remove_from_library(&self, owner: &UserId, name: &TrackRef) -> Result<(), StoreError> {
        const SQL: &str = concat!(
            "UPDATE library_tracks SET removed_at = $3 ",
            one_track!(),
            " AND removed_at IS NULL RETURNING recording_id"
        );
        let mut tx = self.begin().await?;
        let query = tx.query(SQL).bind(owner.as_str()).bind(name.to_string()).bind_now();
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
        const SQL: &str = concat!(
            "UPDATE library_tracks SET removed_at = NULL, left_with_file = FALSE ",
            one_track!(),
            " AND recording_id NOT IN (SELECT recording_id FROM track_merges WHERE user_id = $1 AND kind = 'merge'
                    AND undone_at IS NULL) RETURNING ",
            columns!()
        );
        let mut tx = self.begin().await?;
        let query = tx.query(SQL).bind(owner.as_str()).bind(name.to_string());
        let mut restored: Vec<LibraryTrack> = query.fetch_all().await?;
        let recordings: Vec<String> = restored.iter().map(|track| track.track_id.clone()).collect();
        let track = restored.pop().ok_or(StoreError::NotFound)?;
        wake(&mut tx, &recordings).await?;
        project(&mut tx, &recordings).await?;
        tx.commit().await?;
        Ok(track)
    }
}

pub(crate) fn searchable(texts: &[&str]) -> String {
    texts.join(" ").to_lowercase()
}

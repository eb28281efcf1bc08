//! A page of a library and the number of its tracks: which rows are read for which filter.
//!
//! No statement counts the rows of a user: `library_groups` has the numbers (migration 0017). A filter that many tracks
//! match is applied while the index of the sort order is read. If few tracks match, the index of the filter finds them,
//! and then they are sorted. Words have an index of their own (migration 0023).

use engine::UserId;
use music::name_words::words_pattern;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Store, StoreError,
    db::{Db, Query},
    library::{LibraryTrack, columns},
};

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

/// What to list: search words, exact filters, the order, and the page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listing<'a> {
    /// Each word must begin a word of the title, the artist or the album.
    pub words: Option<&'a str>,
    pub artist: Option<&'a str>,
    pub album: Option<&'a str>,
    pub genre: Option<&'a str>,
    pub year: Option<i32>,
    /// Only tracks of the ten years that begin with this one.
    pub decade: Option<i32>,
    pub sort: LibrarySort,
    pub offset: u32,
    pub limit: u32,
}

impl Listing<'_> {
    fn n_filters(&self) -> usize {
        let Self { words, artist, album, genre, year, decade, sort: _, offset: _, limit: _ } = self;
        let texts = [words, artist, album, genre].into_iter().filter(|text| text.is_some()).count();
        texts + [year, decade].into_iter().filter(|number| number.is_some()).count()
    }

    /// Binds the arguments of every statement with filters.
    fn bound<'c>(&self, query: Query<'c>, owner: &UserId, pattern: Option<&str>) -> Query<'c> {
        let named = query.bind(owner.as_str()).bind(pattern).bind(self.artist).bind(self.album);
        named.bind(self.genre).bind(self.year).bind(self.decade)
    }
}

/// Up to this number of tracks, they are found by the filter and sorted, instead of searched in the order of the page.
const FEW: i64 = 1_000;

macro_rules! filters {
    () => {
        " AND ($2 IS NULL OR searchable LIKE $2)
            AND ($3 IS NULL OR LOWER(artist) = LOWER($3) OR LOWER(album_artist) = LOWER($3))
            AND ($4 IS NULL OR LOWER(album) = LOWER($4)) AND ($5 IS NULL OR LOWER(genre) = LOWER($5))
            AND ($6 IS NULL OR year = $6) AND ($7 IS NULL OR (year >= $7 AND year < $7 + 10))"
    };
}

/// The sort orders. Each has an index (migration 0015), so that a page without filters reads only its own rows. Names
/// are compared by their first hundred letters, because the size of an index entry is limited.
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

/// Reads the rows in the order of the page and applies the filters to each.
macro_rules! many {
    ($order:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL",
            filters!(),
            " ORDER BY ",
            $order,
            " LIMIT $8 OFFSET $9"
        )
    };
}

macro_rules! own_rows {
    ($condition:literal) => {
        concat!("SELECT recording_id FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL AND ", $condition)
    };
}

/// Entries of the index of words: those of the owner, whose id is a word of each, with words that begin as in the pattern.
macro_rules! match_sqlite {
    () => {
        "library_words MATCH 'owner:' || HEX($1) || ' AND words:(' || REPLACE(SUBSTR($2, 3), '%', '*') || ')'"
    };
}

/// The owner is a part of each word. PostgreSQL does not know how rare a word is: if the owner were a condition of the
/// inner query, or if its rows were joined, it would read all tracks. OFFSET keeps the queries apart.
macro_rules! rows_by_words {
    () => {
        "(SELECT * FROM library_tracks WHERE removed_at IS NULL AND searchable LIKE ' %'
            AND library_lexemes(user_id, searchable) @@ library_query($1, $2) OFFSET 0) AS by_words WHERE user_id = $1"
    };
}

/// The recordings that a filter finds by its index.
macro_rules! found_by {
    (artist) => {
        concat!(
            own_rows!("LOWER(SUBSTR(artist, 1, 100)) = LOWER(SUBSTR($3, 1, 100))"),
            " UNION ",
            own_rows!("album_artist IS NOT NULL AND LOWER(SUBSTR(album_artist, 1, 100)) = LOWER(SUBSTR($3, 1, 100))")
        )
    };
    (album) => {
        own_rows!("LOWER(SUBSTR(album, 1, 100)) = LOWER(SUBSTR($4, 1, 100))")
    };
    (genre) => {
        own_rows!("genre IS NOT NULL AND LOWER(SUBSTR(genre, 1, 100)) = LOWER(SUBSTR($5, 1, 100))")
    };
    (year) => {
        own_rows!("COALESCE(year, 0) = $6")
    };
    (decade) => {
        own_rows!("COALESCE(year, 0) >= $7 AND COALESCE(year, 0) < $7 + 10")
    };
    (words_sqlite) => {
        concat!(
            "SELECT r.recording_id FROM library_words CROSS JOIN library_word_rows r ON r.id = library_words.rowid
                AND r.user_id = $1 WHERE ",
            match_sqlite!()
        )
    };
}

/// The inner limit prevents SQLite from reading the whole library in the order of the page.
macro_rules! of_found {
    (words_postgres) => {
        concat!(" FROM (SELECT * FROM ", rows_by_words!(), filters!(), " LIMIT 1000000000) AS found")
    };
    ($filter:tt) => {
        concat!(
            " FROM (SELECT * FROM library_tracks WHERE user_id = $1 AND removed_at IS NULL AND recording_id IN (",
            found_by!($filter),
            ")",
            filters!(),
            " LIMIT 1000000000) AS found"
        )
    };
}

/// Statements that read only the rows that a filter finds.
macro_rules! few {
    ($filter:tt, $sort:expr) => {{
        macro_rules! page {
            ($order:literal) => {
                concat!("SELECT ", columns!("found"), of_found!($filter), " ORDER BY ", $order, " LIMIT $8 OFFSET $9")
            };
        }
        Statements { page: in_order!(page, $sort), count: concat!("SELECT COUNT(*)", of_found!($filter)) }
    }};
}

/// A page of a listing without filters.
pub(crate) fn every_track_by(sort: LibrarySort) -> &'static str {
    in_order!(every_track, sort)
}

#[derive(Clone, Copy)]
pub(crate) struct Statements {
    pub(crate) page: &'static str,
    pub(crate) count: &'static str,
}

/// A filter with an index, or with a stored number of tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Artist,
    Album,
    Genre,
    Year,
    Decade,
    Words,
}

impl By {
    pub(crate) fn statements(self, sort: LibrarySort, is_postgres: bool) -> Statements {
        match self {
            Self::Artist => few!(artist, sort),
            Self::Album => few!(album, sort),
            Self::Genre => few!(genre, sort),
            Self::Year => few!(year, sort),
            Self::Decade => few!(decade, sort),
            Self::Words if is_postgres => few!(words_postgres, sort),
            Self::Words => few!(words_sqlite, sort),
        }
    }
}

pub(crate) const COUNT_GROUP: &str = "SELECT CAST(COALESCE(SUM(n_tracks), 0) AS BIGINT) FROM library_groups
    WHERE user_id = $1 AND kind = $2 AND key = LOWER(SUBSTR($3, 1, 400))";
const COUNT_YEARS: &str = "SELECT CAST(COALESCE(SUM(n_tracks), 0) AS BIGINT) FROM library_groups
    WHERE user_id = $1 AND kind = 'year' AND year >= $2 AND year < $3";
pub(crate) const COUNT_WORDS_SQLITE: &str = concat!("SELECT COUNT(*) FROM library_words WHERE ", match_sqlite!());
pub(crate) const COUNT_WORDS_POSTGRES: &str = concat!("SELECT COUNT(*) FROM ", rows_by_words!());

impl Store {
    /// A page of the tracks that match the filters, and how many match.
    pub async fn library_tracks(
        &self,
        owner: &UserId,
        listing: Listing<'_>,
    ) -> Result<(Vec<LibraryTrack>, i64), StoreError> {
        let (limit, offset) = (i64::from(listing.limit), i64::from(listing.offset));
        if listing.n_filters() == 0 {
            let page = self.read(every_track_by(listing.sort)).bind(owner.as_str()).bind(limit).bind(offset);
            return Ok((page.fetch_all().await?, self.n_in_group(owner, "all", "").await?));
        }
        let pattern = listing.words.and_then(words_pattern);
        let (by, n) = self.narrowest(owner, &listing, pattern.as_deref()).await?;
        let statements = by.statements(listing.sort, matches!(self.db, Db::Postgres { .. }));
        let page = if n <= FEW { statements.page } else { in_order!(many, listing.sort) };
        let page = listing.bound(self.read(page), owner, pattern.as_deref());
        let tracks = page.bind(limit).bind(offset).fetch_all().await?;
        let is_all = listing.n_filters() == 1 && !matches!(by, By::Artist | By::Album);
        if is_all {
            return Ok((tracks, n));
        }
        let count = listing.bound(self.read(statements.count), owner, pattern.as_deref());
        let (n,): (i64,) = count.fetch_one().await?;
        Ok((tracks, n))
    }

    /// The filter that matches the fewest tracks, and how many it matches. An artist and an album always count as few.
    async fn narrowest(
        &self,
        owner: &UserId,
        listing: &Listing<'_>,
        pattern: Option<&str>,
    ) -> Result<(By, i64), StoreError> {
        match listing {
            Listing { album: Some(_), .. } => return Ok((By::Album, 0)),
            Listing { artist: Some(_), .. } => return Ok((By::Artist, 0)),
            _ => {}
        }
        let mut found = Vec::new();
        if let Some(genre) = listing.genre {
            found.push((By::Genre, self.n_in_group(owner, "genre", genre).await?));
        }
        if let Some(year) = listing.year {
            found.push((By::Year, self.n_in_years(owner, year, year.saturating_add(1)).await?));
        }
        if let Some(decade) = listing.decade {
            found.push((By::Decade, self.n_in_years(owner, decade, decade.saturating_add(10)).await?));
        }
        if pattern.is_some() && found.iter().all(|(_, n)| *n > FEW) {
            let sql = self.in_dialect(COUNT_WORDS_SQLITE, COUNT_WORDS_POSTGRES);
            let count = self.read(sql).bind(owner.as_str()).bind(pattern);
            let (n,): (i64,) = count.fetch_one().await?;
            found.push((By::Words, n));
        }
        Ok(found.into_iter().min_by_key(|(_, n)| *n).unwrap_or((By::Words, 0)))
    }

    async fn n_in_group(&self, owner: &UserId, kind: &'static str, key: &str) -> Result<i64, StoreError> {
        let (n,): (i64,) = self.read(COUNT_GROUP).bind(owner.as_str()).bind(kind).bind(key).fetch_one().await?;
        Ok(n)
    }

    async fn n_in_years(&self, owner: &UserId, from: i32, before: i32) -> Result<i64, StoreError> {
        let (n,): (i64,) = self.read(COUNT_YEARS).bind(owner.as_str()).bind(from).bind(before).fetch_one().await?;
        Ok(n)
    }
}

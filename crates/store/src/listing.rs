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
    library::LibraryTrack,
    listing_statements::{By, COUNT_GROUP, COUNT_WORDS, COUNT_YEARS, EVERY_TRACK, MANY},
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

impl Store {
    /// A page of the tracks that match the filters, and how many match.
    pub async fn library_tracks(
        &self,
        owner: &UserId,
        listing: Listing<'_>,
    ) -> Result<(Vec<LibraryTrack>, i64), StoreError> {
        let (limit, offset) = (i64::from(listing.limit), i64::from(listing.offset));
        if listing.n_filters() == 0 {
            let page = self.read(EVERY_TRACK.by(listing.sort)).bind(owner.as_str()).bind(limit).bind(offset);
            return Ok((page.fetch_all().await?, self.n_in_group(owner, "all", "").await?));
        }
        let pattern = listing.words.and_then(words_pattern);
        let (by, n) = self.narrowest(owner, &listing, pattern.as_deref()).await?;
        let few = by.few(matches!(self.db, Db::Postgres { .. }));
        let page = if n <= FEW { &few.page } else { &*MANY };
        let page = listing.bound(self.read(page.by(listing.sort)), owner, pattern.as_deref());
        let tracks = page.bind(limit).bind(offset).fetch_all().await?;
        let is_all = listing.n_filters() == 1 && !matches!(by, By::Artist | By::Album);
        if is_all {
            return Ok((tracks, n));
        }
        let count = listing.bound(self.read(&few.count), owner, pattern.as_deref());
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
            let count = self.read(self.text_of(&COUNT_WORDS)).bind(owner.as_str()).bind(pattern);
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

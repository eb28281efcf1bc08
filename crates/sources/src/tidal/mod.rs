//! Tidal: search of its catalogue by text, by album and by ISRC.

mod cache;
mod catalogue;
mod choice;
mod connection;
mod document;
mod error;
mod pace;
mod pages;
mod token;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;
use tracing::{instrument, warn};

use self::{
    cache::Cache,
    connection::Connection,
    document::Included,
    pages::{List, Pages},
};
pub use self::{
    catalogue::{AlbumWithTracks, TidalAlbum, TidalTrack, TrackAlbum},
    error::TidalError,
    token::TidalCredentials,
};
use music::Isrc;

/// Time limit of `tidalSearch` when Tidal is healthy.
const BUDGET: Duration = Duration::from_secs(3);
/// The maximum number of ids or codes in one request.
const BATCH: usize = 20;
const MAX_QUERY: usize = 256;
const CACHED_CODES: usize = 10_000;
const CODES_CACHED_FOR: Duration = Duration::from_secs(6 * 3600);

const TRACK_INCLUDE: &str = "artists,albums.coverArt,albums.artists";
const SEARCH_TRACKS_INCLUDE: &str = "tracks.artists,tracks.albums.coverArt";
const SEARCH_ALBUMS_INCLUDE: &str = "albums.artists,albums.coverArt";
const ALBUM_INCLUDE: &str = "artists,coverArt,items.artists";
const ITEMS_INCLUDE: &str = "items.artists";

#[derive(Clone, Debug)]
pub struct TidalConfig {
    /// Without credentials every request fails with [`TidalError::NotConfigured`].
    pub credentials: Option<TidalCredentials>,
    pub api_url: String,
    pub auth_url: String,
    /// Two-letter country code; it decides which tracks are available.
    pub country: String,
}

impl Default for TidalConfig {
    fn default() -> Self {
        Self {
            credentials: None,
            api_url: "https://openapi.tidal.com/v2".into(),
            auth_url: "https://auth.tidal.com/v1".into(),
            country: "US".into(),
        }
    }
}

/// Clones share one connection, with its token, rate limit and cache.
#[derive(Clone)]
pub struct Tidal {
    connection: Arc<Connection>,
    by_isrc: Arc<Cache<Isrc, Arc<Vec<TidalTrack>>>>,
    budget: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchFor {
    Tracks,
    Albums,
    Both,
}

/// Best matches first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TidalResults {
    pub tracks: Vec<TidalTrack>,
    pub albums: Vec<TidalAlbum>,
    /// Tidal has more results within the limit, but did not return them in time.
    pub is_cut_short: bool,
    /// The query as Tidal was asked: its first 256 characters.
    pub searched_for: String,
}

impl Tidal {
    pub fn new(config: &TidalConfig) -> anyhow::Result<Self> {
        Ok(Self {
            connection: Arc::new(Connection::new(config)?),
            by_isrc: Arc::new(Cache::new(CACHED_CODES, CODES_CACHED_FOR)),
            budget: BUDGET,
        })
    }

    pub fn is_configured(&self) -> bool {
        self.connection.is_configured()
    }

    /// The same client with another time budget than the three seconds of a search. The budget includes waiting for
    /// Tidal's rate limit.
    pub fn within(&self, budget: Duration) -> Self {
        Self { budget, ..self.clone() }
    }

    pub async fn search_tracks(&self, query: &str, limit: usize) -> Result<Vec<TidalTrack>, TidalError> {
        Ok(self.search(query, SearchFor::Tracks, limit).await?.tracks)
    }

    /// Up to `limit` results of each kind. A recording that Tidal lists on several releases appears once.
    #[instrument(skip_all, fields(search.kind = ?kind, search.limit = limit))]
    pub async fn search(&self, query: &str, kind: SearchFor, limit: usize) -> Result<TidalResults, TidalError> {
        let include = match kind {
            SearchFor::Tracks => SEARCH_TRACKS_INCLUDE.to_owned(),
            SearchFor::Albums => SEARCH_ALBUMS_INCLUDE.to_owned(),
            SearchFor::Both => format!("{SEARCH_TRACKS_INCLUDE},{SEARCH_ALBUMS_INCLUDE}"),
        };
        let parameters = [("filter[query]", shortened(query)), ("explicitFilter", "INCLUDE"), ("include", &include)];
        let pages = self.pages();
        let first = pages.get(&["searchResults"], &parameters).await?;

        let mut found = TidalResults { searched_for: shortened(query).to_owned(), ..TidalResults::default() };
        if kind != SearchFor::Albums {
            let mut list = pages.follow(&first, "tracks", SEARCH_TRACKS_INCLUDE, limit).await;
            pages.fetch_missing(&mut list, TRACK_INCLUDE).await;
            found.tracks = one_per_recording(list.read(TidalTrack::read));
            found.is_cut_short |= cut_short(&list);
        }
        if kind != SearchFor::Tracks {
            let list = pages.follow(&first, "albums", SEARCH_ALBUMS_INCLUDE, limit).await;
            found.albums = list.read(TidalAlbum::read);
            found.is_cut_short |= cut_short(&list);
        }
        Ok(found)
    }

    /// An album with all tracks that are available in this country, in playing order. An incomplete album is an
    /// error.
    #[instrument(skip_all, fields(album.id = id))]
    pub async fn album(&self, id: &str) -> Result<AlbumWithTracks, TidalError> {
        let not_found = || TidalError::NotFound(format!("album '{id}' in {}", self.connection.country()));
        // These values would change the path of the URL.
        if matches!(id, "" | "." | "..") {
            return Err(not_found());
        }
        let pages = self.pages();
        let first = pages.get(&["albums", id], &[("include", ALBUM_INCLUDE)]).await.map_err(|error| match error {
            TidalError::NotFound(_) => not_found(),
            other => other,
        })?;
        let included = Included::of([&*first]);
        let album = first.data.first().and_then(|album| TidalAlbum::read(album, &included)).ok_or_else(not_found)?;

        let mut list = pages.follow(&first, "items", ITEMS_INCLUDE, usize::MAX).await;
        let n_items = list.identifiers.len();
        list.identifiers.retain(|item| item.kind == "tracks");
        let n_videos = n_items - list.identifiers.len();
        pages.fetch_missing(&mut list, TRACK_INCLUDE).await;
        let tracks = list.read(TidalTrack::read);
        list.whole()?;
        Ok(AlbumWithTracks::new(album, tracks, n_videos))
    }

    /// The tracks of each code, best first. Codes that Tidal does not have are left out.
    ///
    /// For one code Tidal lists every release; for several codes it returns one release each.
    #[instrument(skip_all, fields(n_codes = codes.len()))]
    pub async fn tracks_by_isrc(&self, codes: &[Isrc]) -> Result<BTreeMap<Isrc, Vec<TidalTrack>>, TidalError> {
        let (mut found, mut unknown) = (BTreeMap::new(), Vec::new());
        for code in codes.iter().collect::<BTreeSet<_>>() {
            match self.by_isrc.get(code) {
                Some(tracks) => _ = found.insert(code.clone(), tracks.to_vec()),
                None => unknown.push(code),
            }
        }
        let pages = self.pages();
        for batch in unknown.chunks(BATCH) {
            found.extend(self.ask_for_codes(&pages, batch).await?);
        }
        found.retain(|_, tracks| !tracks.is_empty());
        Ok(found)
    }

    /// Requests one batch and caches the result, including codes without a result.
    async fn ask_for_codes(
        &self,
        pages: &Pages<'_>,
        batch: &[&Isrc],
    ) -> Result<Vec<(Isrc, Vec<TidalTrack>)>, TidalError> {
        let codes = batch.iter().map(|code| code.as_str()).collect::<Vec<_>>().join(",");
        let first = pages.get(&["tracks"], &[("filter[isrc]", &codes), ("include", TRACK_INCLUDE)]).await?;
        let list = pages.follow_collection(first, TRACK_INCLUDE).await;
        let tracks = list.read(TidalTrack::read);
        list.whole()?;
        let with_candidates = |code: &&Isrc| {
            let carries_it = |track: &&TidalTrack| track.isrc.as_ref() == Some(*code);
            let mut candidates: Vec<_> = tracks.iter().filter(carries_it).cloned().collect();
            choice::sort_by_preference(&mut candidates);
            self.by_isrc.keep((*code).clone(), Arc::new(candidates.clone()));
            ((*code).clone(), candidates)
        };
        Ok(batch.iter().map(with_candidates).collect())
    }

    fn pages(&self) -> Pages<'_> {
        Pages { connection: &self.connection, deadline: Instant::now() + self.budget }
    }
}

/// Partial results are returned, with a warning in the log.
fn cut_short(list: &List) -> bool {
    if let Some(error) = &list.broken {
        warn!(%error, "A Tidal search was cut short: {error}");
    }
    list.broken.is_some()
}

/// The first release of every recording. Tracks without a code are kept.
fn one_per_recording(mut tracks: Vec<TidalTrack>) -> Vec<TidalTrack> {
    let mut seen = HashSet::new();
    tracks.retain(|track| track.isrc.clone().is_none_or(|isrc| seen.insert(isrc)));
    tracks
}

/// The query, cut to the length that Tidal accepts, between words if possible. Counted in UTF-16 units, because Tidal
/// does not document its unit and there are never fewer units than characters.
fn shortened(query: &str) -> &str {
    let query = query.trim();
    let mut n_units = 0;
    let end = query.char_indices().find(|(_, c)| {
        n_units += c.len_utf16();
        n_units > MAX_QUERY
    });
    let Some((end, _)) = end else { return query };
    let cut = &query[..end];
    cut.rfind(char::is_whitespace).map_or(cut, |space| cut[..space].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_query_is_cut_between_words() {
        let (words, word, signs) = ("salt rope ".repeat(60), "x".repeat(300), "🎵".repeat(200));
        let cases = [
            ("  two words ", "two words".to_owned()),
            (&words, "salt rope ".repeat(25) + "salt"),
            (&word, "x".repeat(256)),
            (&signs, "🎵".repeat(128)),
        ];
        for (query, expected) in cases {
            assert_eq!(shortened(query), expected);
        }
    }
}

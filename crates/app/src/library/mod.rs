//! The library service: the tracks and albums of a user. Every change wakes the workers that enrich and index.

mod bulk;
mod known_steps;
mod lookup;
mod merge;
pub mod results;
mod search_request;
mod status;
mod taste;

use std::{collections::BTreeSet, sync::Arc};

use chrono::{DateTime, Utc};
use engine::{Timings, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::instrument;

use self::results::{AlbumResult, IndexedTrackResult, TrackResult, remembered};
pub(crate) use self::{known_steps::KnownSteps, lookup::LOOKED_UP_AT_ONCE};
pub use self::{
    merge::Rearranged,
    status::{IndexStatus, IngestStatus},
};
use crate::{Count, Error, enrich::Pipeline, per_user::PerUser};
use music::{Track, TrackRef};
use search::{SearchPlan, TrackIndex};
use sources::tidal::Tidal;
pub use store::{ArtistLine, GroupLine, LibrarySort, LibraryTrack, Listing, MergeLine};
use store::{LibraryAlbum, OwnCandidate, Store, StoreError};

/// How many tracks a search returns.
pub type SearchLimit = Count<1, 50, 20>;

/// How many tracks of one album are shown.
const MOST_ON_ALBUM: u32 = 500;

#[derive(Clone)]
pub struct Library {
    pub(crate) store: Store,
    pub(crate) index: Arc<dyn TrackIndex>,
    pub(crate) tidal: Tidal,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) known_steps: Arc<KnownSteps>,
    /// A search computes on a whole core.
    pub(crate) searches: Arc<PerUser>,
}

// No doc comment: it would replace the description of `TrackResult` in the API document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LibraryEntry {
    #[serde(flatten)]
    pub track: TrackResult,
    pub added_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub genre: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track_number: Option<i32>,
    /// The number of plays in the imported listening history.
    pub plays: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_played_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_played_at: Option<DateTime<Utc>>,
    /// The location of the audio: a file of this server, or the location in an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// How certain the match to a recording is: `matched`, or `ambiguous` or `unmatched`, for which Segue still
    /// searches.
    #[serde(rename = "match")]
    pub match_quality: String,
}

/// A saved album as it is stored: the catalogue's data with the tracks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedAlbum {
    #[serde(flatten)]
    pub album: AlbumResult,
    pub tracks: Vec<Track>,
}

/// A saved album with its tracks as results.
pub struct AlbumDetails {
    pub album: AlbumResult,
    pub tracks: Vec<TrackResult>,
}

/// Tracks.
impl Library {
    /// A page of the library, and the total number of tracks.
    #[instrument(name = "library.tracks", skip_all, fields(user.id = %owner))]
    pub async fn tracks(&self, owner: &UserId, listing: Listing<'_>) -> Result<(Vec<LibraryEntry>, i64), Error> {
        let (rows, total) = self.store.library_tracks(owner, listing).await?;
        Ok((self.entries(owner, rows).await?, total))
    }

    async fn entries(&self, owner: &UserId, tracks: Vec<LibraryTrack>) -> Result<Vec<LibraryEntry>, Error> {
        let names: Vec<Option<TrackRef>> = tracks.iter().map(|track| track.track_id.parse().ok()).collect();
        let asked: Vec<TrackRef> = names.iter().flatten().cloned().collect();
        let indexed = self.indexed(owner, &Timings::default(), &asked).await?;
        let entries = tracks.into_iter().zip(names).filter_map(|(track, name)| {
            let name = name?;
            let TrackRef::Id(track_id) = name else { return None };
            Some(LibraryEntry {
                added_at: track.added_at,
                genre: track.genre,
                year: track.year,
                track_number: track.track_number,
                plays: track.n_plays,
                first_played_at: track.first_played_at,
                last_played_at: track.last_played_at,
                location: track.location,
                match_quality: track.match_quality,
                track: TrackResult {
                    track_id,
                    in_library: true,
                    is_indexed: indexed.contains(&name),
                    isrc: track.isrc.unwrap_or_default(),
                    title: track.title,
                    artist: track.artist,
                    album: track.album,
                    artwork_url: None,
                    duration: track.duration,
                    tidal_id: track.tidal_id,
                    is_sample: track.is_sample,
                },
            })
        });
        let mut entries: Vec<LibraryEntry> = entries.collect();
        self.add_artwork(owner, entries.iter_mut().map(|entry| &mut entry.track)).await?;
        Ok(entries)
    }

    pub(crate) async fn entry(&self, owner: &UserId, track: LibraryTrack) -> Result<LibraryEntry, Error> {
        self.entries(owner, vec![track]).await?.pop().ok_or(Error::NotFound)
    }

    /// Everything known about one track that the user may see.
    #[instrument(name = "library.track_details", skip_all, fields(user.id = %owner, track.name = %name))]
    pub async fn track_details(&self, owner: &UserId, name: &TrackRef) -> Result<IndexedTrackResult, Error> {
        let names = std::slice::from_ref(name);
        let indexed = self.indexed_tracks(owner, names).await?.into_iter().next();
        let is_indexed = indexed.is_some();
        let track = match indexed {
            Some(track) => track,
            None => match self.find_track(owner, name).await {
                Err(Error::UnknownTrack(_)) => return Err(Error::NotFound),
                found => found?,
            },
        };
        let owned = self.store.owned(owner, &[OwnCandidate::from(&track)]).await?;
        let provenance = track.provenance.clone();
        let mut details = IndexedTrackResult::of_track(track, owned.contains(&true));
        details.provenance = provenance;
        details.track.is_indexed = is_indexed;
        self.add_artwork(owner, std::iter::once(&mut details.track)).await?;
        Ok(details)
    }

    /// Adds a recording that the user may see or the catalogue knows.
    #[instrument(name = "library.add_track", skip_all, fields(user.id = %owner, track.name = %name))]
    pub async fn add_track(&self, owner: &UserId, name: &TrackRef) -> Result<LibraryEntry, Error> {
        let id = match self.store.restore_to_library(owner, name).await {
            Ok(restored) => restored.track_id,
            Err(StoreError::NotFound) => {
                let track = self.find_track(owner, name).await?;
                self.store.add_to_library(owner, std::slice::from_ref(&track)).await?;
                track.id.to_string()
            }
            Err(error) => return Err(error.into()),
        };
        self.pipeline.tell();
        let id = id.parse().map_err(|_| Error::NotFound)?;
        self.entry(owner, self.store.library_track(owner, &id).await?).await
    }

    #[instrument(name = "library.remove_track", skip_all, fields(user.id = %owner, track.name = %name))]
    pub async fn remove_track(&self, owner: &UserId, name: &TrackRef) -> Result<(), Error> {
        self.store.remove_from_library(owner, name).await?;
        self.pipeline.tell();
        Ok(())
    }

    #[instrument(name = "library.restore_track", skip_all, fields(user.id = %owner, track.name = %name))]
    pub async fn restore_track(&self, owner: &UserId, name: &TrackRef) -> Result<LibraryEntry, Error> {
        let restored = self.store.restore_to_library(owner, name).await?;
        self.pipeline.tell();
        self.entry(owner, restored).await
    }

    /// Adds complete tracks to the collection without enrichment. Returns how many are new or changed.
    #[instrument(name = "library.put_tracks", skip_all)]
    pub async fn put_tracks(&self, tracks: &[Track]) -> Result<u64, Error> {
        Ok(self.store.put_tracks(tracks).await?)
    }

    /// Adds tracks that were never in the library. A track that the owner removed stays removed.
    #[instrument(name = "library.add_new_tracks", skip_all, fields(user.id = %owner))]
    pub(crate) async fn add_new_tracks(&self, owner: &UserId, tracks: &[Track]) -> Result<u64, Error> {
        let n_added = self.store.add_new_to_library(owner, tracks).await?;
        self.pipeline.tell();
        Ok(n_added)
    }

    /// Similar tracks, the most similar first: by topic, sound and tags.
    #[instrument(name = "library.similar", skip_all, fields(user.id = %owner, track.name = %name))]
    pub async fn similar(
        &self,
        owner: &UserId,
        name: &TrackRef,
        limit: usize,
    ) -> Result<Vec<IndexedTrackResult>, Error> {
        let names = std::slice::from_ref(name);
        let track = self.indexed_tracks(owner, names).await?.into_iter().next().ok_or(Error::NotFound)?;
        let tags = track.tags.join(" ");
        let words = [track.short_description.as_deref(), Some(tags.as_str()), track.interpretation.as_deref()];
        let words: Vec<&str> = words.into_iter().flatten().filter(|words| !words.is_empty()).collect();
        let query = if words.is_empty() { format!("{} {}", track.title, track.artist) } else { words.join(" ") };
        let hits = self.search(owner, SearchPlan::new(query, limit + 1)).await?;
        let hits = hits.into_iter().filter(|hit| hit.track.id != track.id).take(limit);
        let (scores, tracks): (Vec<_>, Vec<_>) = hits.map(|hit| (hit.score, hit.track)).unzip();
        let mut results = self.index_results(owner, &Timings::default(), tracks).await?;
        results.iter_mut().zip(scores).for_each(|(result, score)| result.score = Some(score));
        Ok(results)
    }
}

/// The sample library.
impl Library {
    /// Removes the sample for one user. Returns how many tracks were removed from the library.
    #[instrument(name = "library.remove_sample", skip_all, fields(user.id = %owner))]
    pub async fn remove_sample(&self, owner: &UserId) -> Result<u64, Error> {
        let n_removed = self.store.remove_sample(owner).await?;
        self.pipeline.tell();
        Ok(n_removed)
    }

    /// Undoes the removal.
    #[instrument(name = "library.restore_sample", skip_all, fields(user.id = %owner))]
    pub async fn restore_sample(&self, owner: &UserId) -> Result<(), Error> {
        self.store.restore_sample(owner).await?;
        self.pipeline.tell();
        Ok(())
    }

    #[instrument(name = "library.has_sample", skip_all, fields(user.id = %owner))]
    pub async fn has_sample(&self, owner: &UserId) -> Result<bool, Error> {
        Ok(self.store.has_sample(owner).await?)
    }

    /// Returns true once, in an installation that has never contained a track: then the sample may be loaded
    /// automatically.
    pub(crate) async fn take_sample_offer(&self) -> Result<bool, Error> {
        Ok(self.store.take_sample_offer().await?)
    }
}

/// An album, and when it was added.
type DatedAlbum = (AlbumResult, DateTime<Utc>);

/// Albums.
impl Library {
    /// Saved albums and albums of the user's tracks, newest first, each with the time it was added, and whether there
    /// are more.
    #[instrument(name = "library.albums", skip_all, fields(user.id = %owner))]
    pub async fn albums(
        &self,
        owner: &UserId,
        words: Option<&str>,
        (offset, limit): (u32, u32),
    ) -> Result<(Vec<DatedAlbum>, bool), Error> {
        let words = words.map(str::trim).filter(|words| !words.is_empty());
        let saved: Vec<LibraryAlbum<SavedAlbum>> = self.store.albums(owner, words).await?;
        let mut albums: Vec<_> = saved.into_iter().map(|saved| (saved.album.album, saved.added_at)).collect();
        let key = |title: &str, artist: &str| (title.to_lowercase(), artist.to_lowercase());
        let known: BTreeSet<_> = albums.iter().map(|(album, _)| key(&album.title, &album.artist)).collect();
        // Each saved album is before the page, or hides an album of tracks that is: as many albums of tracks are read more.
        let n_skipped = offset.saturating_sub(albums.len() as u32);
        let skipped = match (known.is_empty(), n_skipped) {
            (true, _) | (_, 0) => vec![],
            _ => self.store.album_names(owner, words, n_skipped).await?,
        };
        let n_hidden = skipped.iter().filter(|(title, artist)| known.contains(&key(title, artist))).count() as u32;
        let offset = offset - n_skipped + n_hidden;
        // One more is read to know whether there are more.
        let n_views = offset.saturating_add(limit).saturating_add(known.len() as u32 + 1);
        let views = self.store.album_views(owner, words, (n_skipped, n_views)).await?.into_iter();
        let views = views.filter(|view| !known.contains(&key(&view.title, &view.artist)));
        albums.extend(views.map(|view| (AlbumResult::of_view(&view), view.added_at)));
        albums.sort_by_key(|(_, added_at)| std::cmp::Reverse(*added_at));
        let has_more = albums.len() > offset.saturating_add(limit) as usize;
        Ok((albums.into_iter().skip(offset as usize).take(limit as usize).collect(), has_more))
    }

    #[instrument(name = "library.album", skip_all, fields(user.id = %owner))]
    pub async fn album(&self, owner: &UserId, album_id: &str) -> Result<AlbumDetails, Error> {
        let SavedAlbum { album, tracks } = match self.store.album(owner, album_id).await {
            Ok(saved) => saved,
            Err(StoreError::NotFound) => return self.album_of_tracks(owner, album_id).await,
            Err(error) => return Err(error.into()),
        };
        let names: Vec<_> = tracks.iter().map(|track| TrackRef::Id(track.id)).collect();
        let indexed = self.indexed(owner, &Timings::default(), &names).await?;
        let tracks =
            tracks.iter().zip(&names).map(|(track, name)| TrackResult::of_track(track, true, indexed.contains(name)));
        Ok(AlbumDetails { album, tracks: tracks.collect() })
    }

    /// An album that consists of the user's tracks, in playing order.
    async fn album_of_tracks(&self, owner: &UserId, album_id: &str) -> Result<AlbumDetails, Error> {
        let names = self.store.album_names(owner, None, u32::MAX).await?.into_iter();
        let (title, artist) = names
            .into_iter()
            .find(|(title, artist)| results::view_id(title, artist) == album_id)
            .ok_or(Error::NotFound)?;
        let view = self.store.album_view(owner, &title, &artist).await?.ok_or(Error::NotFound)?;
        let album = AlbumResult::of_view(&view);
        let listing = Listing {
            album: Some(&title),
            artist: Some(&artist),
            sort: LibrarySort::Album,
            limit: MOST_ON_ALBUM,
            ..Listing::default()
        };
        let (entries, _) = self.tracks(owner, listing).await?;
        Ok(AlbumDetails { album, tracks: entries.into_iter().map(|entry| entry.track).collect() })
    }

    /// Artists of the user's tracks, by name, and how many there are.
    #[instrument(name = "library.artists", skip_all, fields(user.id = %owner))]
    pub async fn artists(
        &self,
        owner: &UserId,
        words: Option<&str>,
        (offset, limit): (u32, u32),
    ) -> Result<(Vec<ArtistLine>, i64), Error> {
        let words = words.map(str::trim).filter(|words| !words.is_empty());
        Ok(self.store.artists(owner, words, (offset, limit)).await?)
    }

    /// Genres and decades of the user's tracks.
    #[instrument(name = "library.genres", skip_all, fields(user.id = %owner))]
    pub async fn genres(&self, owner: &UserId) -> Result<(Vec<GroupLine>, Vec<GroupLine>), Error> {
        Ok((self.store.genres(owner).await?, self.store.decades(owner).await?))
    }

    /// Saves an album of the catalogue with its tracks.
    #[instrument(name = "library.add_album", skip_all, fields(user.id = %owner))]
    pub async fn add_album(&self, owner: &UserId, album_id: &str) -> Result<AlbumResult, Error> {
        let found = self.tidal.album(album_id).await?;
        let saved = SavedAlbum {
            album: AlbumResult::of_catalogue(&found.album, true),
            tracks: found.tracks.iter().filter_map(remembered).collect(),
        };
        self.store.remember_catalogue(&saved.tracks).await?;
        let names = (saved.album.title.as_str(), saved.album.artist.as_str());
        self.store.add_album(owner, &saved.album.id, names, &saved, &saved.tracks).await?;
        self.pipeline.tell();
        Ok(saved.album)
    }

    #[instrument(name = "library.remove_album", skip_all, fields(user.id = %owner))]
    pub async fn remove_album(&self, owner: &UserId, album_id: &str) -> Result<(), Error> {
        self.store.remove_album(owner, album_id).await?;
        self.pipeline.tell();
        Ok(())
    }

    #[instrument(name = "library.restore_album", skip_all, fields(user.id = %owner))]
    pub async fn restore_album(&self, owner: &UserId, album_id: &str) -> Result<(), Error> {
        self.store.restore_album(owner, album_id).await?;
        self.pipeline.tell();
        Ok(())
    }
}

//! Adds tracks to a library: data of the owner's file belongs to the owner, data of a catalogue is public.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use engine::UserId;
use sqlx::types::Json;

use super::{
    Priority, StoreError,
    db::Tx,
    documents::project,
    found::differs,
    locks::{lock_documents, lock_library},
    plan::{Key, Known, NewDocument},
    schedule::{known_of, schedule_known},
};
use music::{Track, identity::same_length, name_words::stored_words};

/// A track to be added to a library.
#[derive(Clone, Debug, PartialEq)]
pub struct NewLibraryTrack {
    /// The track with the owner's names.
    pub track: Track,
    /// The data of a catalogue about the recording, if a catalogue was asked and has it.
    pub public: Option<Track>,
    /// Whether `track` comes from a file or export of the owner.
    pub is_own: bool,
    /// The artist of the album, if its tracks are by several artists.
    pub album_artist: Option<String>,
    pub disc_number: Option<u32>,
    pub n_plays: u32,
    pub first_played_at: Option<DateTime<Utc>>,
    pub played_at: Option<DateTime<Utc>>,
    pub added_at: Option<DateTime<Utc>>,
    /// The path or URL of the audio.
    pub location: Option<String>,
    /// Further ids of the recording in the owner's file, besides its first ISRC: `("mbid", …)`, `("isrc", …)`.
    pub names: Vec<(&'static str, String)>,
}

impl NewLibraryTrack {
    /// A track with the data of a catalogue.
    pub fn catalogued(track: Track) -> Self {
        let public = Some(track.clone());
        Self {
            track,
            public,
            is_own: false,
            album_artist: None,
            disc_number: None,
            n_plays: 0,
            first_played_at: None,
            played_at: None,
            added_at: None,
            location: None,
            names: vec![],
        }
    }
}

/// What happens to a track that the owner had and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    ComesBack,
    StaysAway,
    /// Restored only if it was removed because its file was gone.
    ComesBackWithFile,
}

const EXISTING: &str = "SELECT recording_id, removed_at, left_with_file FROM library_tracks
    WHERE user_id = $1 AND recording_id IN (SELECT value FROM json_each($2))";

/// The owner's newest file replaces older data. The play count is the largest count of any imported history.
const PUT: &str = "INSERT INTO library_tracks (user_id, recording_id, isrc, tidal_id, name, duration, title, artist,
        album, searchable, genre, year, track_number, own, is_sample, n_plays, last_played_at, added_at,
        album_artist, disc_number, first_played_at, location)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, $20, $21, $22)
    ON CONFLICT (user_id, recording_id) DO UPDATE SET
        title = CASE WHEN excluded.own IS NULL THEN library_tracks.title ELSE excluded.title END,
        artist = CASE WHEN excluded.own IS NULL THEN library_tracks.artist ELSE excluded.artist END,
        album = CASE WHEN excluded.own IS NULL OR excluded.album = '' THEN library_tracks.album
            ELSE excluded.album END,
        name = CASE WHEN excluded.own IS NULL THEN library_tracks.name ELSE excluded.name END,
        searchable = CASE WHEN excluded.own IS NULL THEN library_tracks.searchable ELSE excluded.searchable END,
        own = COALESCE(excluded.own, library_tracks.own),
        isrc = COALESCE(library_tracks.isrc, excluded.isrc),
        tidal_id = COALESCE(library_tracks.tidal_id, excluded.tidal_id),
        duration = COALESCE(excluded.duration, library_tracks.duration),
        genre = COALESCE(excluded.genre, library_tracks.genre),
        year = COALESCE(excluded.year, library_tracks.year),
        track_number = COALESCE(excluded.track_number, library_tracks.track_number),
        album_artist = COALESCE(excluded.album_artist, library_tracks.album_artist),
        disc_number = COALESCE(excluded.disc_number, library_tracks.disc_number),
        n_plays = CASE WHEN excluded.n_plays > library_tracks.n_plays THEN excluded.n_plays
            ELSE library_tracks.n_plays END,
        last_played_at = COALESCE(excluded.last_played_at, library_tracks.last_played_at),
        added_at = CASE WHEN library_tracks.removed_at IS NULL THEN library_tracks.added_at ELSE excluded.added_at END,
        first_played_at = COALESCE(library_tracks.first_played_at, excluded.first_played_at),
        location = COALESCE(excluded.location, library_tracks.location),
        removed_at = NULL, left_with_file = FALSE, erased_at = NULL";

const PUT_NAME: &str = "INSERT INTO own_names (user_id, kind, value, recording_id) VALUES ($1, $2, $3, $4)
    ON CONFLICT (user_id, kind, value, recording_id) DO NOTHING";

const FORGET: &str = "DELETE FROM ingested_tracks WHERE recording_id = $1 AND owner = $2";

/// Adds tracks to a library and schedules their enrichment. Returns how many are new there.
pub(crate) async fn insert_tracks(
    tx: &mut Tx,
    owner: &UserId,
    tracks: &[NewLibraryTrack],
    removed: Removed,
    priority: Priority,
) -> Result<u64, StoreError> {
    let ids: Vec<String> = tracks.iter().map(|new| new.track.id.to_string()).collect();
    lock_library(tx, owner.as_str()).await?;
    lock_documents(tx, &ids).await?;
    let existing: Vec<(String, Option<DateTime<Utc>>, bool)> =
        tx.query(EXISTING).bind(owner.as_str()).bind(Json(&ids)).fetch_all().await?;
    // Whether it was removed by the owner, and whether it was removed with its file.
    let mut existing: HashMap<String, (bool, bool)> = existing
        .into_iter()
        .map(|(id, removed_at, left_with_file)| (id, (removed_at.is_some(), left_with_file)))
        .collect();
    let mut known = known_of(tx, &ids).await?;
    let (mut n_added, mut documents, mut changed) = (0, vec![], vec![]);
    for (new, id) in tracks.iter().zip(ids) {
        match existing.get(&id) {
            Some((true, _)) if removed == Removed::StaysAway => continue,
            Some((true, false)) if removed == Removed::ComesBackWithFile => continue,
            Some((false, _)) => {}
            Some((true, _)) | None => n_added += 1,
        }
        existing.insert(id.clone(), (false, false));
        put(tx, owner, new).await?;
        documents.extend(new.public.clone().map(NewDocument::public));
        match own_document(owner, new, &known) {
            Some(document) => documents.push(document),
            None if new.is_own => {
                tx.query(FORGET).bind(&id).bind(owner.as_str()).execute().await?;
                known.remove(&(id.clone(), owner.as_str().to_owned()));
            }
            None => {}
        }
        changed.push(id);
    }
    schedule_known(tx, &known, &documents, (priority, owner.as_str())).await?;
    project(tx, &changed).await?;
    Ok(n_added)
}

/// The owner's private document, if the file contains data that is not public.
fn own_document(owner: &UserId, new: &NewLibraryTrack, known: &HashMap<Key, Known>) -> Option<NewDocument> {
    if !new.is_own {
        return None;
    }
    let own = |is_overlay| NewDocument { owner: owner.as_str().to_owned(), is_overlay, track: new.track.clone() };
    let agrees = |public: &Track| {
        public.recording_name() == new.track.recording_name() && same_length(public.duration, new.track.duration)
    };
    let over = |public: &Track| differs(&new.track, public).then(|| own(true));
    if let Some(public) = &new.public {
        return over(public);
    }
    match known.get(&(new.track.id.to_string(), String::new())) {
        Some(Known::Enriched { track, .. }) if agrees(track) => over(track),
        Some(Known::Indexed) => Some(own(true)),
        Some(Known::Enriched { .. }) | None => Some(own(false)),
    }
}

async fn put(tx: &mut Tx, owner: &UserId, new: &NewLibraryTrack) -> Result<(), StoreError> {
    let track = &new.track;
    let year = track.release_date.as_deref().and_then(|date| date.get(..4)?.parse::<i32>().ok());
    let added_at = new.added_at.unwrap_or_else(|| tx.now());
    tx.query(PUT)
        .bind(owner.as_str())
        .bind(track.id.to_string())
        .bind(track.isrc.as_ref().map(|isrc| isrc.as_str()))
        .bind(track.tidal_id.as_deref())
        .bind(track.recording_name().to_string())
        .bind(track.duration)
        .bind(&track.title)
        .bind(&track.artist)
        .bind(&track.album)
        .bind(stored_words(&[&track.title, &track.artist, &track.album]))
        .bind(track.tags.first())
        .bind(year)
        .bind(track.track_number.and_then(|number| i32::try_from(number).ok()))
        .bind(new.is_own.then_some(Json(track)))
        .bind(track.is_sample)
        .bind(i32::try_from(new.n_plays).unwrap_or(i32::MAX))
        .bind(new.played_at)
        .bind(added_at)
        .bind(new.album_artist.as_deref())
        .bind(new.disc_number.and_then(|number| i32::try_from(number).ok()))
        .bind(new.first_played_at)
        .bind(new.location.as_deref())
        .execute()
        .await?;
    for (kind, value) in &new.names {
        tx.query(PUT_NAME).bind(owner.as_str()).bind(*kind).bind(value).bind(track.id.to_string()).execute().await?;
    }
    Ok(())
}

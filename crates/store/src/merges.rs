//! A user merges two recordings, or splits the files of one recording. Both are stored and can be undone.
//!
//! The rows of both recordings are kept, so that an undo loses no data and other users are not affected.

use chrono::{DateTime, Utc};
use engine::UserId;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    NewLibraryTrack, Priority, Store, StoreError,
    db::Tx,
    documents::project,
    library_insert::{Removed, insert_tracks},
    locks::lock_library,
    schedule::park,
};
use music::TrackId;

/// A file of a track, or one part of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    pub path: String,
    pub part: i32,
}
from_row!(FilePart { path, part });

/// The state before the change, for its undo. A merge stores how often the track that goes was played, and when the track that
/// stays was played without it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Before {
    /// Files that were moved.
    pub(crate) files: Vec<FilePart>,
    pub(crate) n_plays: i32,
    #[serde(flatten)]
    pub(crate) played: Played,
}

/// A track may never have been played.
pub(crate) type PlayTime = Option<DateTime<Utc>>;

/// When a track was played first and last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Played {
    #[serde(rename = "first_played_at")]
    pub(crate) first: PlayTime,
    #[serde(rename = "last_played_at")]
    pub(crate) last: PlayTime,
}

impl Played {
    /// The dates of two tracks that are one.
    pub(crate) fn with(self, other: Self) -> Self {
        let first = [self.first, other.first].into_iter().flatten().min();
        Self { first, last: self.last.max(other.last) }
    }
}

const PLAYS: &str = "SELECT n_plays, first_played_at, last_played_at FROM library_tracks
    WHERE user_id = $1 AND recording_id = $2 AND removed_at IS NULL";
const SET_PLAYS: &str = "UPDATE library_tracks SET n_plays = n_plays + $3, first_played_at = $4, last_played_at = $5
    WHERE user_id = $1 AND recording_id = $2";
const REMOVE: &str = "UPDATE library_tracks SET removed_at = $3, left_with_file = FALSE
    WHERE user_id = $1 AND recording_id = $2 AND removed_at IS NULL";
const LOG: &str = "INSERT INTO track_merges (id, user_id, recording_id, into_id, kind, cause, before, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
/// A merge that the user took back, of any tracks that are parts of the two now, and files whose track the user has said.
const DECIDED: &str = "WITH RECURSIVE a (id) AS (SELECT CAST($2 AS TEXT)
        UNION SELECT p.recording_id FROM track_merges p JOIN a ON p.into_id = a.id
        WHERE p.user_id = $1 AND p.kind = 'merge' AND p.undone_at IS NULL),
    b (id) AS (SELECT CAST($3 AS TEXT)
        UNION SELECT p.recording_id FROM track_merges p JOIN b ON p.into_id = b.id
        WHERE p.user_id = $1 AND p.kind = 'merge' AND p.undone_at IS NULL)
    SELECT 1 FROM track_merges WHERE user_id = $1 AND kind = 'merge' AND undone_at IS NOT NULL
        AND ((recording_id IN (SELECT id FROM a) AND into_id IN (SELECT id FROM b))
            OR (recording_id IN (SELECT id FROM b) AND into_id IN (SELECT id FROM a)))
    UNION ALL SELECT 1 FROM library_files WHERE user_id = $1 AND recording_id IN ($2, $3) AND is_pinned LIMIT 1";
const TAKE_FILE: &str = "UPDATE library_files SET recording_id = $4, is_pinned = $5
    WHERE user_id = $1 AND path = $2 AND part = $3";

impl Store {
    /// Merges a track of the user into another one, with its files and plays. Returns the id for the undo.
    pub async fn merge_tracks(&self, owner: &UserId, from: TrackId, into: TrackId) -> Result<Uuid, StoreError> {
        let mut tx = self.begin().await?;
        let id = merge(&mut tx, owner.as_str(), (from.to_string(), into.to_string()), "user").await?;
        tx.commit().await?;
        Ok(id)
    }

    /// The same, because files of both have the same sound. None: the user has said that they are two, which counts more.
    pub async fn merge_by_sound(&self, owner: &UserId, from: &str, into: &str) -> Result<Option<Uuid>, StoreError> {
        let mut tx = self.begin().await?;
        let decided: Option<(i32,)> =
            tx.query(DECIDED).bind(owner.as_str()).bind(from).bind(into).fetch_optional().await?;
        if decided.is_some() {
            return Ok(None);
        }
        let id = merge(&mut tx, owner.as_str(), (from.to_owned(), into.to_owned()), "sound").await?;
        tx.commit().await?;
        Ok(Some(id))
    }

    /// The current files of a track of the user, ordered by path.
    pub async fn files_of_track(&self, owner: &UserId, track: TrackId) -> Result<Vec<FilePart>, StoreError> {
        const SQL: &str = "SELECT path, part FROM library_files
            WHERE user_id = $1 AND recording_id = $2 AND missing_at IS NULL ORDER BY path, part";
        Ok(self.read(SQL).bind(owner.as_str()).bind(track.to_string()).fetch_all().await?)
    }

    /// Makes a file of a track a separate track, also for later scans. Returns the id for the undo.
    pub async fn split_track(
        &self,
        owner: &UserId,
        from: TrackId,
        file: &FilePart,
        new: &NewLibraryTrack,
    ) -> Result<Uuid, StoreError> {
        let (user, from, into) = (owner.as_str(), from.to_string(), new.track.id.to_string());
        let mut tx = self.begin().await?;
        lock_library(&mut tx, user).await?;
        plays_of(&mut tx, user, &from).await?;
        insert_tracks(&mut tx, owner, std::slice::from_ref(new), Removed::ComesBack, Priority::ByHand).await?;
        take_file(&mut tx, user, file, &into, true).await?;
        let before = Before { files: vec![file.clone()], n_plays: 0, played: Played::default() };
        let id = log(&mut tx, user, (&from, &into), ("split", "user"), &before).await?;
        project(&mut tx, &[from, into]).await?;
        tx.commit().await?;
        Ok(id)
    }
}

async fn merge(tx: &mut Tx, user: &str, (from, into): (String, String), cause: &str) -> Result<Uuid, StoreError> {
    const FILES: &str = "UPDATE library_files SET recording_id = $3 WHERE user_id = $1 AND recording_id = $2
        RETURNING path, part";
    lock_library(tx, user).await?;
    let (n_plays, played) = plays_of(tx, user, &from).await?;
    let (_, before) = plays_of(tx, user, &into).await?;
    let files: Vec<FilePart> = tx.query(FILES).bind(user).bind(&from).bind(&into).fetch_all().await?;
    add_plays(tx, user, &into, n_plays, before.with(played)).await?;
    remove(tx, user, &from).await?;
    let before = Before { files, n_plays, played: before };
    let id = log(tx, user, (&from, &into), ("merge", cause), &before).await?;
    park(tx, std::slice::from_ref(&from)).await?;
    project(tx, &[from, into]).await?;
    Ok(id)
}

/// How often and when a track in the library was played.
async fn plays_of(tx: &mut Tx, user: &str, track: &str) -> Result<(i32, Played), StoreError> {
    let row: Option<(i32, PlayTime, PlayTime)> = tx.query(PLAYS).bind(user).bind(track).fetch_optional().await?;
    let (n_plays, first, last) = row.ok_or(StoreError::NotFound)?;
    Ok((n_plays, Played { first, last }))
}

pub(crate) async fn add_plays(
    tx: &mut Tx,
    user: &str,
    track: &str,
    n_plays: i32,
    played: Played,
) -> Result<(), StoreError> {
    let query = tx.query(SET_PLAYS).bind(user).bind(track).bind(n_plays);
    query.bind(played.first).bind(played.last).execute().await?;
    Ok(())
}

/// Removes a track from the library.
pub(crate) async fn remove(tx: &mut Tx, user: &str, track: &str) -> Result<(), StoreError> {
    tx.query(REMOVE).bind(user).bind(track).bind_now().execute().await?;
    Ok(())
}

pub(crate) async fn take_file(
    tx: &mut Tx,
    user: &str,
    file: &FilePart,
    track: &str,
    pinned: bool,
) -> Result<(), StoreError> {
    tx.query(TAKE_FILE).bind(user).bind(&file.path).bind(file.part).bind(track).bind(pinned).execute().await?;
    Ok(())
}

async fn log(
    tx: &mut Tx,
    user: &str,
    (from, into): (&str, &str),
    (kind, cause): (&str, &str),
    before: &Before,
) -> Result<Uuid, StoreError> {
    let id = Uuid::now_v7();
    let query = tx.query(LOG).bind(id).bind(user).bind(from).bind(into).bind(kind);
    query.bind(cause).bind(Json(before)).bind_now().execute().await?;
    Ok(id)
}

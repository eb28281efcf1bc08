//! Whether a track is in the library. Every tool asks this.

use engine::UserId;
use sqlx::types::Json;

use super::{Store, StoreError};
use music::{Isrc, Track, TrackId, identity::same_length};

/// A track that may be in a library. A recording is identified by its id, its code, its catalogue id, or its name and
/// length.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub id: Option<TrackId>,
    pub isrc: Option<Isrc>,
    pub tidal_id: Option<String>,
    pub name: String,
    pub duration: Option<f64>,
}

impl From<&Track> for Candidate {
    fn from(track: &Track) -> Self {
        Self {
            id: Some(track.id),
            isrc: track.isrc.clone(),
            tidal_id: track.tidal_id.clone(),
            name: track.recording_name().to_string(),
            duration: track.duration,
        }
    }
}

/// One index lookup for each kind of id. A query with `OR` would read every row of the user.
macro_rules! owned {
    ($open:literal, $close:literal) => {
        concat!(
            "SELECT recording_id, isrc, tidal_id, name, duration FROM library_tracks
                WHERE user_id = $1 AND removed_at IS NULL AND recording_id IN (",
            $open,
            "$5",
            $close,
            ")
            UNION ALL SELECT recording_id, isrc, tidal_id, name, duration FROM library_tracks
                WHERE user_id = $1 AND removed_at IS NULL AND isrc IN (",
            $open,
            "$2",
            $close,
            ")
            UNION ALL SELECT recording_id, isrc, tidal_id, name, duration FROM library_tracks
                WHERE user_id = $1 AND removed_at IS NULL AND name IN (",
            $open,
            "$3",
            $close,
            ")
            UNION ALL SELECT recording_id, isrc, tidal_id, name, duration FROM library_tracks
                WHERE user_id = $1 AND removed_at IS NULL AND tidal_id IN (",
            $open,
            "$4",
            $close,
            ")
            UNION ALL SELECT t.recording_id, t.isrc, NULL, t.name, t.duration FROM library_album_tracks t
                JOIN library_albums a ON a.user_id = t.user_id AND a.album_id = t.album_id AND a.removed_at IS NULL
                WHERE t.user_id = $1 AND t.recording_id IN (",
            $open,
            "$5",
            $close,
            ")
            UNION ALL SELECT t.recording_id, t.isrc, NULL, t.name, t.duration FROM library_album_tracks t
                JOIN library_albums a ON a.user_id = t.user_id AND a.album_id = t.album_id AND a.removed_at IS NULL
                WHERE t.user_id = $1 AND t.isrc IN (",
            $open,
            "$2",
            $close,
            ")
            UNION ALL SELECT t.recording_id, t.isrc, NULL, t.name, t.duration FROM library_album_tracks t
                JOIN library_albums a ON a.user_id = t.user_id AND a.album_id = t.album_id AND a.removed_at IS NULL
                WHERE t.user_id = $1 AND t.name IN (",
            $open,
            "$3",
            $close,
            ")"
        )
    };
}

pub(crate) const OWNED_SQLITE: &str = owned!("SELECT value FROM json_each(", ")");
pub(crate) const OWNED_POSTGRES: &str = owned!("SELECT jsonb_array_elements_text(", ")");

impl Store {
    /// Which of these are in the library, directly or on a saved album: one query for any number.
    pub async fn owned(&self, owner: &UserId, candidates: &[Candidate]) -> Result<Vec<bool>, StoreError> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let isrcs: Vec<_> = candidates.iter().filter_map(|candidate| candidate.isrc.as_ref()).collect();
        let names: Vec<_> = candidates.iter().map(|candidate| &candidate.name).collect();
        let ids: Vec<_> = candidates.iter().filter_map(|candidate| candidate.id).collect();
        let tidal_ids: Vec<_> = candidates.iter().filter_map(|candidate| candidate.tidal_id.as_ref()).collect();
        let sql = self.in_dialect(OWNED_SQLITE, OWNED_POSTGRES);
        let owned: Vec<OwnedRow> = self
            .read(sql)
            .bind(owner.as_str())
            .bind(Json(isrcs))
            .bind(Json(names))
            .bind(Json(tidal_ids))
            .bind(Json(ids))
            .fetch_all()
            .await?;
        Ok(candidates.iter().map(|candidate| owned.iter().any(|row| row.is(candidate))).collect())
    }
}

/// A track that is or was in the user's library.
#[derive(Clone, Debug)]
pub struct OwnTrack {
    pub id: TrackId,
    pub name: String,
    pub duration: Option<f64>,
    /// Whether no catalogue has confirmed it yet.
    pub is_open: bool,
}

impl Store {
    /// The user's tracks with these codes or names, including removed ones.
    pub async fn own_tracks(
        &self,
        owner: &UserId,
        isrcs: &[&Isrc],
        names: &[String],
    ) -> Result<Vec<OwnTrack>, StoreError> {
        const SQLITE: &str = "SELECT recording_id, name, duration, EXISTS (SELECT 1 FROM open_entries e
                WHERE e.user_id = $1 AND e.recording_id = library_tracks.recording_id) AS is_open
            FROM library_tracks WHERE user_id = $1 AND (isrc IN (SELECT value FROM json_each($2))
                OR name IN (SELECT value FROM json_each($3)))";
        const POSTGRES: &str = "SELECT recording_id, name, duration, EXISTS (SELECT 1 FROM open_entries e
                WHERE e.user_id = $1 AND e.recording_id = library_tracks.recording_id) AS is_open
            FROM library_tracks WHERE user_id = $1 AND (isrc IN (SELECT jsonb_array_elements_text($2))
                OR name IN (SELECT jsonb_array_elements_text($3)))";
        let sql = self.in_dialect(SQLITE, POSTGRES);
        let rows: Vec<(String, String, Option<f64>, bool)> =
            self.read(sql).bind(owner.as_str()).bind(Json(isrcs)).bind(Json(names)).fetch_all().await?;
        let tracks = rows.into_iter().map(|(id, name, duration, is_open)| {
            let id = id.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
            Ok(OwnTrack { id, name, duration, is_open })
        });
        tracks.collect()
    }
}

struct OwnedRow {
    recording_id: String,
    isrc: Option<String>,
    tidal_id: Option<String>,
    name: String,
    duration: Option<f64>,
}
from_row!(OwnedRow { recording_id, isrc, tidal_id, name, duration });

impl OwnedRow {
    fn is(&self, candidate: &Candidate) -> bool {
        let is_it = candidate.id.is_some_and(|id| id.to_string() == self.recording_id);
        let same_code = candidate.isrc.as_ref().is_some_and(|isrc| Some(isrc.as_str()) == self.isrc.as_deref());
        let same_id = candidate.tidal_id.is_some() && candidate.tidal_id == self.tidal_id;
        let same_name = candidate.name == self.name;
        // Movements of one work share a code, so the code decides only if the names do not contradict it.
        is_it
            || same_id
            || (same_name && (same_code || same_length(candidate.duration, self.duration)))
            || (same_code && candidate.id.is_none_or(|id| Some(id) == candidate.isrc.as_ref().map(TrackId::of_isrc)))
    }
}

//! Whether a track is in the library. Every tool asks this.

use std::collections::{HashMap, HashSet};

use engine::UserId;
use sqlx::types::Json;

use super::{Store, StoreError, db::Sql};
use music::{Isrc, Track, TrackId, identity::same_length};

/// A track that may be in a library. A recording is identified by its id, its code, its catalogue id, or its name and
/// length.
#[derive(Clone, Debug)]
pub struct OwnCandidate {
    pub id: Option<TrackId>,
    pub isrc: Option<Isrc>,
    pub tidal_id: Option<String>,
    pub name: String,
    pub duration: Option<f64>,
}

impl From<&Track> for OwnCandidate {
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
pub(crate) static OWNED: Sql = Sql::new(|| {
    let track = |condition: &str| {
        format!(
            "SELECT recording_id, isrc, tidal_id, name, duration FROM library_tracks
                WHERE user_id = $1 AND removed_at IS NULL AND {condition}"
        )
    };
    let on_album = |condition: &str| {
        format!(
            "SELECT t.recording_id, t.isrc, NULL, t.name, t.duration FROM library_album_tracks t
                JOIN library_albums a ON a.user_id = t.user_id AND a.album_id = t.album_id AND a.removed_at IS NULL
                WHERE t.user_id = $1 AND {condition}"
        )
    };
    [
        track("recording_id IN (SELECT value FROM json_each($5))"),
        track("isrc IN (SELECT value FROM json_each($2))"),
        track("name IN (SELECT value FROM json_each($3))"),
        track("tidal_id IN (SELECT value FROM json_each($4))"),
        on_album("t.recording_id IN (SELECT value FROM json_each($5))"),
        on_album("t.isrc IN (SELECT value FROM json_each($2))"),
        on_album("t.name IN (SELECT value FROM json_each($3))"),
    ]
    .join(" UNION ALL ")
});

impl Store {
    /// Which of these are in the library, directly or on a saved album: one query for any number.
    pub async fn owned(&self, owner: &UserId, candidates: &[OwnCandidate]) -> Result<Vec<bool>, StoreError> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let isrcs: Vec<_> = candidates.iter().filter_map(|candidate| candidate.isrc.as_ref()).collect();
        let names: Vec<_> = candidates.iter().map(|candidate| &candidate.name).collect();
        let ids: Vec<_> = candidates.iter().filter_map(|candidate| candidate.id).collect();
        let tidal_ids: Vec<_> = candidates.iter().filter_map(|candidate| candidate.tidal_id.as_ref()).collect();
        let owned: Vec<OwnedRow> = self
            .read(&OWNED)
            .bind(owner.as_str())
            .bind(Json(isrcs))
            .bind(Json(names))
            .bind(Json(tidal_ids))
            .bind(Json(ids))
            .fetch_all()
            .await?;
        let owned = OwnedNames::of(owned);
        Ok(candidates.iter().map(|candidate| owned.has(candidate)).collect())
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
        const SQL: &str = "SELECT recording_id, name, duration, EXISTS (SELECT 1 FROM open_entries e
                WHERE e.user_id = $1 AND e.recording_id = library_tracks.recording_id) AS is_open
            FROM library_tracks WHERE user_id = $1 AND (isrc IN (SELECT value FROM json_each($2))
                OR name IN (SELECT value FROM json_each($3)))";
        let rows: Vec<(String, String, Option<f64>, bool)> =
            self.read(SQL).bind(owner.as_str()).bind(Json(isrcs)).bind(Json(names)).fetch_all().await?;
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

/// The rows that were found, by each name of a recording. A candidate costs a few lookups, however many rows there are: a
/// playlist and the library that it is compared with have ten thousand each.
#[derive(Default)]
struct OwnedNames {
    ids: HashSet<String>,
    tidal_ids: HashSet<String>,
    codes: HashSet<String>,
    names: HashMap<String, SameName>,
}

/// The rows with one name.
#[derive(Default)]
struct SameName {
    codes: HashSet<String>,
    /// Sorted.
    lengths: Vec<f64>,
    has_unknown_length: bool,
}

impl OwnedNames {
    fn of(rows: Vec<OwnedRow>) -> Self {
        let mut owned = Self::default();
        for OwnedRow { recording_id, isrc, tidal_id, name, duration } in rows {
            let same_name = owned.names.entry(name).or_default();
            match duration {
                Some(length) => same_name.lengths.push(length),
                None => same_name.has_unknown_length = true,
            }
            same_name.codes.extend(isrc.clone());
            owned.codes.extend(isrc);
            owned.ids.insert(recording_id);
            owned.tidal_ids.extend(tidal_id);
        }
        owned.names.values_mut().for_each(|same_name| same_name.lengths.sort_by(f64::total_cmp));
        owned
    }

    fn has(&self, candidate: &OwnCandidate) -> bool {
        let is_it = candidate.id.is_some_and(|id| self.ids.contains(&id.to_string()));
        let same_id = candidate.tidal_id.as_ref().is_some_and(|id| self.tidal_ids.contains(id));
        let same_code = || candidate.isrc.as_ref().is_some_and(|isrc| self.codes.contains(isrc.as_str()));
        // Movements of one work share a code, so the code decides only if the names do not contradict it.
        is_it
            || same_id
            || self.names.get(&candidate.name).is_some_and(|same_name| same_name.has(candidate))
            || (candidate.id.is_none_or(|id| Some(id) == candidate.isrc.as_ref().map(TrackId::of_isrc)) && same_code())
    }
}

impl SameName {
    fn has(&self, candidate: &OwnCandidate) -> bool {
        let Some(length) = candidate.duration else { return true };
        let next = self.lengths.partition_point(|other| *other < length);
        let nearest = [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|at| self.lengths.get(at));
        self.has_unknown_length
            || candidate.isrc.as_ref().is_some_and(|isrc| self.codes.contains(isrc.as_str()))
            || nearest.into_iter().any(|other| same_length(Some(length), Some(*other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, isrc: Option<&str>, name: &str, duration: Option<f64>) -> OwnedRow {
        let isrc = isrc.map(str::to_owned);
        OwnedRow { recording_id: id.into(), isrc, tidal_id: Some(format!("t{id}")), name: name.into(), duration }
    }

    fn candidate(isrc: Option<&str>, name: &str, duration: Option<f64>) -> OwnCandidate {
        let isrc: Option<Isrc> = isrc.map(|isrc| isrc.parse().unwrap());
        OwnCandidate { id: None, isrc, tidal_id: None, name: name.into(), duration }
    }

    #[test]
    fn a_track_is_owned_by_its_id_its_code_its_catalogue_id_or_its_name_and_length() {
        let id = TrackId::of_tidal("1");
        let rows = vec![
            row(&id.to_string(), Some("XSGUE2600001"), "a||x", Some(200.0)),
            row("other", None, "a||x", Some(100.0)),
            row("unknown", None, "b||x", None),
        ];
        let owned = OwnedNames::of(rows);
        let other = TrackId::of_tidal("2");
        let cases = [
            ("its id", OwnCandidate { id: Some(id), ..candidate(None, "z", None) }, true),
            ("another id", OwnCandidate { id: Some(other), ..candidate(None, "z", None) }, false),
            ("its catalogue id", OwnCandidate { tidal_id: Some("tother".into()), ..candidate(None, "z", None) }, true),
            ("its code", candidate(Some("XSGUE2600001"), "z", None), true),
            (
                "its code, as another movement",
                OwnCandidate { id: Some(other), ..candidate(Some("XSGUE2600001"), "z", None) },
                false,
            ),
            (
                "its code and its name",
                OwnCandidate { id: Some(other), ..candidate(Some("XSGUE2600001"), "a||x", Some(9.0)) },
                true,
            ),
            ("its name and its length", candidate(None, "a||x", Some(201.0)), true),
            ("its name and the shorter length", candidate(None, "a||x", Some(99.0)), true),
            ("its name with another length", candidate(None, "a||x", Some(150.0)), false),
            ("its name without a length", candidate(None, "a||x", None), true),
            ("its name, whose length is unknown", candidate(None, "b||x", Some(150.0)), true),
        ];
        for (what, candidate, expected) in cases {
            assert_eq!(owned.has(&candidate), expected, "{what}");
        }
    }

    #[test]
    fn the_work_does_not_grow_with_the_square_of_a_playlist() {
        const N: usize = 100_000;
        // The worst case: all have one name, and no length is the same.
        let rows = (0..N).map(|n| row(&n.to_string(), None, "a||x", Some(n as f64 * 10.0))).collect();
        let candidates: Vec<_> = (0..N).map(|n| candidate(None, "a||x", Some(n as f64 * 10.0 + 5.0))).collect();
        let began = std::time::Instant::now();
        let owned = OwnedNames::of(rows);
        assert_eq!(candidates.iter().filter(|candidate| owned.has(candidate)).count(), 0);
        // Ten thousand million comparisons take minutes, also in a release build.
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }
}

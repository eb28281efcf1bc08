//! Which of a user's tracks were merged, why, and by which id it is undone?

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, db::Tx, merges::Before};
use music::TrackId;

/// A merge that was not undone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MergeLine {
    /// For `POST /api/tracks/merges/{undoId}/undo`.
    pub undo_id: Uuid,
    /// `user`, or `sound`: two files have the same sound.
    pub cause: String,
    /// The track that became part of another one.
    pub track_id: String,
    pub title: String,
    pub artist: String,
    /// The track that stayed.
    pub into: String,
    pub into_title: String,
    pub into_artist: String,
    pub merged_at: DateTime<Utc>,
    /// The files of the track that became part of the other one.
    pub files: Vec<String>,
}

struct MergeRow {
    undo_id: Uuid,
    cause: String,
    track_id: String,
    title: String,
    artist: String,
    into: String,
    into_title: String,
    into_artist: String,
    merged_at: DateTime<Utc>,
    before: Json<Before>,
}
from_row!(MergeRow { undo_id, cause, track_id, title, artist, into, into_title, into_artist, merged_at, before });

impl From<MergeRow> for MergeLine {
    fn from(row: MergeRow) -> Self {
        let MergeRow { undo_id, cause, track_id, title, artist, into, into_title, into_artist, merged_at, before } =
            row;
        let mut files: Vec<String> = before.0.files.into_iter().map(|file| file.path).collect();
        // The parts of one file follow each other.
        files.dedup();
        Self { undo_id, cause, track_id, title, artist, into, into_title, into_artist, merged_at, files }
    }
}

impl Store {
    /// Newest first, from the one `from` on. With `into`, those that led to this track, also over other tracks.
    pub async fn merges(
        &self,
        owner: &UserId,
        limit: u32,
        from: Option<Uuid>,
        into: Option<TrackId>,
    ) -> Result<Vec<MergeLine>, StoreError> {
        const SQL: &str = "WITH RECURSIVE parts (id) AS (SELECT CAST($4 AS TEXT)
                UNION SELECT p.recording_id FROM track_merges p JOIN parts ON p.into_id = parts.id
                WHERE p.user_id = $1 AND p.kind = 'merge' AND p.undone_at IS NULL)
            SELECT m.id AS undo_id, m.cause, m.recording_id AS track_id, COALESCE(a.title, '') AS title,
                COALESCE(a.artist, '') AS artist, m.into_id AS \"into\", COALESCE(b.title, '') AS into_title,
                COALESCE(b.artist, '') AS into_artist, m.created_at AS merged_at, m.before
            FROM track_merges m
            LEFT JOIN library_tracks a ON a.user_id = m.user_id AND a.recording_id = m.recording_id
            LEFT JOIN library_tracks b ON b.user_id = m.user_id AND b.recording_id = m.into_id
            WHERE m.user_id = $1 AND m.kind = 'merge' AND m.undone_at IS NULL AND ($3 IS NULL OR m.id <= $3)
                AND (CAST($4 AS TEXT) IS NULL OR m.into_id IN (SELECT id FROM parts))
            ORDER BY m.id DESC LIMIT $2";
        let query = self.read(SQL).bind(owner.as_str()).bind(i64::from(limit)).bind(from);
        let rows: Vec<MergeRow> = query.bind(into.map(|into| into.to_string())).fetch_all().await?;
        Ok(rows.into_iter().map(MergeLine::from).collect())
    }
}

/// The track that a track of the user was merged into, and that one into another, to the last.
pub(crate) async fn merged_into(tx: &mut Tx, owner: &UserId, track: &str) -> Result<Option<String>, StoreError> {
    const SQL: &str = "SELECT into_id FROM track_merges WHERE user_id = $1 AND recording_id = $2 AND kind = 'merge'
        AND undone_at IS NULL ORDER BY created_at DESC LIMIT 1";
    // The bound is for rows that form a circle.
    const LONGEST: usize = 100;
    let mut last: Option<String> = None;
    for _ in 0..LONGEST {
        let at = last.as_deref().unwrap_or(track);
        let next: Option<(String,)> = tx.query(SQL).bind(owner.as_str()).bind(at).fetch_optional().await?;
        match next {
            Some((into,)) => last = Some(into),
            None => break,
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::json;

    use super::*;
    use crate::{NewImport, NewLibraryTrack, NewOpenEntry, Resolution};
    use music::{Track, TrackRef};

    fn named(title: &str) -> Track {
        let says = json!({"isrc": "QZXYZ1900004", "title": title, "artist": "Ivy Marlow", "album": "Harbour"});
        serde_json::from_value(says).unwrap()
    }

    /// A track of a file that no catalogue has confirmed.
    fn own(title: &str) -> NewLibraryTrack {
        let track = Track { id: TrackId::of_owner("ann", title), isrc: None, ..named(title) };
        NewLibraryTrack { public: None, is_own: true, ..NewLibraryTrack::catalogued(track) }
    }

    #[tokio::test]
    async fn a_catalogue_that_finds_both_of_two_merged_tracks_loses_neither() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let (ann, none) = (UserId::new("ann"), BTreeSet::new());
        let tracks = [own("Low Tide"), own("track 01")];
        let [stays, goes] = [&tracks[0].track.id, &tracks[1].track.id];
        let open = |track: &NewLibraryTrack| NewOpenEntry {
            id: Uuid::now_v7(),
            recording: track.track.id,
            entry: json!({"line": 1}),
            found: json!({"outcome": "unmatched"}),
            playlists: &none,
        };
        let (first, second) = (open(&tracks[0]), open(&tracks[1]));
        let ids = [second.id, first.id];
        let import = NewImport {
            file: "f",
            kind: "audio",
            tracks: &tracks,
            playlists: &BTreeMap::new(),
            open: vec![first, second],
            moves: &[],
            settled: &[],
            is_sync: false,
        };
        store.keep_import(&ann, &import, &json!({})).await.unwrap();
        let undo = store.merge_by_sound(&ann, &goes.to_string(), &stays.to_string()).await.unwrap().unwrap();
        let found = named("Low Tide");
        for id in ids {
            let matched = Resolution::Matched(Box::new(NewLibraryTrack::catalogued(found.clone())));
            store.resolve_entry(&ann, id, &matched).await.unwrap();
        }
        let track = store.library_track(&ann, &TrackRef::Id(found.id)).await.expect("it is in the library");
        assert_eq!(track.isrc.as_deref(), Some("QZXYZ1900004"));
        let merges = store.merges(&ann, 10, None, None).await.unwrap();
        assert_eq!((merges.len(), &merges[0].into), (1, &found.id.to_string()), "{merges:?}");
        store.undo_merge(&ann, undo).await.unwrap();
        store.library_track(&ann, &TrackRef::Id(*goes)).await.expect("it is back");
        let again = store.merge_by_sound(&ann, &goes.to_string(), &found.id.to_string()).await.unwrap();
        assert_eq!(again, None, "what the user has parted is not merged by its sound");
    }
}

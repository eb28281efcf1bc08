//! Imports: what a file brought, and the entries that no catalogue has confirmed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    ItemId, NewLibraryTrack, PlaylistTrack, Priority, Store, StoreError,
    db::Tx,
    library_insert::{Removed, insert_tracks},
    moves::move_recording,
};
use music::{Track, TrackId};

/// One file, ready to be kept.
pub struct NewImport<'a> {
    pub file: &'a str,
    /// The id of its format.
    pub kind: &'a str,
    /// Each recording once, in the order of the file.
    pub tracks: &'a [NewLibraryTrack],
    /// In playing order.
    pub playlists: &'a BTreeMap<String, Vec<TrackId>>,
    pub open: Vec<NewOpenEntry<'a>>,
    /// Tracks that an earlier import could not match and this one does: the old id and the one it has now.
    pub moves: &'a [(TrackId, TrackId)],
    /// Recordings that are matched now: entries that an earlier import left open are settled.
    pub settled: &'a [TrackId],
    /// A folder is kept in step: what the owner removed by hand stays removed.
    pub is_sync: bool,
}

/// An entry of a file that no catalogue has confirmed, and the track that it is meanwhile.
pub struct NewOpenEntry<'a> {
    pub id: Uuid,
    pub recording: TrackId,
    pub entry: Value,
    pub found: Value,
    pub playlists: &'a BTreeSet<String>,
}

/// A file that was imported, with its report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportLine {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    #[serde(flatten)]
    pub report: Value,
}

const INSERT_IMPORT: &str = "INSERT INTO imports (id, user_id, report, created_at) VALUES ($1, $2, $3, $4)";

/// A dismissed entry stays dismissed; any other is looked for as if it were new.
const INSERT_OPEN: &str = "INSERT INTO open_entries
        (id, user_id, import_id, file, kind, entry, found, playlists, dismissed, tries, due_at, recording_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, FALSE, 0, $9, $10)
    ON CONFLICT (id) DO UPDATE SET import_id = excluded.import_id, file = excluded.file, kind = excluded.kind,
        entry = excluded.entry, found = excluded.found, playlists = excluded.playlists, tries = 0,
        due_at = excluded.due_at, recording_id = excluded.recording_id";

const CLOSE: &str = "DELETE FROM open_entries WHERE user_id = $1 AND recording_id = $2";

/// Tracks that are kept in one transaction. A larger file takes several, so that other users can write in between; a
/// second import of the same file adds what a crash left out.
const AT_ONCE: usize = 1000;

/// The same list of the same file is one playlist, however often it is imported. A deleted one stays deleted, and one
/// that its owner has edited stays as it is.
const PUT_PLAYLIST: &str = "INSERT INTO playlists (id, user_id, title, tracks, created_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET tracks = excluded.tracks, revision = playlists.revision + 1
        WHERE playlists.deleted_at IS NULL AND playlists.edited_at IS NULL";

impl Store {
    /// Keeps an import with its report. Returns how many tracks are new in the library.
    pub async fn keep_import(&self, owner: &UserId, import: &NewImport<'_>, report: &Value) -> Result<u64, StoreError> {
        const REPORT: &str = "UPDATE imports SET report = $2 WHERE id = $1";
        let id = Uuid::now_v7();
        let mut tx = self.begin().await?;
        tx.query(INSERT_IMPORT).bind(id).bind(owner.as_str()).bind(Json(report)).bind_now().execute().await?;
        for (from, to) in import.moves {
            let to = import.tracks.iter().find(|new| new.track.id == *to);
            if let Some(to) = to {
                move_recording(&mut tx, owner, &from.to_string(), &to.track).await?;
            }
        }
        let removed = if import.is_sync { Removed::ComesBackWithFile } else { Removed::ComesBack };
        let mut n_added = 0;
        for (n, part) in import.tracks.chunks(AT_ONCE).enumerate() {
            if n > 0 {
                tx.commit().await?;
                tx = self.begin().await?;
            }
            n_added += insert_tracks(&mut tx, owner, part, removed, Priority::Import).await?;
        }
        for (title, tracks) in listed_tracks(import) {
            put_playlist(&mut tx, owner, import.kind, title, &tracks).await?;
        }
        for recording in import.settled.iter().chain(import.moves.iter().map(|(from, _)| from)) {
            tx.query(CLOSE).bind(owner.as_str()).bind(recording.to_string()).execute().await?;
        }
        for open in &import.open {
            put_open(&mut tx, owner, (id, import), open).await?;
        }
        let mut report = report.clone();
        report["added"] = n_added.into();
        report["alreadyThere"] = (import.tracks.len() as u64 - n_added).into();
        tx.query(REPORT).bind(id).bind(Json(report)).execute().await?;
        tx.commit().await?;
        Ok(n_added)
    }

    /// Files that were imported, newest first, from the one `from` on.
    pub async fn imports(&self, owner: &UserId, limit: u32, from: Option<Uuid>) -> Result<Vec<ImportLine>, StoreError> {
        const SQL: &str = "SELECT id, created_at, report FROM imports WHERE user_id = $1 AND ($3 IS NULL OR id <= $3)
            ORDER BY id DESC LIMIT $2";
        let query = self.read(SQL).bind(owner.as_str()).bind(i64::from(limit)).bind(from);
        let rows: Vec<(Uuid, DateTime<Utc>, Json<Value>)> = query.fetch_all().await?;
        Ok(rows.into_iter().map(|(id, created_at, Json(report))| ImportLine { id, created_at, report }).collect())
    }
}

async fn put_open(
    tx: &mut Tx,
    owner: &UserId,
    (id, import): (Uuid, &NewImport<'_>),
    open: &NewOpenEntry<'_>,
) -> Result<(), StoreError> {
    tx.query(INSERT_OPEN)
        .bind(open.id)
        .bind(owner.as_str())
        .bind(id)
        .bind(import.file)
        .bind(import.kind)
        .bind(Json(&open.entry))
        .bind(Json(&open.found))
        .bind(Json(open.playlists))
        .bind_now()
        .bind(open.recording.to_string())
        .execute()
        .await?;
    Ok(())
}

pub(crate) async fn put_playlist(
    tx: &mut Tx,
    owner: &UserId,
    kind: &str,
    title: &str,
    tracks: &[PlaylistTrack],
) -> Result<(), StoreError> {
    let query = tx.query(PUT_PLAYLIST).bind(playlist_id(owner, kind, title)).bind(owner.as_str()).bind(title);
    query.bind(Json(tracks)).bind_now().execute().await?;
    Ok(())
}

/// Playlists with their tracks.
fn listed_tracks<'a>(import: &NewImport<'a>) -> Vec<(&'a str, Vec<PlaylistTrack>)> {
    let by_id: HashMap<TrackId, &Track> = import.tracks.iter().map(|new| (new.track.id, &new.track)).collect();
    let lists = import.playlists.iter().filter(|(_, ids)| !ids.is_empty()).map(|(title, ids)| {
        let tracks = ids.iter().filter_map(|id| by_id.get(id)).map(|track| listed(track));
        (title.as_str(), tracks.collect())
    });
    lists.collect()
}

pub(crate) fn listed(track: &Track) -> PlaylistTrack {
    // Lyrics and numbers are with the track itself; a list only needs to show it.
    let track = Track { lyrics: None, audio_features: None, provenance: Default::default(), ..track.clone() };
    PlaylistTrack { item_id: ItemId::new(), track, reasoning: String::new() }
}

pub(crate) fn playlist_id(owner: &UserId, kind: &str, title: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{owner}\n{kind}\n{title}").as_bytes())
}

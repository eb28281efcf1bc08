//! Imports: what a file brought, all of it or nothing, and the entries that are still open.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    PlaylistTrack, Priority, Store, StoreError,
    db::Tx,
    library::{Removed, insert_tracks},
    now,
};
use music::{Isrc, Track};

/// One file, ready to be kept.
pub struct NewImport<'a> {
    pub file: &'a str,
    /// The id of its format.
    pub kind: &'a str,
    /// Each recording once, in the order of the file.
    pub tracks: &'a [Track],
    /// In playing order.
    pub playlists: &'a BTreeMap<String, Vec<Isrc>>,
    pub open: Vec<NewOpenEntry<'a>>,
    /// Entries that are matched now: if an earlier import left them open, they no longer are.
    pub settled: &'a [Uuid],
}

/// An entry of a file that no recording was found for.
pub struct NewOpenEntry<'a> {
    pub id: Uuid,
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
        (id, user_id, import_id, file, kind, entry, found, playlists, dismissed, tries, due_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, FALSE, 0, $9)
    ON CONFLICT (id) DO UPDATE SET import_id = excluded.import_id, file = excluded.file, kind = excluded.kind,
        entry = excluded.entry, found = excluded.found, playlists = excluded.playlists, tries = 0,
        due_at = excluded.due_at";

const OPEN_IDS: &str = "SELECT id FROM open_entries WHERE user_id = $1";
const CLOSE: &str = "DELETE FROM open_entries WHERE id = $1";

/// The same list of the same file is one playlist, however often it is imported. A deleted one stays deleted.
const PUT_PLAYLIST: &str = "INSERT INTO playlists (id, user_id, title, tracks, created_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET tracks = excluded.tracks WHERE playlists.deleted_at IS NULL";

impl Store {
    /// Keeps an import with its report, all of it or nothing. Returns how many tracks are new in the library.
    pub async fn keep_import(&self, owner: &UserId, import: &NewImport<'_>, report: &Value) -> Result<u64, StoreError> {
        let id = Uuid::now_v7();
        let mut tx = self.begin().await?;
        let n_added = insert_tracks(&mut tx, owner, import.tracks, Removed::ComesBack, Priority::Import).await?;
        let mut report = report.clone();
        report["added"] = n_added.into();
        report["alreadyThere"] = (import.tracks.len() as u64 - n_added).into();
        tx.query(INSERT_IMPORT).bind(id).bind(owner.as_str()).bind(Json(report)).bind(now()).execute().await?;
        for (title, tracks) in listed_tracks(import) {
            put_playlist(&mut tx, owner, import.kind, title, &tracks).await?;
        }
        close_settled(&mut tx, owner, import.settled).await?;
        for open in &import.open {
            tx.query(INSERT_OPEN)
                .bind(open.id)
                .bind(owner.as_str())
                .bind(id)
                .bind(import.file)
                .bind(import.kind)
                .bind(Json(&open.entry))
                .bind(Json(&open.found))
                .bind(Json(open.playlists))
                .bind(now())
                .execute()
                .await?;
        }
        tx.commit().await?;
        Ok(n_added)
    }

    /// Files that were imported, newest first.
    pub async fn imports(&self, owner: &UserId, limit: u32) -> Result<Vec<ImportLine>, StoreError> {
        const SQL: &str = "SELECT id, created_at, report FROM imports WHERE user_id = $1 ORDER BY id DESC LIMIT $2";
        let rows: Vec<(Uuid, DateTime<Utc>, Json<Value>)> =
            self.read(SQL).bind(owner.as_str()).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.into_iter().map(|(id, created_at, Json(report))| ImportLine { id, created_at, report }).collect())
    }
}

/// Entries that an earlier import left open and that are matched now are open no longer.
async fn close_settled(tx: &mut Tx, owner: &UserId, settled: &[Uuid]) -> Result<(), StoreError> {
    let settled: BTreeSet<&Uuid> = settled.iter().collect();
    let open: Vec<(Uuid,)> = tx.query(OPEN_IDS).bind(owner.as_str()).fetch_all().await?;
    for (id,) in open.into_iter().filter(|(id,)| settled.contains(id)) {
        tx.query(CLOSE).bind(id).execute().await?;
    }
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
    query.bind(Json(tracks)).bind(now()).execute().await?;
    Ok(())
}

/// Playlists with their tracks.
fn listed_tracks<'a>(import: &NewImport<'a>) -> Vec<(&'a str, Vec<PlaylistTrack>)> {
    let by_code: HashMap<&Isrc, &Track> = import.tracks.iter().map(|track| (&track.isrc, track)).collect();
    let lists = import.playlists.iter().filter(|(_, codes)| !codes.is_empty()).map(|(title, codes)| {
        let tracks = codes.iter().filter_map(|isrc| by_code.get(isrc)).map(|track| listed(track));
        (title.as_str(), tracks.collect())
    });
    lists.collect()
}

pub(crate) fn listed(track: &Track) -> PlaylistTrack {
    // Lyrics and numbers are with the track itself; a list only needs to show it.
    let track = Track { lyrics: None, audio_features: None, provenance: Default::default(), ..track.clone() };
    PlaylistTrack { track, reasoning: String::new() }
}

pub(crate) fn playlist_id(owner: &UserId, kind: &str, title: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{owner}\n{kind}\n{title}").as_bytes())
}

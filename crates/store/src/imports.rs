//! Imports: the tracks and playlists of a file, and the entries that no catalogue has confirmed.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::LazyLock,
};

use chrono::{DateTime, Utc};
use engine::UserId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    ItemId, NewLibraryTrack, PlaylistTrack, Priority, Store, StoreError,
    db::{Dialects, Tx},
    documents::project,
    library_insert::{Removed, insert_tracks},
    moves::move_recording,
    room::Room,
};
use music::{Track, TrackId};

/// One file, ready to be stored.
pub struct NewImport<'a> {
    pub file: &'a str,
    /// The id of its format.
    pub kind: &'a str,
    /// Each recording once, in the order of the file.
    pub tracks: &'a [NewLibraryTrack],
    /// In playing order.
    pub playlists: &'a BTreeMap<String, Vec<TrackId>>,
    pub open: Vec<NewOpenEntry<'a>>,
    /// Tracks that an earlier import could not match and this one does: the old id and the new track.
    pub moves: &'a [(TrackId, TrackId)],
    /// Recordings that are matched now. Open entries of earlier imports for them are closed.
    pub settled: &'a [TrackId],
    /// Whether the import is the scan of a synchronised folder: a track that the owner removed by hand stays removed.
    pub is_sync: bool,
}

/// An entry of a file that no catalogue has confirmed, and the track that represents it.
pub struct NewOpenEntry<'a> {
    pub id: Uuid,
    pub recording: TrackId,
    pub entry: Value,
    pub found: Value,
    pub playlists: &'a BTreeSet<String>,
}

/// An imported file with its report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportLine {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    #[serde(flatten)]
    pub report: Value,
}

const INSERT_IMPORT: &str = "INSERT INTO imports (id, user_id, report, created_at) VALUES ($1, $2, $3, $4)";

/// A dismissed entry stays dismissed. Any other entry is searched for as if it were new.
const INSERT_OPEN: &str = "INSERT INTO open_entries
        (id, user_id, import_id, file, kind, entry, found, playlists, dismissed, tries, due_at, recording_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, FALSE, 0, $9, $10)
    ON CONFLICT (id) DO UPDATE SET import_id = excluded.import_id, file = excluded.file, kind = excluded.kind,
        entry = excluded.entry, found = excluded.found, playlists = excluded.playlists, tries = 0,
        due_at = excluded.due_at, recording_id = excluded.recording_id";

static CLOSE: LazyLock<Dialects> = LazyLock::new(|| {
    Dialects::locking(
        "DELETE FROM open_entries WHERE id IN (SELECT id FROM open_entries
            WHERE user_id = $1 AND recording_id IN (SELECT value FROM json_each($2)) ORDER BY id FOR UPDATE)",
    )
});
/// How many recordings one statement closes entries for.
const CLOSED_AT_ONCE: usize = 500;

const REPORT: &str = "UPDATE imports SET report = $2 WHERE id = $1";

impl Store {
    /// Stores an import with its report. Returns how many tracks are new in the library.
    ///
    /// A file takes several short transactions, so that other users can write in between. The row of the import says
    /// how many tracks are stored. After a crash, a second import of the same file adds the rest.
    pub async fn keep_import(&self, owner: &UserId, import: &NewImport<'_>, report: &Value) -> Result<u64, StoreError> {
        self.check_room(owner, Room::Tracks).await?;
        if !import.open.is_empty() {
            self.check_room(owner, Room::OpenEntries).await?;
        }
        if !import.playlists.is_empty() {
            self.check_room(owner, Room::Playlists).await?;
        }
        let id = Uuid::now_v7();
        let mut report = report.clone();
        report["kept"] = 0.into();
        let row = self.write(INSERT_IMPORT).bind(id).bind(owner.as_str()).bind(Json(&report)).bind_now();
        row.execute().await?;
        self.keep_moves(owner, import).await?;
        let n_added = self.keep_tracks(owner, import, (id, &mut report)).await?;
        for (title, tracks) in listed_tracks(import) {
            self.put_playlist(owner, import.kind, title, &tracks).await?;
        }
        self.close_entries(owner, import).await?;
        // All imports lock the entries in the same order, so that they cannot deadlock.
        let mut open: Vec<&NewOpenEntry<'_>> = import.open.iter().collect();
        open.sort_by_key(|open| open.id);
        let mut rest = open.as_slice();
        while !rest.is_empty() {
            let (part, after) = self.paces.entries.part(rest);
            let mut tx = self.begin_short().await?;
            let put = async {
                for open in part {
                    put_open(&mut tx, owner, (id, import), open).await?;
                }
                self.commit_short(tx, &self.paces.entries, part.len()).await
            };
            self.undisturbed(put).await?;
            rest = after;
        }
        report["added"] = n_added.into();
        report["alreadyThere"] = (import.tracks.len() as u64 - n_added).into();
        self.write(REPORT).bind(id).bind(Json(report)).execute().await?;
        Ok(n_added)
    }

    async fn keep_moves(&self, owner: &UserId, import: &NewImport<'_>) -> Result<(), StoreError> {
        if import.moves.is_empty() {
            return Ok(());
        }
        let by_id: HashMap<TrackId, &Track> = import.tracks.iter().map(|new| (new.track.id, &new.track)).collect();
        for (from, to) in import.moves {
            let Some(to) = by_id.get(to) else { continue };
            let from = from.to_string();
            self.move_in_playlists(owner, &from, to).await?;
            let mut tx = self.begin_short().await?;
            let moved = async {
                move_recording(&mut tx, owner, &from, to).await?;
                project(&mut tx, &[from, to.id.to_string()]).await?;
                tx.commit().await
            };
            self.undisturbed(moved).await?;
        }
        Ok(())
    }

    async fn keep_tracks(
        &self,
        owner: &UserId,
        import: &NewImport<'_>,
        (id, report): (Uuid, &mut Value),
    ) -> Result<u64, StoreError> {
        let removed = if import.is_sync { Removed::ComesBackWithFile } else { Removed::ComesBack };
        let (mut n_added, mut n_kept, mut rest) = (0, 0, import.tracks);
        while !rest.is_empty() {
            let (part, after) = self.paces.tracks.part(rest);
            n_kept += part.len();
            report["kept"] = n_kept.into();
            let mut tx = self.begin_short().await?;
            let kept = async {
                let n_added = insert_tracks(&mut tx, owner, part, removed, Priority::Import).await?;
                tx.query(REPORT).bind(id).bind(Json(&*report)).execute().await?;
                self.commit_short(tx, &self.paces.tracks, part.len()).await?;
                Ok::<u64, StoreError>(n_added)
            };
            n_added += self.undisturbed(kept).await?;
            rest = after;
        }
        Ok(n_added)
    }

    /// Closes entries that an earlier import left open and this one matched.
    async fn close_entries(&self, owner: &UserId, import: &NewImport<'_>) -> Result<(), StoreError> {
        let settled = import.settled.iter().chain(import.moves.iter().map(|(from, _)| from));
        let settled: Vec<String> = settled.map(TrackId::to_string).collect();
        for part in settled.chunks(CLOSED_AT_ONCE) {
            self.write(self.text_of(&CLOSE)).bind(owner.as_str()).bind(Json(part)).execute().await?;
        }
        Ok(())
    }

    /// Imported files, newest first, starting with `from`.
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

/// Playlists with their tracks.
fn listed_tracks<'a>(import: &NewImport<'a>) -> impl Iterator<Item = (&'a str, Vec<PlaylistTrack>)> {
    let by_id: HashMap<TrackId, &Track> = import.tracks.iter().map(|new| (new.track.id, &new.track)).collect();
    import.playlists.iter().filter(|(_, ids)| !ids.is_empty()).map(move |(title, ids)| {
        let tracks = ids.iter().filter_map(|id| by_id.get(id)).map(|track| listed(track));
        (title.as_str(), tracks.collect())
    })
}

pub(crate) fn listed(track: &Track) -> PlaylistTrack {
    // A playlist stores only what it shows. Lyrics and audio features are stored with the track.
    let track = Track { lyrics: None, audio_features: None, provenance: Default::default(), ..track.clone() };
    PlaylistTrack { item_id: ItemId::new(), track, reasoning: String::new() }
}

pub(crate) fn playlist_id(owner: &UserId, kind: &str, title: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{owner}\n{kind}\n{title}").as_bytes())
}

//! Imports: what a file brought, all of it or nothing, and the entries that are still open.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use engine::UserId;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    PlaylistTrack, Store, StoreError, in_transaction,
    library::{ADD_TRACKS, insert_library_tracks},
    now, reading,
    schedule::schedule,
};
use crate::{
    enrich::Priority,
    import::{Import, Keeper, Kept},
};
use formats::Kind;
use music::{Isrc, Track};

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
pub(super) const PUT_PLAYLIST: &str =
    "INSERT INTO playlists (id, user_id, title, tracks, created_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET tracks = excluded.tracks WHERE playlists.deleted_at IS NULL";

impl Keeper for Store {
    fn keep<'a>(
        &'a self,
        owner: &'a UserId,
        import: &'a Import,
        report: &'a Value,
    ) -> BoxFuture<'a, Result<Kept, StoreError>> {
        Box::pin(self.keep_import(owner, import, report))
    }
}

impl Store {
    async fn keep_import(&self, owner: &UserId, import: &Import, report: &Value) -> Result<Kept, StoreError> {
        let id = Uuid::now_v7();
        let kind = kind_name(import.kind)?;
        let listed = listed_tracks(import);
        let settled: BTreeSet<&Uuid> = import.settled.iter().collect();
        let n_added = in_transaction!(self, |tx| {
            let n_added = insert_library_tracks!(tx, ADD_TRACKS, owner, &import.tracks);
            schedule!(self, tx, &import.tracks, Priority::Import);
            let mut report = report.clone();
            report["added"] = n_added.into();
            report["alreadyThere"] = (import.tracks.len() as u64 - n_added).into();
            let query = sqlx::query(INSERT_IMPORT).bind(id).bind(owner.as_str()).bind(Json(report)).bind(now());
            query.execute(&mut *tx).await?;
            for (title, tracks) in &listed {
                sqlx::query(PUT_PLAYLIST)
                    .bind(playlist_id(owner, &kind, title))
                    .bind(owner.as_str())
                    .bind(title)
                    .bind(Json(tracks))
                    .bind(now())
                    .execute(&mut *tx)
                    .await?;
            }
            let open: Vec<(Uuid,)> = sqlx::query_as(OPEN_IDS).bind(owner.as_str()).fetch_all(&mut *tx).await?;
            for (id,) in open.into_iter().filter(|(id,)| settled.contains(id)) {
                sqlx::query(CLOSE).bind(id).execute(&mut *tx).await?;
            }
            for open in &import.open {
                sqlx::query(INSERT_OPEN)
                    .bind(open.id(owner))
                    .bind(owner.as_str())
                    .bind(id)
                    .bind(&import.file)
                    .bind(&kind)
                    .bind(Json(&open.entry))
                    .bind(Json(&open.found))
                    .bind(Json(&open.playlists))
                    .bind(now())
                    .execute(&mut *tx)
                    .await?;
            }
            n_added
        });
        Ok(Kept { n_added, n_already_there: import.tracks.len() as u64 - n_added })
    }

    /// Files that were imported, newest first.
    pub async fn imports(&self, owner: &UserId, limit: u32) -> Result<Vec<ImportLine>, StoreError> {
        const SQL: &str = "SELECT id, created_at, report FROM imports WHERE user_id = $1 ORDER BY id DESC LIMIT $2";
        let rows: Vec<(Uuid, DateTime<Utc>, Json<Value>)> =
            reading!(self, |db| sqlx::query_as(SQL).bind(owner.as_str()).bind(i64::from(limit)).fetch_all(db).await)?;
        Ok(rows.into_iter().map(|(id, created_at, Json(report))| ImportLine { id, created_at, report }).collect())
    }
}

/// Playlists with their tracks.
fn listed_tracks(import: &Import) -> Vec<(&str, Vec<PlaylistTrack>)> {
    let by_code: HashMap<&Isrc, &Track> = import.tracks.iter().map(|track| (&track.isrc, track)).collect();
    let lists = import.playlists.iter().filter(|(_, codes)| !codes.is_empty()).map(|(title, codes)| {
        let tracks = codes.iter().filter_map(|isrc| by_code.get(isrc)).map(|track| listed(track));
        (title.as_str(), tracks.collect())
    });
    lists.collect()
}

pub(super) fn listed(track: &Track) -> PlaylistTrack {
    // Lyrics and numbers are with the track itself; a list only needs to show it.
    let track = Track { lyrics: None, audio_features: None, provenance: Default::default(), ..track.clone() };
    PlaylistTrack { track, reasoning: String::new() }
}

pub(super) fn playlist_id(owner: &UserId, kind: &str, title: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{owner}\n{kind}\n{title}").as_bytes())
}

fn kind_name(kind: Kind) -> Result<String, StoreError> {
    let encode = |error: Box<dyn std::error::Error + Send + Sync>| sqlx::Error::Encode(error);
    match serde_json::to_value(kind) {
        Ok(Value::String(name)) => Ok(name),
        Ok(other) => Err(encode(format!("a kind is a word, not {other}").into()).into()),
        Err(error) => Err(encode(error.into()).into()),
    }
}

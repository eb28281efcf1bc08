//! Imports: what a file brought, all of it or nothing, and the entries that are still open.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use engine::UserId;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    LEASE, PlaylistTrack, Store, StoreError, in_transaction,
    library::{ADD_TRACKS, insert_library_tracks},
    now, reading,
    schedule::schedule,
    writing,
};
use crate::{
    import::{Candidate, Import, ImportedTrack, Keeper, Kept, Kind, Match},
    ingest::Priority,
    music::{Isrc, Track},
};

/// A file that was imported, with its report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportLine {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    #[serde(flatten)]
    pub report: Value,
}

/// An entry that is still open, as its owner sees it.
#[derive(Clone, Debug)]
pub struct OpenLine {
    pub id: Uuid,
    pub file: String,
    pub kind: Kind,
    pub entry: ImportedTrack,
    pub found: Match,
}

/// An open entry that this node looks for now.
#[derive(Clone, Debug)]
pub(crate) struct OpenClaim {
    pub(crate) id: Uuid,
    pub(crate) owner: UserId,
    pub(crate) kind: Kind,
    pub(crate) tries: u32,
    pub(crate) entry: ImportedTrack,
}

/// How looking for an open entry ended.
#[derive(Clone, Debug)]
pub(crate) enum Resolution {
    Matched(Track),
    /// Still open; to be looked for again then.
    Open {
        found: Match,
        due_at: DateTime<Utc>,
    },
}

#[derive(sqlx::FromRow)]
struct OpenRow {
    id: Uuid,
    user_id: String,
    file: String,
    kind: String,
    entry: Json<ImportedTrack>,
    found: Json<Match>,
    tries: i32,
}

impl OpenRow {
    fn kind(&self) -> Result<Kind, sqlx::Error> {
        serde_json::from_value(Value::String(self.kind.clone())).map_err(|error| sqlx::Error::Decode(error.into()))
    }

    fn line(self) -> Result<OpenLine, sqlx::Error> {
        Ok(OpenLine { kind: self.kind()?, id: self.id, file: self.file, entry: self.entry.0, found: self.found.0 })
    }
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

const ADD_TO_PLAYLIST: &str = "SELECT tracks FROM playlists WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL";

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

    /// Entries that are still open, in the order of their files, dismissed ones left out.
    pub async fn open_entries(&self, owner: &UserId) -> Result<Vec<OpenLine>, StoreError> {
        const SQL: &str = "SELECT id, user_id, file, kind, entry, found, tries FROM open_entries
            WHERE user_id = $1 AND NOT dismissed ORDER BY import_id, id";
        let rows: Vec<OpenRow> = reading!(self, |db| sqlx::query_as(SQL).bind(owner.as_str()).fetch_all(db).await)?;
        let mut lines = rows.into_iter().map(OpenRow::line).collect::<Result<Vec<_>, _>>()?;
        lines.sort_by(|a, b| (&a.file, a.entry.line).cmp(&(&b.file, b.entry.line)));
        Ok(lines)
    }

    pub async fn open_entry(&self, owner: &UserId, id: Uuid) -> Result<OpenLine, StoreError> {
        const SQL: &str = "SELECT id, user_id, file, kind, entry, found, tries FROM open_entries
            WHERE user_id = $1 AND id = $2 AND NOT dismissed";
        let row: Option<OpenRow> =
            reading!(self, |db| sqlx::query_as(SQL).bind(owner.as_str()).bind(id).fetch_optional(db).await)?;
        Ok(row.ok_or(StoreError::NotFound)?.line()?)
    }

    /// The listener does not want to be asked about it again.
    pub async fn dismiss_entry(&self, owner: &UserId, id: Uuid) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE open_entries SET dismissed = TRUE WHERE user_id = $1 AND id = $2 AND NOT dismissed";
        let done = writing!(self, |db| sqlx::query(SQL)
            .bind(owner.as_str())
            .bind(id)
            .execute(db)
            .await
            .map(|done| done.rows_affected()))?;
        if done == 0 { Err(StoreError::NotFound) } else { Ok(()) }
    }

    /// Everything open is looked for again as soon as possible; answers how many entries.
    pub async fn retry_entries(&self, owner: &UserId) -> Result<u64, StoreError> {
        const SQL: &str = "UPDATE open_entries SET due_at = $2, tries = 0 WHERE user_id = $1 AND NOT dismissed";
        let again = writing!(self, |db| sqlx::query(SQL)
            .bind(owner.as_str())
            .bind(now())
            .execute(db)
            .await
            .map(|done| done.rows_affected()))?;
        Ok(again)
    }

    /// Takes open entries that are due, so that no other node looks for them.
    pub(crate) async fn claim_entries(&self, node: &str, limit: usize) -> Result<Vec<OpenClaim>, StoreError> {
        const SQLITE: &str = "UPDATE open_entries SET node = $1, lease_until = $2, tries = tries + 1
            WHERE id IN (SELECT id FROM open_entries
                WHERE NOT dismissed AND node IS NULL AND due_at <= $3 ORDER BY due_at LIMIT $4)
            RETURNING id, user_id, file, kind, entry, found, tries";
        const POSTGRES: &str = "UPDATE open_entries SET node = $1, lease_until = $2, tries = tries + 1
            WHERE id IN (SELECT id FROM open_entries
                WHERE NOT dismissed AND node IS NULL AND due_at <= $3 ORDER BY due_at LIMIT $4
                FOR UPDATE SKIP LOCKED)
            RETURNING id, user_id, file, kind, entry, found, tries";
        let sql = self.in_dialect(SQLITE, POSTGRES);
        let rows: Vec<OpenRow> = writing!(self, |db| sqlx::query_as(sql)
            .bind(node)
            .bind(now() + LEASE)
            .bind(now())
            .bind(limit as i64)
            .fetch_all(db)
            .await)?;
        let claims = rows.into_iter().map(|row| {
            Ok(OpenClaim {
                kind: row.kind()?,
                id: row.id,
                owner: UserId::new(row.user_id),
                tries: row.tries.unsigned_abs(),
                entry: row.entry.0,
            })
        });
        claims.collect()
    }

    /// Keeps what became of an entry. A match enters the library and the playlists the entry belongs to, and the entry
    /// is gone, in one transaction.
    pub(crate) async fn resolve_entry(
        &self,
        owner: &UserId,
        id: Uuid,
        resolution: &Resolution,
    ) -> Result<(), StoreError> {
        const STILL_OPEN: &str = "UPDATE open_entries SET found = $3, due_at = $4, node = NULL, lease_until = NULL
            WHERE user_id = $1 AND id = $2";
        const GONE: &str = "DELETE FROM open_entries WHERE user_id = $1 AND id = $2 RETURNING kind, playlists";
        in_transaction!(self, |tx| {
            let track = match resolution {
                Resolution::Open { found, due_at } => {
                    let query = sqlx::query(STILL_OPEN).bind(owner.as_str()).bind(id).bind(Json(found)).bind(due_at);
                    query.execute(&mut *tx).await?;
                    None
                }
                Resolution::Matched(track) => Some(track),
            };
            if let Some(track) = track {
                let gone: Option<(String, Json<BTreeSet<String>>)> =
                    sqlx::query_as(GONE).bind(owner.as_str()).bind(id).fetch_optional(&mut *tx).await?;
                let Some((kind, Json(playlists))) = gone else { return Err(StoreError::NotFound) };
                let tracks = std::slice::from_ref(track);
                insert_library_tracks!(tx, ADD_TRACKS, owner, tracks);
                schedule!(self, tx, tracks, Priority::Import);
                for title in &playlists {
                    let list_id = playlist_id(owner, &kind, title);
                    let old: Option<(Json<Vec<PlaylistTrack>>,)> = sqlx::query_as(ADD_TO_PLAYLIST)
                        .bind(list_id)
                        .bind(owner.as_str())
                        .fetch_optional(&mut *tx)
                        .await?;
                    let mut tracks = old.map(|(Json(tracks),)| tracks).unwrap_or_default();
                    if tracks.iter().all(|other| other.track.isrc != track.isrc) {
                        tracks.push(listed(track));
                    }
                    sqlx::query(PUT_PLAYLIST)
                        .bind(list_id)
                        .bind(owner.as_str())
                        .bind(title)
                        .bind(Json(tracks))
                        .bind(now())
                        .execute(&mut *tx)
                        .await?;
                }
            }
        });
        Ok(())
    }

    /// What a catalogue answered before, unless that is too long ago.
    pub(crate) async fn catalogue_answer(
        &self,
        catalogue: &str,
        question: &str,
        found_for: TimeDelta,
        nothing_for: TimeDelta,
    ) -> Result<Option<Vec<Candidate>>, StoreError> {
        const SQL: &str =
            "SELECT candidates, answered_at FROM catalogue_answers WHERE catalogue = $1 AND question = $2";
        let row: Option<(Json<Vec<Candidate>>, DateTime<Utc>)> =
            reading!(self, |db| sqlx::query_as(SQL).bind(catalogue).bind(question).fetch_optional(db).await)?;
        let Some((Json(candidates), at)) = row else { return Ok(None) };
        let good_for = if candidates.is_empty() { nothing_for } else { found_for };
        Ok((now() - at < good_for).then_some(candidates))
    }

    pub(crate) async fn remember_answer(
        &self,
        catalogue: &str,
        question: &str,
        candidates: &[Candidate],
    ) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO catalogue_answers (catalogue, question, candidates, answered_at)
            VALUES ($1, $2, $3, $4) ON CONFLICT (catalogue, question)
            DO UPDATE SET candidates = excluded.candidates, answered_at = excluded.answered_at";
        writing!(self, |db| sqlx::query(SQL)
            .bind(catalogue)
            .bind(question)
            .bind(Json(candidates))
            .bind(now())
            .execute(db)
            .await
            .map(drop))?;
        Ok(())
    }

    /// Open entries that are looked for now or about to be.
    pub async fn n_open_entries(&self) -> Result<i64, StoreError> {
        const SQL: &str =
            "SELECT COUNT(*) FROM open_entries WHERE NOT dismissed AND (due_at <= $1 OR node IS NOT NULL)";
        let (n,): (i64,) = reading!(self, |db| sqlx::query_as(SQL).bind(now()).fetch_one(db).await)?;
        Ok(n)
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

fn listed(track: &Track) -> PlaylistTrack {
    // Lyrics and numbers are with the track itself; a list only needs to show it.
    let track = Track { lyrics: None, audio_features: None, provenance: Default::default(), ..track.clone() };
    PlaylistTrack { track, reasoning: String::new() }
}

fn playlist_id(owner: &UserId, kind: &str, title: &str) -> Uuid {
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

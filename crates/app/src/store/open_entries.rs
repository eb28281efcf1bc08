//! Entries of imports that are still open: listed, chosen, dismissed, and looked for again.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use engine::UserId;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    LEASE, PlaylistTrack, Store, StoreError,
    imports::{PUT_PLAYLIST, listed, playlist_id},
    in_transaction,
    library::{ADD_TRACKS, insert_library_tracks},
    now, reading,
    schedule::schedule,
    writing,
};
use crate::{enrich::Priority, import::Match};
use formats::{ImportedTrack, Kind};
use music::Track;

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
    Matched(Box<Track>),
    /// Still open; to be looked for again then.
    Open {
        found: Box<Match>,
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

const ADD_TO_PLAYLIST: &str = "SELECT tracks FROM playlists WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL";

impl Store {
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

    /// The listener does not want to be asked about it again, or changed their mind.
    pub async fn dismiss_entry(&self, owner: &UserId, id: Uuid, dismissed: bool) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE open_entries SET dismissed = $3
            WHERE user_id = $1 AND id = $2 AND NOT (dismissed AND $3)";
        let done = writing!(self, |db| sqlx::query(SQL)
            .bind(owner.as_str())
            .bind(id)
            .bind(dismissed)
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
                let tracks = std::slice::from_ref(track.as_ref());
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

    /// Open entries that are looked for now or about to be.
    pub async fn n_open_entries(&self) -> Result<i64, StoreError> {
        const SQL: &str =
            "SELECT COUNT(*) FROM open_entries WHERE NOT dismissed AND (due_at <= $1 OR node IS NOT NULL)";
        let (n,): (i64,) = reading!(self, |db| sqlx::query_as(SQL).bind(now()).fetch_one(db).await)?;
        Ok(n)
    }
}

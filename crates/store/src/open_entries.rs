//! Entries of imports that are still open: listed, chosen, dismissed, and looked for again.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use engine::UserId;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    LEASE, PlaylistTrack, Priority, Store, StoreError,
    db::Tx,
    imports::{listed, playlist_id, put_playlist},
    library::{Removed, insert_tracks},
    now,
};
use music::Track;

/// An entry that is still open, as its owner sees it. How an entry and its matches look is the caller's to know.
#[derive(Clone, Debug)]
pub struct OpenEntry<E, F> {
    pub id: Uuid,
    pub file: String,
    /// The id of the file's format.
    pub kind: String,
    pub entry: E,
    pub found: F,
}

/// An open entry that this node looks for now.
#[derive(Clone, Debug)]
pub struct OpenClaim<E> {
    pub id: Uuid,
    pub owner: UserId,
    /// The id of the file's format.
    pub kind: String,
    pub tries: u32,
    pub entry: E,
}

/// How looking for an open entry ended.
#[derive(Clone, Debug)]
pub enum Resolution {
    Matched(Box<Track>),
    /// Still open; to be looked for again then.
    Open {
        found: Value,
        due_at: DateTime<Utc>,
    },
}

#[derive(sqlx::FromRow)]
struct OpenRow {
    id: Uuid,
    user_id: String,
    file: String,
    kind: String,
    entry: Json<Value>,
    found: Json<Value>,
    tries: i32,
}

impl OpenRow {
    fn entry<E: DeserializeOwned, F: DeserializeOwned>(self) -> Result<OpenEntry<E, F>, StoreError> {
        let (entry, found) = (decoded(self.entry)?, decoded(self.found)?);
        Ok(OpenEntry { kind: self.kind, id: self.id, file: self.file, entry, found })
    }
}

fn decoded<T: DeserializeOwned>(Json(value): Json<Value>) -> Result<T, StoreError> {
    serde_json::from_value(value).map_err(|error| sqlx::Error::Decode(error.into()).into())
}

const PLAYLIST: &str = "SELECT tracks FROM playlists WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL";

impl Store {
    /// Entries that are still open, in the order of their imports, dismissed ones left out.
    pub async fn open_entries<E, F>(&self, owner: &UserId) -> Result<Vec<OpenEntry<E, F>>, StoreError>
    where
        E: DeserializeOwned,
        F: DeserializeOwned,
    {
        const SQL: &str = "SELECT id, user_id, file, kind, entry, found, tries FROM open_entries
            WHERE user_id = $1 AND NOT dismissed ORDER BY import_id, id";
        let mut rows: Vec<OpenRow> = self.read(SQL).bind(owner.as_str()).fetch_all().await?;
        let line = |row: &OpenRow| row.entry["line"].as_u64();
        rows.sort_by(|a, b| (&a.file, line(a)).cmp(&(&b.file, line(b))));
        rows.into_iter().map(OpenRow::entry).collect()
    }

    pub async fn open_entry<E, F>(&self, owner: &UserId, id: Uuid) -> Result<OpenEntry<E, F>, StoreError>
    where
        E: DeserializeOwned,
        F: DeserializeOwned,
    {
        const SQL: &str = "SELECT id, user_id, file, kind, entry, found, tries FROM open_entries
            WHERE user_id = $1 AND id = $2 AND NOT dismissed";
        let row: Option<OpenRow> = self.read(SQL).bind(owner.as_str()).bind(id).fetch_optional().await?;
        row.ok_or(StoreError::NotFound)?.entry()
    }

    /// The listener does not want to be asked about it again, or changed their mind.
    pub async fn dismiss_entry(&self, owner: &UserId, id: Uuid, dismissed: bool) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE open_entries SET dismissed = $3
            WHERE user_id = $1 AND id = $2 AND NOT (dismissed AND $3)";
        let done = self.write(SQL).bind(owner.as_str()).bind(id).bind(dismissed).execute().await?;
        if done == 0 { Err(StoreError::NotFound) } else { Ok(()) }
    }

    /// Everything open is looked for again as soon as possible; answers how many entries.
    pub async fn retry_entries(&self, owner: &UserId) -> Result<u64, StoreError> {
        const SQL: &str = "UPDATE open_entries SET due_at = $2, tries = 0 WHERE user_id = $1 AND NOT dismissed";
        let again = self.write(SQL).bind(owner.as_str()).bind(now()).execute().await?;
        Ok(again)
    }

    /// Takes open entries that are due, so that no other node looks for them.
    pub async fn claim_entries<E: DeserializeOwned>(
        &self,
        node: &str,
        limit: usize,
    ) -> Result<Vec<OpenClaim<E>>, StoreError> {
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
        let rows: Vec<OpenRow> =
            self.write(sql).bind(node).bind(now() + LEASE).bind(now()).bind(limit as i64).fetch_all().await?;
        let claims = rows.into_iter().map(|row| {
            Ok(OpenClaim {
                kind: row.kind,
                id: row.id,
                owner: UserId::new(row.user_id),
                tries: row.tries.unsigned_abs(),
                entry: decoded(row.entry)?,
            })
        });
        claims.collect()
    }

    /// Keeps what became of an entry. A match enters the library and the playlists the entry belongs to, and the entry
    /// is gone, in one transaction.
    pub async fn resolve_entry(&self, owner: &UserId, id: Uuid, resolution: &Resolution) -> Result<(), StoreError> {
        const STILL_OPEN: &str = "UPDATE open_entries SET found = $3, due_at = $4, node = NULL, lease_until = NULL
            WHERE user_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        match resolution {
            Resolution::Open { found, due_at } => {
                let query = tx.query(STILL_OPEN).bind(owner.as_str()).bind(id).bind(Json(found)).bind(due_at);
                query.execute().await?;
            }
            Resolution::Matched(track) => keep_match(&mut tx, owner, id, track).await?,
        }
        tx.commit().await
    }

    /// Open entries that are looked for now or about to be.
    pub async fn n_open_entries(&self) -> Result<i64, StoreError> {
        const SQL: &str =
            "SELECT COUNT(*) FROM open_entries WHERE NOT dismissed AND (due_at <= $1 OR node IS NOT NULL)";
        let (n,): (i64,) = self.read(SQL).bind(now()).fetch_one().await?;
        Ok(n)
    }
}

async fn keep_match(tx: &mut Tx, owner: &UserId, id: Uuid, track: &Track) -> Result<(), StoreError> {
    const GONE: &str = "DELETE FROM open_entries WHERE user_id = $1 AND id = $2 RETURNING kind, playlists";
    let gone: Option<(String, Json<BTreeSet<String>>)> =
        tx.query(GONE).bind(owner.as_str()).bind(id).fetch_optional().await?;
    let (kind, Json(playlists)) = gone.ok_or(StoreError::NotFound)?;
    let tracks = std::slice::from_ref(track);
    insert_tracks(tx, owner, tracks, Removed::ComesBack, Priority::Import).await?;
    for title in &playlists {
        let list = playlist_id(owner, &kind, title);
        let old: Option<(Json<Vec<PlaylistTrack>>,)> =
            tx.query(PLAYLIST).bind(list).bind(owner.as_str()).fetch_optional().await?;
        let mut tracks = old.map(|(Json(tracks),)| tracks).unwrap_or_default();
        if tracks.iter().all(|other| other.track.isrc != track.isrc) {
            tracks.push(listed(track));
        }
        put_playlist(tx, owner, &kind, title, &tracks).await?;
    }
    Ok(())
}

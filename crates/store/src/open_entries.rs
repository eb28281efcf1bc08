//! Entries of imports without a confirmed match: listed, matched by the user, dismissed, and searched for again.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use chrono::TimeDelta;
use engine::UserId;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    LEASE, NewLibraryTrack, Priority, Store, StoreError,
    db::Dialects,
    library_insert::{Removed, insert_tracks},
    locks::lock_library,
};

/// An open entry of a user. The caller defines the types of an entry and its matches.
#[derive(Clone, Debug)]
pub struct OpenEntry<E, F> {
    pub id: Uuid,
    pub file: String,
    /// The id of the file's format.
    pub kind: String,
    pub entry: E,
    pub found: F,
    /// The track that represents it until it is matched.
    pub track_id: Option<String>,
}

/// An open entry that this node has claimed for a search.
#[derive(Clone, Debug)]
pub struct OpenClaim<E> {
    pub id: Uuid,
    pub owner: UserId,
    /// The id of the file's format.
    pub kind: String,
    pub tries: u32,
    pub entry: E,
}

/// The result of a search for an open entry.
#[derive(Clone, Debug)]
pub enum Resolution {
    Matched(Box<NewLibraryTrack>),
    /// Still open; the search is repeated after this time.
    Open {
        found: Value,
        after: TimeDelta,
    },
}

struct OpenRow {
    id: Uuid,
    user_id: String,
    file: String,
    kind: String,
    entry: Json<Value>,
    found: Json<Value>,
    tries: i32,
    recording_id: Option<String>,
}
from_row!(OpenRow { id, user_id, file, kind, entry, found, tries, recording_id });

impl OpenRow {
    fn entry<E: DeserializeOwned, F: DeserializeOwned>(self) -> Result<OpenEntry<E, F>, StoreError> {
        let (entry, found) = (decoded(self.entry)?, decoded(self.found)?);
        Ok(OpenEntry { kind: self.kind, id: self.id, file: self.file, entry, found, track_id: self.recording_id })
    }
}

impl OpenRow {
    fn claim<E: DeserializeOwned>(self) -> Result<OpenClaim<E>, StoreError> {
        Ok(OpenClaim {
            kind: self.kind,
            id: self.id,
            owner: UserId::new(self.user_id),
            tries: self.tries.unsigned_abs(),
            entry: decoded(self.entry)?,
        })
    }
}

fn decoded<T: DeserializeOwned>(Json(value): Json<Value>) -> Result<T, StoreError> {
    serde_json::from_value(value).map_err(|error| sqlx::Error::Decode(error.into()).into())
}

pub(crate) const OPEN_ENTRIES: &str = "SELECT id, user_id, file, kind, entry, found, tries, recording_id
    FROM open_entries WHERE user_id = $1 AND NOT dismissed
    ORDER BY file, CAST(entry ->> 'line' AS INTEGER), id LIMIT $2 OFFSET $3";
/// How many entries one transaction schedules.
const RETRIED_AT_ONCE: i64 = 100;
const QUEUE: &str = "open entries";
/// All users with open entries, sorted. The query jumps from user to user in the index.
const OWNERS: &str = "WITH RECURSIVE owners (user_id) AS (
        SELECT MIN(user_id) FROM open_entries WHERE NOT dismissed
        UNION ALL
        SELECT (SELECT MIN(e.user_id) FROM open_entries e WHERE NOT e.dismissed AND e.user_id > owners.user_id)
        FROM owners WHERE owners.user_id IS NOT NULL
    )
    SELECT user_id FROM owners WHERE user_id IS NOT NULL";
static CLAIM: LazyLock<Dialects> = LazyLock::new(|| {
    Dialects::locking(
        "UPDATE open_entries SET node = $1, lease_until = $2, tries = tries + 1
        WHERE id IN (SELECT id FROM open_entries
            WHERE user_id = $5 AND NOT dismissed AND node IS NULL AND due_at <= $3
            ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED)
        RETURNING id, user_id, file, kind, entry, found, tries, recording_id",
    )
});

impl Store {
    /// A page of the open entries, in the order of their files and lines, without dismissed ones.
    pub async fn open_entries<E, F>(
        &self,
        owner: &UserId,
        (offset, limit): (u32, u32),
    ) -> Result<Vec<OpenEntry<E, F>>, StoreError>
    where
        E: DeserializeOwned,
        F: DeserializeOwned,
    {
        let query = self.read(OPEN_ENTRIES).bind(owner.as_str()).bind(i64::from(limit)).bind(i64::from(offset));
        let rows: Vec<OpenRow> = query.fetch_all().await?;
        rows.into_iter().map(OpenRow::entry).collect()
    }

    /// The ids of all open entries, in the same order.
    pub async fn open_entry_ids(&self, owner: &UserId) -> Result<Vec<Uuid>, StoreError> {
        const SQL: &str = "SELECT id FROM open_entries WHERE user_id = $1 AND NOT dismissed
            ORDER BY file, CAST(entry ->> 'line' AS INTEGER), id";
        let rows: Vec<(Uuid,)> = self.read(SQL).bind(owner.as_str()).fetch_all().await?;
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// The entries with these ids, in the order of the ids. One that was matched or dismissed meanwhile is left out.
    pub async fn open_entries_of<E, F>(&self, owner: &UserId, ids: &[Uuid]) -> Result<Vec<OpenEntry<E, F>>, StoreError>
    where
        E: DeserializeOwned,
        F: DeserializeOwned,
    {
        const SQL: &str = "SELECT id, user_id, file, kind, entry, found, tries, recording_id FROM open_entries
            WHERE user_id = $1 AND NOT dismissed AND id IN (SELECT unhex(value) FROM json_each($2))";
        let places: HashMap<Uuid, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let hex: Vec<String> = ids.iter().map(|id| id.simple().to_string()).collect();
        let query = self.read(SQL).bind(owner.as_str()).bind(Json(hex));
        let mut rows: Vec<OpenRow> = query.fetch_all().await?;
        rows.sort_by_key(|row| places.get(&row.id).copied());
        rows.into_iter().map(OpenRow::entry).collect()
    }

    pub async fn open_entry<E, F>(&self, owner: &UserId, id: Uuid) -> Result<OpenEntry<E, F>, StoreError>
    where
        E: DeserializeOwned,
        F: DeserializeOwned,
    {
        const SQL: &str = "SELECT id, user_id, file, kind, entry, found, tries, recording_id FROM open_entries
            WHERE user_id = $1 AND id = $2 AND NOT dismissed";
        let row: Option<OpenRow> = self.read(SQL).bind(owner.as_str()).bind(id).fetch_optional().await?;
        row.ok_or(StoreError::NotFound)?.entry()
    }

    /// Dismisses an entry, or restores a dismissed one.
    pub async fn dismiss_entry(&self, owner: &UserId, id: Uuid, dismissed: bool) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE open_entries SET dismissed = $3
            WHERE user_id = $1 AND id = $2 AND NOT (dismissed AND $3)";
        let done = self.write(SQL).bind(owner.as_str()).bind(id).bind(dismissed).execute().await?;
        if done == 0 { Err(StoreError::NotFound) } else { Ok(()) }
    }

    /// Schedules a search for every open entry now. Returns how many.
    pub async fn retry_entries(&self, owner: &UserId) -> Result<u64, StoreError> {
        static SQL: LazyLock<Dialects> = LazyLock::new(|| {
            Dialects::locking(
                "UPDATE open_entries SET due_at = $2, tries = 0 WHERE id IN (SELECT id FROM open_entries
                    WHERE user_id = $1 AND id > $3 AND NOT dismissed ORDER BY id LIMIT $4 FOR UPDATE) RETURNING id",
            )
        });
        let (sql, mut n_entries, mut after) = (self.text_of(&SQL), 0, Uuid::nil());
        loop {
            let mut tx = self.begin_short().await?;
            let part = async {
                let query = tx.query(sql).bind(owner.as_str()).bind_now().bind(after).bind(RETRIED_AT_ONCE);
                let rows: Vec<(Uuid,)> = query.fetch_all().await?;
                tx.commit().await?;
                Ok::<_, StoreError>(rows)
            };
            let rows = self.undisturbed(part).await?;
            n_entries += rows.len() as u64;
            match rows.into_iter().max() {
                Some((last,)) => after = last,
                None => return Ok(n_entries),
            }
        }
    }

    /// Claims open entries that are due, divided between their owners, so that no other node searches for them.
    pub async fn claim_entries<E: DeserializeOwned>(
        &self,
        node: &str,
        limit: usize,
    ) -> Result<Vec<OpenClaim<E>>, StoreError> {
        const IS_DUE: &str = "SELECT EXISTS (SELECT 1 FROM open_entries
            WHERE NOT dismissed AND node IS NULL AND due_at <= $1)";
        let (is_due,): (bool,) = self.read(IS_DUE).bind_now().fetch_one().await?;
        if !is_due {
            return Ok(vec![]);
        }
        let owners: Vec<(String,)> = self.read(OWNERS).fetch_all().await?;
        let mut round = self.served.round(QUEUE, owners.into_iter().map(|(owner,)| owner).collect(), limit);
        let mut tx = self.begin_short().await?;
        let sql = tx.text_of(&CLAIM);
        let claim = async {
            let mut rows: Vec<OpenRow> = vec![];
            while let Some((owner, share)) = round.next() {
                let query = tx.query(sql).bind(node).bind_in(LEASE).bind_now().bind(share as i64);
                let claimed: Vec<OpenRow> = query.bind(&owner).fetch_all().await?;
                self.served.remember(QUEUE, &owner);
                round.took(owner, share, claimed.len());
                rows.extend(claimed);
            }
            tx.commit().await?;
            Ok::<_, StoreError>(rows)
        };
        let rows = self.undisturbed(claim).await?;
        rows.into_iter().map(OpenRow::claim).collect()
    }

    /// Stores the result of a search. A match is added to the playlists of the entry, each of which is one transaction, because
    /// it is long. Then it is added to the library and the entry is deleted, in one transaction.
    pub async fn resolve_entry(&self, owner: &UserId, id: Uuid, resolution: &Resolution) -> Result<(), StoreError> {
        const STILL_OPEN: &str = "UPDATE open_entries SET found = $3, due_at = $4, node = NULL, lease_until = NULL
            WHERE user_id = $1 AND id = $2";
        if let Resolution::Matched(new) = resolution {
            return self.keep_match(owner, id, new).await;
        }
        let mut tx = self.begin().await?;
        if let Resolution::Open { found, after } = resolution {
            let due_at = tx.now() + *after;
            let query = tx.query(STILL_OPEN).bind(owner.as_str()).bind(id).bind(Json(found)).bind(due_at);
            query.execute().await?;
        }
        tx.commit().await
    }

    /// The number of entries of a user that are being searched for or are due.
    pub async fn n_open_entries(&self, owner: &UserId) -> Result<i64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM open_entries
            WHERE user_id = $2 AND NOT dismissed AND (due_at <= $1 OR node IS NOT NULL)";
        let (n,): (i64,) = self.read(SQL).bind_now().bind(owner.as_str()).fetch_one().await?;
        Ok(n)
    }

    /// Entries without a track, from versions in which an entry was not a track.
    pub async fn entries_without_tracks<E: DeserializeOwned>(
        &self,
        limit: u32,
    ) -> Result<Vec<OpenClaim<E>>, StoreError> {
        const SQL: &str = "SELECT id, user_id, file, kind, entry, found, tries, recording_id FROM open_entries
            WHERE recording_id IS NULL ORDER BY id LIMIT $1";
        let rows: Vec<OpenRow> = self.read(SQL).bind(i64::from(limit)).fetch_all().await?;
        rows.into_iter().map(OpenRow::claim).collect()
    }

    /// Adds the track of an entry to its owner's library and to the playlists of the entry.
    pub async fn give_track(&self, owner: &UserId, id: Uuid, new: &NewLibraryTrack) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE open_entries SET recording_id = $3 WHERE user_id = $1 AND id = $2";
        const LISTS: &str = "SELECT kind, playlists FROM open_entries WHERE user_id = $1 AND id = $2";
        let row: Option<(String, Json<BTreeSet<String>>)> =
            self.read(LISTS).bind(owner.as_str()).bind(id).fetch_optional().await?;
        let (kind, Json(playlists)) = row.ok_or(StoreError::NotFound)?;
        self.add_to_playlists(owner, &kind, &playlists, &new.track).await?;
        let mut tx = self.begin().await?;
        lock_library(&mut tx, owner.as_str()).await?;
        let query = tx.query(SQL).bind(owner.as_str()).bind(id).bind(new.track.id.to_string());
        if query.execute().await? == 0 {
            return Err(StoreError::NotFound);
        }
        insert_tracks(&mut tx, owner, std::slice::from_ref(new), Removed::StaysAway, Priority::Import).await?;
        tx.commit().await
    }
}

//! Long texts, in parts: the tracks of a long playlist, and the undo of a change of it.
//!
//! SQLite has one writer, and a transaction that writes megabytes holds it for too long. The parts of a long text are written in short
//! transactions, under an id that nothing refers to. Then one short transaction stores the id in the row of the playlist or of the undo:
//! a reader sees the old text or the new one, also after a crash. What nothing refers to is erased.

use chrono::TimeDelta;
use engine::UserId;
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Store, StoreError, db::Tx, undo::Change};
use crate::PlaylistTrack;

/// A part is at least this long, except the last one. It does not fit into a row with others: this is the shortest long text.
const PART_BYTES: usize = 32 << 10;
/// A text that was not used for this long belongs to a node that has ended.
const ABANDONED: TimeDelta = TimeDelta::minutes(10);
/// How many texts of one user may be unused: eight requests at once write two each.
const MOST_UNUSED: i64 = 32;
const TOO_MANY: StoreError =
    StoreError::Conflict("Too many changes of long playlists are under way. Try again in ten minutes.");

/// A text that can be stored in a row: the text itself, or the id of its parts.
pub(crate) struct Staged {
    pub(crate) short: Json<Box<RawValue>>,
    pub(crate) long: Option<Uuid>,
}

impl Staged {
    fn short(json: String) -> Result<Self, StoreError> {
        let json = RawValue::from_string(json).map_err(|error| sqlx::Error::Encode(error.into()))?;
        Ok(Self { short: Json(json), long: None })
    }

    /// A text that is known to be short.
    pub(crate) fn of(value: &impl Serialize) -> Result<Self, StoreError> {
        Self::short(serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))?)
    }

    /// Before the row that refers to the text is written. An error if the text was erased meanwhile.
    pub(crate) async fn claim(&self, tx: &mut Tx) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE long_texts SET state = 'used' WHERE id = $1 AND state = 'open' RETURNING id";
        let Some(id) = self.long else { return Ok(()) };
        let claimed: Option<(Uuid,)> = tx.query(SQL).bind(id).fetch_optional().await?;
        claimed.map(drop).ok_or(StoreError::Conflict("The change took too long and was not made. Try again."))
    }
}

/// Whether it takes so long to encode or decode this many tracks that other requests would wait.
pub(crate) fn is_long(n_tracks: usize) -> bool {
    n_tracks > 200
}

/// The tracks of a playlist as JSON, from a text or its parts.
pub(crate) fn decoded<T: serde::de::DeserializeOwned + Send>(text: &str) -> Result<T, StoreError> {
    let decode = || serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(error.into()).into());
    background::aside(text.len() > PART_BYTES, decode)
}

/// A JSON array in parts. No item is in two parts, so that a part can be searched for an id.
fn parts_of_list<T: Serialize>(items: &[T]) -> serde_json::Result<Vec<Vec<u8>>> {
    let mut parts = vec![b"[".to_vec()];
    for (at, item) in items.iter().enumerate() {
        if parts.last().is_some_and(|part| part.len() >= PART_BYTES) {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend((at > 0).then_some(b','));
            serde_json::to_writer(part, item)?;
        }
    }
    if let Some(part) = parts.last_mut() {
        part.push(b']');
    }
    Ok(parts)
}

fn parts_of_text(mut text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    while !text.is_empty() {
        let (part, rest) = text.split_at(text.ceil_char_boundary(PART_BYTES));
        parts.push(part.to_owned());
        text = rest;
    }
    parts
}

impl Store {
    /// Prepares the tracks of a playlist.
    pub(crate) async fn stage_tracks(&self, owner: &UserId, tracks: &[PlaylistTrack]) -> Result<Staged, StoreError> {
        let parts = background::aside(is_long(tracks.len()), || parts_of_list(tracks));
        let parts = parts.map_err(|error| sqlx::Error::Encode(error.into()))?.into_iter();
        let parts: Result<Vec<String>, _> = parts.map(String::from_utf8).collect();
        self.stage(owner, parts.map_err(|error| sqlx::Error::Encode(error.into()))?, "[]").await
    }

    /// Prepares a change that can be undone.
    pub(crate) async fn stage_change(&self, owner: &UserId, change: &Change) -> Result<Staged, StoreError> {
        let text = background::aside(change.is_long(), || serde_json::to_string(change));
        let text = text.map_err(|error| sqlx::Error::Encode(error.into()))?;
        self.stage(owner, parts_of_text(&text), "null").await
    }

    /// Writes the parts of a long text. `instead` is in its row.
    async fn stage(&self, owner: &UserId, parts: Vec<String>, instead: &str) -> Result<Staged, StoreError> {
        const OPEN: &str = "INSERT INTO long_texts (id, user_id, state, created_at) VALUES ($1, $2, 'open', $3)";
        const PUT: &str = "INSERT INTO long_text_parts (text_id, number, body) VALUES ($1, $2, $3)";
        if parts.len() <= 1 {
            return Staged::short(parts.concat());
        }
        self.check_unused(owner).await?;
        let id = Uuid::now_v7();
        self.write(OPEN).bind(id).bind(owner.as_str()).bind_now().execute().await?;
        let numbered: Vec<(i64, String)> = (0..).zip(parts).collect();
        let mut rest = numbered.as_slice();
        while !rest.is_empty() {
            let (part, after) = self.paces.texts.part(rest);
            let mut tx = self.begin_short().await?;
            let put = async {
                for (number, body) in part {
                    tx.query(PUT).bind(id).bind(*number).bind(body).execute().await?;
                }
                self.commit_short(tx, &self.paces.texts, part.len()).await
            };
            self.undisturbed(put).await?;
            rest = after;
        }
        Ok(Staged { long: Some(id), ..Staged::short(instead.into())? })
    }

    /// One user cannot fill the disk with texts that are never used: requests whose clients leave.
    async fn check_unused(&self, owner: &UserId) -> Result<(), StoreError> {
        const COUNT: &str = "SELECT COUNT(*) FROM long_texts WHERE user_id = $1 AND state <> 'used'";
        let count = async || self.read(COUNT).bind(owner.as_str()).fetch_one::<(i64,)>().await;
        if count().await?.0 < MOST_UNUSED {
            return Ok(());
        }
        self.erase_unused_texts().await?;
        if count().await?.0 < MOST_UNUSED { Ok(()) } else { Err(TOO_MANY) }
    }

    /// Erases texts that were prepared and not used.
    pub(crate) async fn discard(&self, texts: &[Uuid]) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE long_texts SET state = 'dropped' WHERE id = $1 AND state = 'open'";
        for id in texts {
            self.write(SQL).bind(*id).execute().await?;
        }
        if texts.is_empty() { Ok(()) } else { self.erase_unused_texts().await }
    }

    /// Erases texts that no row refers to, in short transactions.
    pub(crate) async fn erase_unused_texts(&self) -> Result<(), StoreError> {
        const ABANDON: &str = "UPDATE long_texts SET state = 'dropped' WHERE state = 'open' AND created_at < $1";
        // Once used, a text gets no other reference.
        const REPLACED: &str = "UPDATE long_texts SET state = 'dropped' WHERE state = 'used'
            AND NOT EXISTS (SELECT 1 FROM playlists WHERE tracks_id = long_texts.id)
            AND NOT EXISTS (SELECT 1 FROM undos WHERE change_id = long_texts.id)";
        const PARTS: &str = "DELETE FROM long_text_parts WHERE (text_id, number) IN
            (SELECT p.text_id, p.number FROM long_text_parts p JOIN long_texts t ON t.id = p.text_id
                WHERE t.state = 'dropped' LIMIT 8)";
        const ROWS: &str = "DELETE FROM long_texts WHERE state = 'dropped'
            AND NOT EXISTS (SELECT 1 FROM long_text_parts WHERE text_id = long_texts.id)";
        const ANY: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM long_texts LIMIT 1) AS few";
        let (n_texts,): (i64,) = self.read(ANY).fetch_one().await?;
        if n_texts == 0 {
            return Ok(());
        }
        self.write(ABANDON).bind(self.clock.now() - ABANDONED).execute().await?;
        self.write(REPLACED).execute().await?;
        self.in_parts(PARTS, |query| query).await?;
        self.write(ROWS).execute().await?;
        Ok(())
    }
}

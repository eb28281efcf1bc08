//! The trash: what was deleted can be restored for 30 days of the database's clock, then it is erased.

use chrono::{DateTime, TimeDelta, Utc};
use engine::UserId;
use uuid::Uuid;

use super::{Store, StoreError, db::Tx, documents::project};

/// How long what was deleted can be restored.
pub const KEPT: TimeDelta = TimeDelta::days(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrashKind {
    Conversation,
    Playlist,
    Task,
    Track,
}

/// One deleted thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrashItem {
    pub kind: TrashKind,
    /// Its own id; that of a recording for a track.
    pub id: Uuid,
    pub title: String,
    /// The beginning of a conversation, the description of a playlist or task, the artist of a track.
    pub detail: String,
    pub deleted_at: DateTime<Utc>,
}

/// Where a page begins: with what was deleted before this, newest first.
pub type TrashPlace = (DateTime<Utc>, Uuid);

macro_rules! page_of {
    ($columns:literal, $table:literal, $removed_at:literal, $id:literal, $more:literal) => {
        concat!(
            "SELECT ",
            $columns,
            ", ",
            $removed_at,
            " FROM ",
            $table,
            " WHERE user_id = $1 AND ",
            $removed_at,
            " > $2 ",
            $more,
            " AND ($3 IS NULL OR (",
            $removed_at,
            ", ",
            $id,
            ") < ($3, $4)) ORDER BY ",
            $removed_at,
            " DESC, ",
            $id,
            " DESC LIMIT $5"
        )
    };
}

const CONVERSATIONS: &str = page_of!("id, title, preview", "conversations", "deleted_at", "id", "");
const TASKS: &str = page_of!("id, title, description", "tasks", "deleted_at", "id", "");
const PLAYLISTS: &str = page_of!("id, title, description", "playlists", "deleted_at", "id", "AND erased_at IS NULL");
/// Only what its owner removed: not what left with its file, was merged into another track, or left with the sample.
const TRACKS: &str = page_of!(
    "recording_id, title, artist",
    "library_tracks",
    "removed_at",
    "recording_id",
    "AND erased_at IS NULL AND NOT left_with_file
        AND NOT EXISTS (SELECT 1 FROM track_merges m WHERE m.user_id = $1 AND m.kind = 'merge' AND m.undone_at IS NULL
            AND m.recording_id = library_tracks.recording_id)
        AND NOT (is_sample AND EXISTS (SELECT 1 FROM sample_removals s WHERE s.user_id = $1
            AND s.removed_at <= library_tracks.removed_at))"
);

impl Store {
    /// At most `limit` deleted things after `from`, newest first.
    pub async fn trash(
        &self,
        owner: &UserId,
        from: Option<TrashPlace>,
        limit: u32,
    ) -> Result<Vec<TrashItem>, StoreError> {
        let mut items = self.deleted_tracks(owner, from, limit).await?;
        for (kind, sql) in
            [(TrashKind::Conversation, CONVERSATIONS), (TrashKind::Playlist, PLAYLISTS), (TrashKind::Task, TASKS)]
        {
            let query = self.read(sql).bind(owner.as_str()).bind(self.clock.now() - KEPT);
            let query = query.bind(from.map(|(at, _)| at)).bind(from.map(|(_, id)| id)).bind(i64::from(limit));
            let rows: Vec<(Uuid, String, String, DateTime<Utc>)> = query.fetch_all().await?;
            let of_row = |(id, title, detail, deleted_at)| TrashItem { kind, id, title, detail, deleted_at };
            items.extend(rows.into_iter().map(of_row));
        }
        items.sort_by_key(|item| std::cmp::Reverse((item.deleted_at, item.id)));
        items.truncate(limit as usize);
        Ok(items)
    }

    async fn deleted_tracks(
        &self,
        owner: &UserId,
        from: Option<TrashPlace>,
        limit: u32,
    ) -> Result<Vec<TrashItem>, StoreError> {
        let query = self.read(TRACKS).bind(owner.as_str()).bind(self.clock.now() - KEPT);
        let query = query.bind(from.map(|(at, _)| at)).bind(from.map(|(_, id)| id.to_string()));
        let rows: Vec<(String, String, String, DateTime<Utc>)> = query.bind(i64::from(limit)).fetch_all().await?;
        let items = rows.into_iter().map(|(id, title, detail, deleted_at)| {
            let id = id.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
            Ok(TrashItem { kind: TrashKind::Track, id, title, detail, deleted_at })
        });
        items.collect()
    }

    /// Deletes one thing of the trash for good.
    pub async fn erase(&self, owner: &UserId, id: Uuid) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let n_erased = erase(&mut tx, owner, id, self.clock.now()).await?;
        if n_erased == 0 {
            return Err(StoreError::NotFound);
        }
        tx.commit().await
    }

    /// Deletes everything in the trash for good, and answers how much that was.
    pub async fn empty_trash(&self, owner: &UserId) -> Result<u64, StoreError> {
        let mut n_erased = 0;
        loop {
            let items = self.trash(owner, None, AT_ONCE).await?;
            if items.is_empty() {
                return Ok(n_erased);
            }
            let (mut tx, mut n_now) = (self.begin().await?, 0);
            for item in &items {
                n_now += erase(&mut tx, owner, item.id, self.clock.now()).await?;
            }
            tx.commit().await?;
            n_erased += n_now;
            // Restored meanwhile by another request: what is left is not for this one.
            if n_now == 0 {
                return Ok(n_erased);
            }
        }
    }

    /// Erases what was deleted too long ago to be restored. Removed tracks stay known: an import or a folder must not
    /// bring them back.
    pub async fn erase_expired(&self) -> Result<(), StoreError> {
        const CONVERSATIONS: &str = "DELETE FROM conversations WHERE deleted_at < $1";
        const TASKS: &str = "DELETE FROM tasks WHERE deleted_at < $1";
        const PLAYLISTS: &str = "UPDATE playlists SET tracks = '[]', description = '', erased_at = $2
            WHERE deleted_at < $1 AND erased_at IS NULL";
        let now = self.clock.now();
        self.write(CONVERSATIONS).bind(now - KEPT).execute().await?;
        self.write(TASKS).bind(now - KEPT).execute().await?;
        self.write(PLAYLISTS).bind(now - KEPT).bind(now).execute().await?;
        Ok(())
    }
}

/// Things that are erased in one transaction.
const AT_ONCE: u32 = 100;

/// Erases whatever deleted thing has this id, with what could bring its content back. Returns how many had it.
async fn erase(tx: &mut Tx, owner: &UserId, id: Uuid, at: DateTime<Utc>) -> Result<u64, StoreError> {
    const CONVERSATION: &str = "DELETE FROM conversations WHERE id = $1 AND user_id = $2 AND deleted_at IS NOT NULL";
    const TASK: &str = "DELETE FROM tasks WHERE id = $1 AND user_id = $2 AND deleted_at IS NOT NULL";
    const PLAYLIST: &str = "UPDATE playlists SET tracks = '[]', description = '', erased_at = $3
        WHERE id = $1 AND user_id = $2 AND deleted_at IS NOT NULL AND erased_at IS NULL";
    const UNDOS: &str = "DELETE FROM undos WHERE user_id = $1 AND CAST(change AS TEXT) LIKE '%' || $2 || '%'";
    let mut n_erased = tx.query(CONVERSATION).bind(id).bind(owner.as_str()).execute().await?;
    n_erased += tx.query(TASK).bind(id).bind(owner.as_str()).execute().await?;
    n_erased += tx.query(PLAYLIST).bind(id).bind(owner.as_str()).bind(at).execute().await?;
    if n_erased > 0 {
        tx.query(UNDOS).bind(owner.as_str()).bind(id.to_string()).execute().await?;
        return Ok(n_erased);
    }
    erase_track(tx, owner, &id.to_string(), at).await
}

/// A removed track loses what its owner's files said about it; that it was removed stays known.
async fn erase_track(tx: &mut Tx, owner: &UserId, recording: &str, at: DateTime<Utc>) -> Result<u64, StoreError> {
    const TRACK: &str = "UPDATE library_tracks SET own = NULL, location = NULL, erased_at = $3
        WHERE recording_id = $1 AND user_id = $2 AND removed_at IS NOT NULL AND erased_at IS NULL
            AND NOT left_with_file";
    const NAMES: &str = "DELETE FROM own_names WHERE recording_id = $1 AND user_id = $2";
    const WORDS: &str = "DELETE FROM ingested_tracks WHERE recording_id = $1 AND owner = $2";
    let n_erased = tx.query(TRACK).bind(recording).bind(owner.as_str()).bind(at).execute().await?;
    if n_erased > 0 {
        tx.query(NAMES).bind(recording).bind(owner.as_str()).execute().await?;
        tx.query(WORDS).bind(recording).bind(owner.as_str()).execute().await?;
        project(tx, &[recording.to_owned()]).await?;
    }
    Ok(n_erased)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_deleted_leaves_the_trash_after_30_days_of_the_databases_clock() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let ann = UserId::new("ann");
        let task = store.add_task(&ann, "sweep", "", None).await.unwrap();
        store.delete_task(&ann, crate::TaskId(task.id), None).await.unwrap();
        store.advance_clock(KEPT - TimeDelta::minutes(1));
        store.erase_expired().await.unwrap();
        assert_eq!(store.trash(&ann, None, 10).await.unwrap().len(), 1, "a minute is left");
        store.advance_clock(TimeDelta::minutes(2));
        assert_eq!(store.trash(&ann, None, 10).await.unwrap(), [], "not listed, although no sweep has run");
        assert!(store.restore_task(&ann, crate::TaskId(task.id)).await.is_ok(), "the sweep erases, not the clock");
        store.delete_task(&ann, crate::TaskId(task.id), None).await.unwrap();
        store.advance_clock(KEPT + TimeDelta::minutes(1));
        store.erase_expired().await.unwrap();
        assert!(matches!(store.restore_task(&ann, crate::TaskId(task.id)).await, Err(StoreError::NotFound)));
    }
}

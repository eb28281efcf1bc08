//! The trash: a deleted item can be restored for 30 days by the database's clock. Then it is erased.

use chrono::{DateTime, TimeDelta, Utc};
use engine::UserId;
use uuid::Uuid;

use super::{
    Store, StoreError,
    album_trash::{erase_album, removed_albums},
    db::{Sql, Tx},
    documents::project,
    locks::{lock_documents, lock_library},
};

/// How long a deleted item can be restored.
pub const KEPT: TimeDelta = TimeDelta::days(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrashKind {
    Album,
    Conversation,
    Playlist,
    Task,
    Track,
}

/// A deleted item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrashItem {
    pub kind: TrashKind,
    /// The id of the item; for a track, the id of its recording.
    pub id: Uuid,
    /// The id of an album in its catalogue.
    pub album_id: Option<String>,
    pub title: String,
    /// The preview of a conversation, the description of a playlist or task, the artist of a track or an album.
    pub detail: String,
    pub deleted_at: DateTime<Utc>,
}

/// The start of a page: items that were deleted before this one, newest first.
pub type TrashPlace = (DateTime<Utc>, Uuid);

/// A page of the removed rows of a table: `columns` are the id and two texts.
fn page_of(columns: &str, table: &str, removed_at: &str, more: &str) -> String {
    let id = columns.split(',').next().unwrap_or_default();
    format!(
        "SELECT {columns}, {removed_at} FROM {table} WHERE user_id = $1 AND {removed_at} > $2 {more}
            AND ($3 IS NULL OR ({removed_at}, {id}) < ($3, $4)) ORDER BY {removed_at} DESC, {id} DESC LIMIT $5"
    )
}

static CONVERSATIONS: Sql = Sql::new(|| page_of("id, title, preview", "conversations", "deleted_at", ""));
static TASKS: Sql = Sql::new(|| page_of("id, title, description", "tasks", "deleted_at", ""));
static PLAYLISTS: Sql =
    Sql::new(|| page_of("id, title, description", "playlists", "deleted_at", "AND erased_at IS NULL"));
/// Only tracks that their owner removed. Tracks that were removed with their file, merged, or removed with the sample
/// are not in the trash.
static TRACKS: Sql = Sql::new(|| {
    page_of(
        "recording_id, title, artist",
        "library_tracks",
        "removed_at",
        "AND erased_at IS NULL AND NOT left_with_file
            AND NOT EXISTS (SELECT 1 FROM track_merges m WHERE m.user_id = $1 AND m.kind = 'merge'
                AND m.undone_at IS NULL AND m.recording_id = library_tracks.recording_id)
            AND NOT (is_sample AND EXISTS (SELECT 1 FROM sample_removals s WHERE s.user_id = $1
                AND s.removed_at <= library_tracks.removed_at))",
    )
});

impl Store {
    /// At most `limit` deleted items after `from`, newest first.
    pub async fn trash(
        &self,
        owner: &UserId,
        from: Option<TrashPlace>,
        limit: u32,
    ) -> Result<Vec<TrashItem>, StoreError> {
        let mut items = self.deleted_tracks(owner, from, limit).await?;
        let is_after = |item: &TrashItem| from.is_none_or(|from| (item.deleted_at, item.id) < from);
        items.extend(self.deleted_albums(owner).await?.into_iter().filter(is_after));
        for (kind, sql) in
            [(TrashKind::Conversation, &CONVERSATIONS), (TrashKind::Playlist, &PLAYLISTS), (TrashKind::Task, &TASKS)]
        {
            let query = self.read(sql).bind(owner.as_str()).bind(self.clock.now() - KEPT);
            let query = query.bind(from.map(|(at, _)| at)).bind(from.map(|(_, id)| id)).bind(i64::from(limit));
            let rows: Vec<(Uuid, String, String, DateTime<Utc>)> = query.fetch_all().await?;
            let of_row =
                |(id, title, detail, deleted_at)| TrashItem { kind, id, album_id: None, title, detail, deleted_at };
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
        let query = self.read(&TRACKS).bind(owner.as_str()).bind(self.clock.now() - KEPT);
        let query = query.bind(from.map(|(at, _)| at)).bind(from.map(|(_, id)| id.to_string()));
        let rows: Vec<(String, String, String, DateTime<Utc>)> = query.bind(i64::from(limit)).fetch_all().await?;
        let items = rows.into_iter().map(|(id, title, detail, deleted_at)| {
            let id = id.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
            Ok(TrashItem { kind: TrashKind::Track, id, album_id: None, title, detail, deleted_at })
        });
        items.collect()
    }

    /// Erases one item of the trash.
    pub async fn erase(&self, owner: &UserId, id: Uuid) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let n_erased = erase(&mut tx, owner, &[id], self.clock.now()).await?;
        if n_erased == 0 {
            return Err(StoreError::NotFound);
        }
        tx.commit().await?;
        self.erase_unused_texts().await
    }

    /// Erases everything in the trash. Returns how many items.
    pub async fn empty_trash(&self, owner: &UserId) -> Result<u64, StoreError> {
        let mut n_erased = 0;
        loop {
            let items = self.trash(owner, None, AT_ONCE).await?;
            if items.is_empty() {
                self.erase_unused_texts().await?;
                return Ok(n_erased);
            }
            let ids: Vec<Uuid> = items.iter().map(|item| item.id).collect();
            let (mut tx, at) = (self.begin_short().await?, self.clock.now());
            let erasing = async {
                let n_now = erase(&mut tx, owner, &ids, at).await?;
                tx.commit().await?;
                Ok::<u64, StoreError>(n_now)
            };
            let n_now = self.undisturbed(erasing).await?;
            n_erased += n_now;
            // Another request restored the item meanwhile.
            if n_now == 0 {
                return Ok(n_erased);
            }
        }
    }

    /// Erases items that were deleted too long ago to be restored. The removal of a track stays stored, so that an
    /// import or a folder scan does not add the track again.
    pub async fn erase_expired(&self) -> Result<(), StoreError> {
        const CONVERSATIONS: &str = "DELETE FROM conversations WHERE id IN
            (SELECT id FROM conversations WHERE deleted_at < $1 LIMIT 5)";
        const TASKS: &str = "DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE deleted_at < $1 LIMIT 100)";
        const PLAYLISTS: &str = "UPDATE playlists SET tracks = '[]', tracks_id = NULL, n_tracks = 0,
            description = '', erased_at = $2 WHERE id IN
            (SELECT id FROM playlists WHERE deleted_at < $1 AND erased_at IS NULL LIMIT 10)";
        let now = self.clock.now();
        self.in_parts(CONVERSATIONS, |query| query.bind(now - KEPT)).await?;
        self.in_parts(TASKS, |query| query.bind(now - KEPT)).await?;
        self.in_parts(PLAYLISTS, |query| query.bind(now - KEPT).bind(now)).await?;
        self.erase_expired_albums().await?;
        self.erase_unused_texts().await
    }
}

/// How many items are erased in one transaction.
const AT_ONCE: u32 = 10;

/// Erases deleted items, and the undo data that contains their content. Returns how many there were.
async fn erase(tx: &mut Tx, owner: &UserId, ids: &[Uuid], at: DateTime<Utc>) -> Result<u64, StoreError> {
    let recordings: Vec<String> = ids.iter().map(Uuid::to_string).collect();
    lock_library(tx, owner.as_str()).await?;
    lock_documents(tx, &recordings).await?;
    let albums = removed_albums(tx, owner).await?;
    let (mut n_erased, mut tracks) = (0, vec![]);
    for (id, recording) in ids.iter().zip(recordings) {
        let n_others = match albums.get(id) {
            Some(album) => erase_album(tx, owner, album).await?,
            None => erase_other(tx, owner, *id, at).await?,
        };
        let n_tracks = if n_others == 0 { erase_track(tx, owner, &recording, at).await? } else { 0 };
        if n_tracks > 0 {
            tracks.push(recording);
        }
        n_erased += n_others + n_tracks;
    }
    // Takes the revision counter, so it comes after everything that waits for a row.
    project(tx, &tracks).await?;
    Ok(n_erased)
}

/// Erases a conversation, a task or a playlist.
async fn erase_other(tx: &mut Tx, owner: &UserId, id: Uuid, at: DateTime<Utc>) -> Result<u64, StoreError> {
    const CONVERSATION: &str = "DELETE FROM conversations WHERE id = $1 AND user_id = $2 AND deleted_at IS NOT NULL";
    const TASK: &str = "DELETE FROM tasks WHERE id = $1 AND user_id = $2 AND deleted_at IS NOT NULL";
    const PLAYLIST: &str = "UPDATE playlists SET tracks = '[]', tracks_id = NULL, n_tracks = 0,
        description = '', erased_at = $3
        WHERE id = $1 AND user_id = $2 AND deleted_at IS NOT NULL AND erased_at IS NULL";
    const UNDOS: &str = "DELETE FROM undos WHERE user_id = $1 AND object_id = $2";
    let mut n_erased = tx.query(CONVERSATION).bind(id).bind(owner.as_str()).execute().await?;
    n_erased += tx.query(TASK).bind(id).bind(owner.as_str()).execute().await?;
    n_erased += tx.query(PLAYLIST).bind(id).bind(owner.as_str()).bind(at).execute().await?;
    if n_erased > 0 {
        tx.query(UNDOS).bind(owner.as_str()).bind(id.to_string()).execute().await?;
    }
    Ok(n_erased)
}

/// Erases the data of the owner's files about a removed track. The removal itself stays stored.
async fn erase_track(tx: &mut Tx, owner: &UserId, recording: &str, at: DateTime<Utc>) -> Result<u64, StoreError> {
    const TRACK: &str = "UPDATE library_tracks SET own = NULL, location = NULL, erased_at = $3
        WHERE recording_id = $1 AND user_id = $2 AND removed_at IS NOT NULL AND erased_at IS NULL
            AND NOT left_with_file";
    // Of files that were uploaded for this track alone.
    const SOUNDS: &str = "DELETE FROM fingerprints WHERE user_id = $2 AND content_hash IN (SELECT n.value
            FROM own_names n WHERE n.user_id = $2 AND n.kind = 'audio' AND n.recording_id = $1)
        AND NOT EXISTS (SELECT 1 FROM own_names o WHERE o.user_id = $2 AND o.kind = 'audio'
            AND o.value = fingerprints.content_hash AND o.recording_id <> $1)
        AND NOT EXISTS (SELECT 1 FROM library_files f WHERE f.user_id = $2
            AND f.content_hash = fingerprints.content_hash)";
    const NAMES: &str = "DELETE FROM own_names WHERE recording_id = $1 AND user_id = $2";
    const WORDS: &str = "DELETE FROM ingested_tracks WHERE recording_id = $1 AND owner = $2";
    let n_erased = tx.query(TRACK).bind(recording).bind(owner.as_str()).bind(at).execute().await?;
    if n_erased > 0 {
        tx.query(SOUNDS).bind(recording).bind(owner.as_str()).execute().await?;
        tx.query(NAMES).bind(recording).bind(owner.as_str()).execute().await?;
        tx.query(WORDS).bind(recording).bind(owner.as_str()).execute().await?;
    }
    Ok(n_erased)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_deleted_item_leaves_the_trash_after_30_days_by_the_clock_of_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let ann = UserId::new("ann");
        let task = store.add_task(&ann, crate::NewTask { title: "sweep", ..Default::default() }, None).await.unwrap();
        store.delete_task(&ann, crate::TaskId(task.id), None).await.unwrap();
        store.advance_clock(KEPT - TimeDelta::minutes(1));
        store.erase_expired().await.unwrap();
        assert_eq!(store.trash(&ann, None, 10).await.unwrap().len(), 1, "one minute remains");
        store.advance_clock(TimeDelta::minutes(2));
        assert_eq!(store.trash(&ann, None, 10).await.unwrap(), [], "an expired item is not listed before it is erased");
        assert!(
            store.restore_task(&ann, crate::TaskId(task.id)).await.is_ok(),
            "an expired item can be restored until it is erased"
        );
        store.delete_task(&ann, crate::TaskId(task.id), None).await.unwrap();
        store.advance_clock(KEPT + TimeDelta::minutes(1));
        store.erase_expired().await.unwrap();
        assert!(matches!(store.restore_task(&ann, crate::TaskId(task.id)).await, Err(StoreError::NotFound)));
    }
}

//! Undo: the owner reverts the change of one tool call or one batch, once, unless a later change contradicts it.

use chrono::{DateTime, TimeDelta, Utc};
use engine::{CallId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::types::Json;
use uuid::Uuid;

use super::{
    PlaylistId, Store, StoreError, Task, TaskId,
    db::Tx,
    library_bulk::bring_back,
    locks::lock_library,
    long_texts::{Staged, decoded, is_long},
    playlist_diff::PlaylistDiff,
    playlist_edits::{MOST_ATTEMPTS, swap},
    tasks::{self, TaskState},
};

engine::uuid_id!(
    /// The id of a change that can be undone. For a tool call, it is the id of the call.
    UndoId
);

/// A change, with what its undo needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    PlaylistMade { id: PlaylistId, revision: i64 },
    Playlist { id: PlaylistId, diff: PlaylistDiff },
    TaskAdded { id: TaskId, after: TaskState },
    TaskChanged { id: TaskId, before: TaskState, after: TaskState },
    TaskDeleted { id: TaskId },
    TracksRemoved { ids: Vec<String> },
}

impl Change {
    /// Whether it may take long to encode.
    pub(crate) fn is_long(&self) -> bool {
        match self {
            Self::Playlist { diff, .. } => is_long(diff.n_items()),
            Self::PlaylistMade { .. }
            | Self::TaskAdded { .. }
            | Self::TaskChanged { .. }
            | Self::TaskDeleted { .. }
            | Self::TracksRemoved { .. } => false,
        }
    }

    /// The playlist or task that was changed.
    fn object_id(&self) -> Option<String> {
        match self {
            Self::PlaylistMade { id, .. } | Self::Playlist { id, .. } => Some(id.to_string()),
            Self::TaskAdded { id, .. } | Self::TaskChanged { id, .. } | Self::TaskDeleted { id } => {
                Some(id.to_string())
            }
            Self::TracksRemoved { .. } => None,
        }
    }
}

/// The result of an undo.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Undone {
    pub undo_id: UndoId,
    /// The restored playlist; absent if the change was something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playlist_id: Option<PlaylistId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
}

/// Older changes cannot be undone.
const KEPT: TimeDelta = TimeDelta::days(30);
/// How many changes of one user can be undone, and how many of those that fill several parts: the newest ones.
const MOST: i64 = 1000;
const MOST_LONG: i64 = 50;

/// Stores the undo of a change that may be long, in the transaction of the change.
pub(crate) async fn remember_staged(
    tx: &mut Tx,
    owner: &UserId,
    call: Option<CallId>,
    (change, staged): (&Change, &Staged),
) -> Result<UndoId, StoreError> {
    const INSERT: &str = "INSERT INTO undos (id, user_id, change, created_at, object_id, change_id)
        VALUES ($1, $2, $3, $4, $5, $6)";
    // A few with each change, so that no change waits for the end of a busy month.
    const OLD: &str = "DELETE FROM undos WHERE id IN (SELECT id FROM undos
        WHERE user_id = $1 AND created_at < $2 ORDER BY created_at LIMIT 10)";
    const SURPLUS: &str = "DELETE FROM undos WHERE id IN (SELECT id FROM undos
        WHERE user_id = $1 ORDER BY created_at DESC LIMIT 10 OFFSET $2)";
    const SURPLUS_LONG: &str = "DELETE FROM undos WHERE id IN (SELECT id FROM undos
        WHERE user_id = $1 AND change_id IS NOT NULL ORDER BY created_at DESC LIMIT 10 OFFSET $2)";
    let (id, at) = (call.map_or_else(UndoId::new, |call| UndoId(call.0)), tx.now());
    staged.claim(tx).await?;
    let insert = tx.query(INSERT).bind(id.0).bind(owner.as_str()).bind(&staged.short).bind(at);
    insert.bind(change.object_id()).bind(staged.long).execute().await?;
    tx.query(OLD).bind(owner.as_str()).bind(at - KEPT).execute().await?;
    tx.query(SURPLUS).bind(owner.as_str()).bind(MOST).execute().await?;
    if staged.long.is_some() {
        tx.query(SURPLUS_LONG).bind(owner.as_str()).bind(MOST_LONG).execute().await?;
    }
    Ok(id)
}

/// Stores the undo of a short change, in the transaction of the change.
pub(crate) async fn remember(
    tx: &mut Tx,
    owner: &UserId,
    call: Option<CallId>,
    change: &Change,
) -> Result<UndoId, StoreError> {
    remember_staged(tx, owner, call, (change, &Staged::of(change)?)).await
}

impl Store {
    /// Undoes the change `id`. The effect and its journal row commit together.
    pub async fn undo(&self, owner: &UserId, id: UndoId) -> Result<Undone, StoreError> {
        match self.change(owner, id).await? {
            Change::Playlist { id: playlist, diff } => self.undo_edit(owner, id, (playlist, &diff)).await,
            change => {
                let mut tx = self.begin_undo(owner, id).await?;
                let undone = take_back(&mut tx, owner, id, change, self.clock.now()).await?;
                journal(&mut tx, owner, &undone).await?;
                tx.commit().await?;
                Ok(undone)
            }
        }
    }

    async fn change(&self, owner: &UserId, id: UndoId) -> Result<Change, StoreError> {
        const SQL: &str = "SELECT undone_at, CASE WHEN change_id IS NULL THEN CAST(change AS TEXT) ELSE
                (SELECT string_agg(body, '' ORDER BY number) FROM long_text_parts WHERE text_id = change_id) END
            FROM undos WHERE id = $1 AND user_id = $2";
        let row: Option<(Option<DateTime<Utc>>, String)> =
            self.read(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        match row.ok_or(StoreError::NotFound)? {
            (Some(_), _) => Err(ALREADY_UNDONE),
            (None, text) => decoded(&text),
        }
    }

    /// Undoes an edit of a playlist. A long list is read, changed and stored in parts before the transaction, like an edit.
    async fn undo_edit(
        &self,
        owner: &UserId,
        id: UndoId,
        (playlist, diff): (PlaylistId, &PlaylistDiff),
    ) -> Result<Undone, StoreError> {
        let undone = Undone { undo_id: id, playlist_id: Some(playlist), task_id: None };
        for _ in 0..MOST_ATTEMPTS {
            let next = self.next_version(owner, playlist, |now| diff.take_back(now.content.clone())).await;
            let (next, _) = next.map_err(|error| match error {
                StoreError::NotFound => StoreError::Conflict("The playlist was deleted. Restore it first."),
                other => other,
            })?;
            let mut tx = self.begin_undo(owner, id).await?;
            if swap(&mut tx, &next).await? {
                journal(&mut tx, owner, &undone).await?;
                tx.commit().await?;
                self.erase_replaced(&next).await?;
                return Ok(undone);
            }
            drop(tx);
            self.discard(&next.texts()).await?;
        }
        Err(StoreError::Conflict("The playlist was changed meanwhile. Read it again."))
    }

    /// Begins the transaction of an undo. Claiming the row first also locks it: of two attempts one succeeds, and the other gets a
    /// conflict.
    async fn begin_undo(&self, owner: &UserId, id: UndoId) -> Result<Tx, StoreError> {
        const CLAIM: &str = "UPDATE undos SET undone_at = $3 WHERE id = $1 AND user_id = $2 AND undone_at IS NULL
            RETURNING id";
        let mut tx = self.begin().await?;
        // Before the row of the undo: who erases the trash locks the library first, too.
        lock_library(&mut tx, owner.as_str()).await?;
        let claim = tx.query(CLAIM).bind(id.0).bind(owner.as_str()).bind_now();
        let claimed: Option<(Uuid,)> = claim.fetch_optional().await?;
        claimed.map(|_| tx).ok_or(ALREADY_UNDONE)
    }
}

const ALREADY_UNDONE: StoreError = StoreError::Conflict("This was already taken back.");

async fn take_back(
    tx: &mut Tx,
    owner: &UserId,
    undo_id: UndoId,
    change: Change,
    at: DateTime<Utc>,
) -> Result<Undone, StoreError> {
    let of_playlist = |id| Undone { undo_id, playlist_id: Some(id), task_id: None };
    let of_task = |id| Undone { undo_id, playlist_id: None, task_id: Some(id) };
    match change {
        Change::PlaylistMade { id, revision } => {
            remove_playlist(tx, owner, id, revision, at).await?;
            Ok(of_playlist(id))
        }
        Change::Playlist { .. } => unreachable!("`undo_edit` undoes edits"),
        Change::TaskAdded { id, after } => {
            let task = current_task(tx, owner, id).await?;
            if TaskState::of(&task) != after {
                return Err(StoreError::Conflict("The task was changed since."));
            }
            tasks::delete(tx, owner, id, at).await?;
            Ok(of_task(id))
        }
        Change::TaskChanged { id, before, after } => {
            let task = current_task(tx, owner, id).await?;
            let change = before.over(&after, &TaskState::of(&task))?;
            tasks::update(tx, &task, &change).await?;
            Ok(of_task(id))
        }
        Change::TracksRemoved { ids } => {
            bring_back(tx, owner, &ids).await?;
            Ok(Undone { undo_id, playlist_id: None, task_id: None })
        }
        Change::TaskDeleted { id } => {
            tasks::undelete(tx, owner, id).await?;
            Ok(of_task(id))
        }
    }
}

async fn current_task(tx: &mut Tx, owner: &UserId, id: TaskId) -> Result<Task, StoreError> {
    let task = tasks::locked(tx, owner, id).await?;
    task.ok_or(StoreError::Conflict("The task was deleted. Restore it first."))
}

/// A playlist that was edited since contains later work, so it is kept.
async fn remove_playlist(
    tx: &mut Tx,
    owner: &UserId,
    id: PlaylistId,
    revision: i64,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE playlists SET deleted_at = $4 WHERE id = $1 AND user_id = $2 AND revision = $3
        AND deleted_at IS NULL RETURNING id";
    let query = tx.query(SQL).bind(id.0).bind(owner.as_str()).bind(revision).bind(at);
    let removed: Option<(Uuid,)> = query.fetch_optional().await?;
    removed.map(drop).ok_or(StoreError::Conflict("The playlist was edited or deleted since."))
}

async fn journal(tx: &mut Tx, owner: &UserId, undone: &Undone) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO tool_calls (id, user_id, tool_name, title, parameters, status, result, summary,
            result_count, duration_ms, was_retried, created_at, finished_at)
        VALUES ($1, $2, 'undo', 'Undo', $3, 'done', $4, 'Undone', 1, 0, FALSE, $5, $5)";
    tx.query(SQL)
        .bind(CallId::new().0)
        .bind(owner.as_str())
        .bind(Json(json!({"undoId": undone.undo_id})))
        .bind(Json(undone))
        .bind_now()
        .execute()
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_newest_thousand_changes_of_a_user_can_be_undone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        const FILL: &str = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < $2)
            INSERT INTO undos (id, user_id, change, created_at)
            SELECT randomblob(16), $1, '{}', strftime('%Y-%m-%dT%H:%M:%fZ', $3, '-' || n || ' seconds') FROM n";
        const COUNT: &str = "SELECT COUNT(*) FROM undos WHERE user_id = $1";
        for user in ["ann", "bob"] {
            store.write(FILL).bind(user).bind(MOST + 5).bind_now().execute().await.unwrap();
        }
        let ann = UserId::new("ann");
        let content = crate::PlaylistContent { title: "x".into(), description: String::new(), tracks: Vec::new() };
        let made = store.create_playlist(&ann, content, None).await.unwrap();
        let count = async |user: &str| store.read(COUNT).bind(user).fetch_one::<(i64,)>().await.unwrap().0;
        assert_eq!((count("ann").await, count("bob").await), (MOST, MOST + 5));
        assert!(store.undo(&ann, made.undo_id).await.is_ok(), "the newest one is kept");
    }
}

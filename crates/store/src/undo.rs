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
    playlist_diff::PlaylistDiff,
    playlist_edits::{locked, put},
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

/// Stores the undo of a change, in the transaction of the change.
pub(crate) async fn remember(
    tx: &mut Tx,
    owner: &UserId,
    call: Option<CallId>,
    change: &Change,
) -> Result<UndoId, StoreError> {
    const INSERT: &str = "INSERT INTO undos (id, user_id, change, created_at, object_id) VALUES ($1, $2, $3, $4, $5)";
    // A few with each change, so that no change waits for the end of a busy month.
    const FORGET: &str = "DELETE FROM undos WHERE id IN (SELECT id FROM undos
        WHERE user_id = $1 AND created_at < $2 ORDER BY created_at LIMIT 10)";
    let (id, at) = (call.map_or_else(UndoId::new, |call| UndoId(call.0)), tx.now());
    let insert = tx.query(INSERT).bind(id.0).bind(owner.as_str()).bind(Json(change)).bind(at);
    insert.bind(change.object_id()).execute().await?;
    tx.query(FORGET).bind(owner.as_str()).bind(at - KEPT).execute().await?;
    Ok(id)
}

impl Store {
    /// Undoes the change `id`. The effect and its journal row commit together.
    pub async fn undo(&self, owner: &UserId, id: UndoId) -> Result<Undone, StoreError> {
        // Claiming the row first also locks it: of two attempts one succeeds, and the other gets a conflict.
        const CLAIM: &str = "UPDATE undos SET undone_at = $3 WHERE id = $1 AND user_id = $2 AND undone_at IS NULL
            RETURNING change";
        const KNOWN: &str = "SELECT id FROM undos WHERE id = $1 AND user_id = $2";
        let mut tx = self.begin().await?;
        // Before the row of the undo: who erases the trash locks the library first, too.
        lock_library(&mut tx, owner.as_str()).await?;
        let claim = tx.query(CLAIM).bind(id.0).bind(owner.as_str()).bind_now();
        let Some((Json(change),)) = claim.fetch_optional::<(Json<Change>,)>().await? else {
            let known: Option<(Uuid,)> = tx.query(KNOWN).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
            return Err(known.map_or(StoreError::NotFound, |_| StoreError::Conflict("This was already taken back.")));
        };
        let undone = take_back(&mut tx, owner, id, change, self.clock.now()).await?;
        journal(&mut tx, owner, &undone).await?;
        tx.commit().await?;
        Ok(undone)
    }
}

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
        Change::Playlist { id, diff } => {
            const DELETED: StoreError = StoreError::Conflict("The playlist was deleted. Restore it first.");
            let playlist = locked(tx, owner, id).await?.ok_or(DELETED)?;
            let content = diff.take_back(playlist.content.clone())?;
            put(tx, playlist, content).await?;
            Ok(of_playlist(id))
        }
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

//! Tasks: a to-do list per owner. A deleted task can be restored.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use engine::{CallId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Store, StoreError,
    db::{Dialects, Tx},
    room::Room,
    task_order::{TaskPlace, place},
    undo::{Change, remember},
};

engine::uuid_id!(TaskId);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub id: Uuid,
    pub title: String,
    pub description: String,
    pub completed: bool,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}
from_row!(Task { id, title, description, completed, created_at, updated_at });

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskFilter {
    #[default]
    All,
    Pending,
    Completed,
}

/// A task that is to be added.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewTask<'a> {
    pub title: &'a str,
    pub description: &'a str,
}

/// The fields to change; an absent field is kept.
#[derive(Clone, Debug, Default)]
pub struct TaskChange {
    pub title: Option<String>,
    pub description: Option<String>,
    pub completed: Option<bool>,
    /// The new position, next to another task.
    pub place: Option<TaskPlace>,
}

/// The fields of a task that its owner may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskState {
    title: String,
    description: String,
    completed: bool,
}

impl TaskState {
    pub(crate) fn of(task: &Task) -> Self {
        Self { title: task.title.clone(), description: task.description.clone(), completed: task.completed }
    }

    /// The change that restores this state, in the fields that `after` changed.
    pub(crate) fn over(self, after: &Self, now: &Self) -> Result<TaskChange, StoreError> {
        let title = (self.title != after.title).then_some(self.title);
        let description = (self.description != after.description).then_some(self.description);
        let completed = (self.completed != after.completed).then_some(self.completed);
        if title.is_none() && description.is_none() && completed.is_none() {
            return Err(StoreError::Conflict("This changed nothing, so there is nothing to take back."));
        }
        let is_later = title.is_some() && now.title != after.title
            || description.is_some() && now.description != after.description
            || completed.is_some() && now.completed != after.completed;
        if is_later {
            return Err(StoreError::Conflict("The task was changed since."));
        }
        Ok(TaskChange { title, description, completed, place: None })
    }
}

const INSERT: &str = "INSERT INTO tasks (id, user_id, title, description, completed, created_at, updated_at, position)
    VALUES ($1, $2, $3, $4, FALSE, $5, $5, (SELECT COALESCE(MAX(position), 0) + 1 FROM tasks WHERE user_id = $2))
    RETURNING id, title, description, completed, created_at, updated_at";

const UPDATE: &str = "UPDATE tasks SET title = COALESCE($3, title), description = COALESCE($4, description),
        completed = COALESCE($5, completed),
        updated_at = CASE WHEN $3 IS NULL AND $4 IS NULL AND $5 IS NULL THEN updated_at ELSE $6 END
    WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
    RETURNING id, title, description, completed, created_at, updated_at";

const DELETE: &str = "UPDATE tasks SET deleted_at = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
    RETURNING id, title, description, completed, created_at, updated_at";

/// Each change takes the tool call that makes it, if any: the effect and the journal row commit together, and a call
/// that is already settled returns its earlier output.
impl Store {
    pub async fn tasks(&self, owner: &UserId, filter: TaskFilter) -> Result<Vec<Task>, StoreError> {
        self.task_page(owner, filter, u32::MAX, None).await
    }

    /// The tasks in their owner's order, starting with `from`; new tasks are last.
    pub async fn task_page(
        &self,
        owner: &UserId,
        filter: TaskFilter,
        limit: u32,
        from: Option<Uuid>,
    ) -> Result<Vec<Task>, StoreError> {
        // Two statements: PostgreSQL would plan one that holds for both cases again for each call.
        const FIRST: &str = "SELECT id, title, description, completed, created_at, updated_at FROM tasks
            WHERE user_id = $1 AND deleted_at IS NULL AND (completed = $2 OR completed = $3)
            ORDER BY position, id LIMIT $4";
        const FROM: &str = "SELECT id, title, description, completed, created_at, updated_at FROM tasks
            WHERE user_id = $1 AND deleted_at IS NULL AND (completed = $2 OR completed = $3)
                AND (position, id) >= (SELECT position, id FROM tasks WHERE id = $5 AND user_id = $1)
            ORDER BY position, id LIMIT $4";
        let (one, other) = match filter {
            TaskFilter::All => (true, false),
            TaskFilter::Pending => (false, false),
            TaskFilter::Completed => (true, true),
        };
        let query = self.read(if from.is_some() { FROM } else { FIRST });
        let query = query.bind(owner.as_str()).bind(one).bind(other).bind(i64::from(limit));
        let query = if from.is_some() { query.bind(from) } else { query };
        Ok(query.fetch_all().await?)
    }

    pub async fn add_task(&self, owner: &UserId, new: NewTask<'_>, call: Option<CallId>) -> Result<Task, StoreError> {
        self.check_room(owner, Room::Tasks).await?;
        let mut tx = self.begin().await?;
        let task = self
            .settle(&mut tx, call, async |tx| {
                let query = tx.query(INSERT).bind(TaskId::new().0).bind(owner.as_str());
                let task: Task = query.bind(new.title).bind(new.description).bind_now().fetch_one().await?;
                let added = Change::TaskAdded { id: TaskId(task.id), after: TaskState::of(&task) };
                of_call(tx, owner, call, added).await?;
                Ok::<_, StoreError>(task)
            })
            .await?;
        tx.commit().await?;
        Ok(task)
    }

    pub async fn update_task(
        &self,
        owner: &UserId,
        id: TaskId,
        change: &TaskChange,
        call: Option<CallId>,
    ) -> Result<Task, StoreError> {
        let mut tx = self.begin().await?;
        let task = self
            .settle(&mut tx, call, async |tx| {
                let before = locked(tx, owner, id).await?.ok_or(StoreError::NotFound)?;
                let task = update(tx, owner, id, change).await?;
                if let Some(at) = change.place {
                    place(tx, owner, id, at).await?;
                }
                let (before, after) = (TaskState::of(&before), TaskState::of(&task));
                of_call(tx, owner, call, Change::TaskChanged { id, before, after }).await?;
                Ok::<_, StoreError>(task)
            })
            .await?;
        tx.commit().await?;
        Ok(task)
    }

    pub async fn delete_task(&self, owner: &UserId, id: TaskId, call: Option<CallId>) -> Result<Task, StoreError> {
        let (mut tx, at) = (self.begin().await?, self.clock.now());
        let task = self
            .settle(&mut tx, call, async |tx| {
                let task = delete(tx, owner, id, at).await?;
                of_call(tx, owner, call, Change::TaskDeleted { id }).await?;
                Ok::<_, StoreError>(task)
            })
            .await?;
        tx.commit().await?;
        Ok(task)
    }

    /// Undoes a deletion. A task that is not deleted stays as it is.
    pub async fn restore_task(&self, owner: &UserId, id: TaskId) -> Result<Task, StoreError> {
        const SQL: &str = "UPDATE tasks SET deleted_at = NULL WHERE id = $1 AND user_id = $2
            RETURNING id, title, description, completed, created_at, updated_at";
        let task = self.write(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        task.ok_or(StoreError::NotFound)
    }
}

/// Stores the undo of a tool call. Changes through the API need none, because each can be reverted by another request.
async fn of_call(tx: &mut Tx, owner: &UserId, call: Option<CallId>, change: Change) -> Result<(), StoreError> {
    if call.is_some() {
        remember(tx, owner, call, &change).await?;
    }
    Ok(())
}

/// Locks a task: no other transaction changes it until this one ends.
pub(crate) async fn locked(tx: &mut Tx, owner: &UserId, id: TaskId) -> Result<Option<Task>, StoreError> {
    static SQL: LazyLock<Dialects> = LazyLock::new(|| {
        Dialects::locking(
            "SELECT id, title, description, completed, created_at, updated_at FROM tasks
            WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL FOR UPDATE",
        )
    });
    let sql = tx.text_of(&SQL);
    Ok(tx.query(sql).bind(id.0).bind(owner.as_str()).fetch_optional().await?)
}

/// Updates the fields of a task; `place` changes its position.
pub(crate) async fn update(tx: &mut Tx, owner: &UserId, id: TaskId, change: &TaskChange) -> Result<Task, StoreError> {
    let query = tx.query(UPDATE).bind(id.0).bind(owner.as_str()).bind(change.title.as_deref());
    let query = query.bind(change.description.as_deref()).bind(change.completed).bind_now();
    query.fetch_optional().await?.ok_or(StoreError::NotFound)
}

/// `at` is the database's time, which decides when the task leaves the trash.
pub(crate) async fn delete(tx: &mut Tx, owner: &UserId, id: TaskId, at: DateTime<Utc>) -> Result<Task, StoreError> {
    let query = tx.query(DELETE).bind(id.0).bind(owner.as_str()).bind(at);
    query.fetch_optional().await?.ok_or(StoreError::NotFound)
}

/// Undoes a deletion. Returns a conflict if the task is not deleted.
pub(crate) async fn undelete(tx: &mut Tx, owner: &UserId, id: TaskId) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE tasks SET deleted_at = NULL WHERE id = $1 AND user_id = $2 AND deleted_at IS NOT NULL
        RETURNING id";
    let back: Option<(Uuid,)> = tx.query(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
    back.map(drop).ok_or(StoreError::Conflict("The task is on the list again."))
}

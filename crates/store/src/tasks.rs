//! Tasks: a to-do list per owner. A deleted task can be restored.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use engine::{CallId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Store, StoreError,
    db::{Dialects, Sql, Tx},
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
const COLUMNS: &str = "id, title, description, completed, created_at, updated_at";

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

impl TaskChange {
    fn has_fields(&self) -> bool {
        let Self { title, description, completed, place: _ } = self;
        title.is_some() || description.is_some() || completed.is_some()
    }

    /// The fields of a task after this change.
    fn over(&self, before: &Task) -> TaskState {
        TaskState {
            title: self.title.clone().unwrap_or_else(|| before.title.clone()),
            description: self.description.clone().unwrap_or_else(|| before.description.clone()),
            completed: self.completed.unwrap_or(before.completed),
        }
    }
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

static INSERT: Sql = Sql::new(|| {
    format!(
        "INSERT INTO tasks (id, user_id, title, description, completed, created_at, updated_at, position)
        VALUES ($1, $2, $3, $4, FALSE, $5, $5, (SELECT COALESCE(MAX(position), 0) + 1 FROM tasks WHERE user_id = $2))
        RETURNING {COLUMNS}"
    )
});

static WRITE: Sql = Sql::new(|| {
    format!(
        "UPDATE tasks SET title = $2, description = $3, completed = $4, updated_at = $5 WHERE id = $1
        RETURNING {COLUMNS}"
    )
});

static DELETE: Sql = Sql::new(|| {
    format!(
        "UPDATE tasks SET deleted_at = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL RETURNING {COLUMNS}"
    )
});

/// Pages of all tasks, and of those in one state, which have an index of their own: a user may have done thousands.
static ALL: Sql = Sql::new(|| page(""));
static ALL_FROM: Sql = Sql::new(|| page(&from("$3")));
pub(super) static IN_STATE: Sql = Sql::new(|| page("AND completed = $3"));
static IN_STATE_FROM: Sql = Sql::new(|| page(&format!("AND completed = $3 {}", from("$4"))));

fn from(id: &str) -> String {
    format!("AND (position, id) >= (SELECT position, id FROM tasks WHERE id = {id} AND user_id = $1)")
}

fn page(condition: &str) -> String {
    format!(
        "SELECT {COLUMNS} FROM tasks WHERE user_id = $1 AND deleted_at IS NULL {condition} ORDER BY position, id LIMIT $2"
    )
}

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
        let completed = match filter {
            TaskFilter::All => None,
            TaskFilter::Pending => Some(false),
            TaskFilter::Completed => Some(true),
        };
        let sql = match (completed, from) {
            (None, None) => &ALL,
            (None, Some(_)) => &ALL_FROM,
            (Some(_), None) => &IN_STATE,
            (Some(_), Some(_)) => &IN_STATE_FROM,
        };
        let query = self.read(sql).bind(owner.as_str()).bind(i64::from(limit));
        let query = completed.into_iter().fold(query, |query, completed| query.bind(completed));
        let query = from.into_iter().fold(query, |query, from| query.bind(from));
        Ok(query.fetch_all().await?)
    }

    pub async fn add_task(&self, owner: &UserId, new: NewTask<'_>, call: Option<CallId>) -> Result<Task, StoreError> {
        self.check_room(owner, Room::Tasks).await?;
        let mut tx = self.begin().await?;
        let task = self
            .settle(&mut tx, call, async |tx| {
                let query = tx.query(&INSERT).bind(TaskId::new().0).bind(owner.as_str());
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
                let task = update(tx, &before, change).await?;
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
        static SQL: Sql = Sql::new(|| {
            format!("UPDATE tasks SET deleted_at = NULL WHERE id = $1 AND user_id = $2 RETURNING {COLUMNS}")
        });
        let task = self.write(&SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
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
        Dialects::locking(&format!(
            "SELECT {COLUMNS} FROM tasks WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL FOR UPDATE"
        ))
    });
    let sql = tx.text_of(&SQL);
    Ok(tx.query(sql).bind(id.0).bind(owner.as_str()).fetch_optional().await?)
}

/// Updates the fields of a task that is locked; `place` changes its position.
pub(crate) async fn update(tx: &mut Tx, before: &Task, change: &TaskChange) -> Result<Task, StoreError> {
    let TaskState { title, description, completed } = change.over(before);
    let updated_at = if change.has_fields() { tx.now() } else { before.updated_at };
    let query = tx.query(&WRITE).bind(before.id).bind(title).bind(description).bind(completed);
    Ok(query.bind(updated_at).fetch_one().await?)
}

/// `at` is the database's time, which decides when the task leaves the trash.
pub(crate) async fn delete(tx: &mut Tx, owner: &UserId, id: TaskId, at: DateTime<Utc>) -> Result<Task, StoreError> {
    let query = tx.query(&DELETE).bind(id.0).bind(owner.as_str()).bind(at);
    query.fetch_optional().await?.ok_or(StoreError::NotFound)
}

/// Undoes a deletion. Returns a conflict if the task is not deleted.
pub(crate) async fn undelete(tx: &mut Tx, owner: &UserId, id: TaskId) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE tasks SET deleted_at = NULL WHERE id = $1 AND user_id = $2 AND deleted_at IS NOT NULL
        RETURNING id";
    let back: Option<(Uuid,)> = tx.query(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
    back.map(drop).ok_or(StoreError::Conflict("The task is on the list again."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_field_of_a_task_is_kept_and_a_description_can_be_emptied() {
        let at = DateTime::UNIX_EPOCH;
        let (title, description) = ("Milk".to_owned(), "Oat".to_owned());
        let before = Task { id: Uuid::nil(), title, description, completed: true, created_at: at, updated_at: at };
        let none = TaskChange::default();
        assert_eq!(none.over(&before), TaskState::of(&before));
        assert!(!none.has_fields());
        let emptied = TaskChange { description: Some(String::new()), ..none.clone() };
        assert_eq!(emptied.over(&before), TaskState { description: String::new(), ..TaskState::of(&before) });
        let other = TaskChange { title: Some("Bread".to_owned()), completed: Some(false), ..none };
        let (title, completed) = ("Bread".to_owned(), false);
        assert_eq!(other.over(&before), TaskState { title, completed, ..TaskState::of(&before) });
        assert!(emptied.has_fields() && other.has_fields());
    }
}

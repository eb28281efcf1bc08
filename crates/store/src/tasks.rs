//! Tasks: a to-do list per owner, deleted softly so that it can be undone.

use chrono::{DateTime, Utc};
use engine::{CallId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Store, StoreError, now};

engine::uuid_id!(TaskId);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub id: Uuid,
    pub title: String,
    pub description: String,
    pub completed: bool,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskFilter {
    #[default]
    All,
    Pending,
    Completed,
}

/// What to change; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct TaskChange {
    pub title: Option<String>,
    pub description: Option<String>,
    pub completed: Option<bool>,
}

const INSERT: &str = "INSERT INTO tasks (id, user_id, title, description, completed, created_at, updated_at)
    VALUES ($1, $2, $3, $4, FALSE, $5, $5)
    RETURNING id, title, description, completed, created_at, updated_at";

const UPDATE: &str = "UPDATE tasks SET title = COALESCE($3, title), description = COALESCE($4, description),
        completed = COALESCE($5, completed), updated_at = $6
    WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
    RETURNING id, title, description, completed, created_at, updated_at";

const DELETE: &str = "UPDATE tasks SET deleted_at = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
    RETURNING id, title, description, completed, created_at, updated_at";

/// Each change takes the tool call it belongs to, if any: effect and journal row commit together,
/// and a call that is already settled answers what it answered then.
impl Store {
    pub async fn tasks(&self, owner: &UserId, filter: TaskFilter) -> Result<Vec<Task>, StoreError> {
        self.task_page(owner, filter, u32::MAX, None).await
    }

    /// Oldest first, from the one `from` on.
    pub async fn task_page(
        &self,
        owner: &UserId,
        filter: TaskFilter,
        limit: u32,
        from: Option<Uuid>,
    ) -> Result<Vec<Task>, StoreError> {
        const SQL: &str = "SELECT id, title, description, completed, created_at, updated_at FROM tasks
            WHERE user_id = $1 AND deleted_at IS NULL AND (completed = $2 OR completed = $3)
                AND ($4 IS NULL OR id >= $4) ORDER BY id LIMIT $5";
        let (one, other) = match filter {
            TaskFilter::All => (true, false),
            TaskFilter::Pending => (false, false),
            TaskFilter::Completed => (true, true),
        };
        let query = self.read(SQL).bind(owner.as_str()).bind(one).bind(other).bind(from).bind(i64::from(limit));
        Ok(query.fetch_all().await?)
    }

    pub async fn add_task(
        &self,
        owner: &UserId,
        title: &str,
        description: &str,
        call: Option<CallId>,
    ) -> Result<Task, StoreError> {
        let mut tx = self.begin().await?;
        let task = self
            .settle(&mut tx, call, async |tx| {
                let task = tx
                    .query(INSERT)
                    .bind(TaskId::new().0)
                    .bind(owner.as_str())
                    .bind(title)
                    .bind(description)
                    .bind(now())
                    .fetch_one()
                    .await?;
                Ok(task)
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
                tx.query(UPDATE)
                    .bind(id.0)
                    .bind(owner.as_str())
                    .bind(change.title.as_deref())
                    .bind(change.description.as_deref())
                    .bind(change.completed)
                    .bind(now())
                    .fetch_optional()
                    .await?
                    .ok_or(StoreError::NotFound)
            })
            .await?;
        tx.commit().await?;
        Ok(task)
    }

    pub async fn delete_task(&self, owner: &UserId, id: TaskId, call: Option<CallId>) -> Result<Task, StoreError> {
        let mut tx = self.begin().await?;
        let task = self
            .settle(&mut tx, call, async |tx| {
                tx.query(DELETE)
                    .bind(id.0)
                    .bind(owner.as_str())
                    .bind(now())
                    .fetch_optional()
                    .await?
                    .ok_or(StoreError::NotFound)
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

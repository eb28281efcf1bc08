//! Tasks: a to-do list per user. Deleted tasks can be restored.

use engine::UserId;
use schemars::JsonSchema;
use serde::Deserialize;
use tracing::{field::Empty, instrument};
use uuid::Uuid;

use super::{Origin, present};
use crate::{Error, text_limit::Text};
use store::{Store, TaskPlace};
pub use store::{Task, TaskFilter, TaskId};

pub type TaskTitle = Text<1, 200>;
pub type TaskDescription = Text<0, 2000>;
const _: () = assert!(offline::LONGEST_TITLE == TaskTitle::MAX && offline::LONGEST_DESCRIPTION == TaskDescription::MAX);

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    pub title: TaskTitle,
    #[serde(default)]
    pub description: TaskDescription,
}

/// The fields to change. An absent field is kept; `null` clears a field that may be empty.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskChange {
    #[serde(default)]
    pub title: Option<TaskTitle>,
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<TaskDescription>")]
    pub description: Option<Option<TaskDescription>>,
    #[serde(default)]
    pub completed: Option<bool>,
    /// Moves it before this task.
    #[serde(default)]
    pub before: Option<TaskId>,
    /// Moves it after this task.
    #[serde(default)]
    pub after: Option<TaskId>,
}

impl TaskChange {
    fn place(&self) -> Result<Option<TaskPlace>, Error> {
        match (self.before, self.after) {
            (Some(_), Some(_)) => {
                Err(Error::Invalid { field: "after", problem: "cannot be combined with before".into() })
            }
            (Some(id), None) => Ok(Some(TaskPlace::Before(id))),
            (None, Some(id)) => Ok(Some(TaskPlace::After(id))),
            (None, None) => Ok(None),
        }
    }
}

#[derive(Clone)]
pub struct Tasks {
    store: Store,
}

impl Tasks {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    /// In the owner's order; new tasks are last.
    #[instrument(name = "tasks.list", skip_all, fields(user.id = %owner))]
    pub async fn list(&self, owner: &UserId, filter: TaskFilter) -> Result<Vec<Task>, Error> {
        Ok(self.store.tasks(owner, filter).await?)
    }

    /// At most `limit` tasks in the owner's order, starting with `from`; and the first one of the next page.
    #[instrument(name = "tasks.page", skip_all, fields(user.id = %owner))]
    pub async fn page(
        &self,
        owner: &UserId,
        filter: TaskFilter,
        limit: u32,
        from: Option<Uuid>,
    ) -> Result<(Vec<Task>, Option<Uuid>), Error> {
        let mut tasks = self.store.task_page(owner, filter, limit.saturating_add(1), from).await?;
        let next = tasks.get(limit as usize).map(|task| task.id);
        tasks.truncate(limit as usize);
        Ok((tasks, next))
    }

    #[instrument(name = "tasks.add", skip_all, fields(user.id = Empty))]
    pub async fn add(&self, origin: impl Into<Origin<'_>>, new: NewTask) -> Result<Task, Error> {
        let Origin { owner, call } = Origin::recorded(origin);
        let title = new.title.checked("title")?;
        let description = new.description.checked("description")?;
        let new = store::NewTask { title: &title, description: &description };
        Ok(self.store.add_task(owner, new, call).await?)
    }

    #[instrument(name = "tasks.change", skip_all, fields(user.id = Empty, task.id = %id))]
    pub async fn change(&self, origin: impl Into<Origin<'_>>, id: TaskId, change: TaskChange) -> Result<Task, Error> {
        let Origin { owner, call } = Origin::recorded(origin);
        let place = change.place()?;
        if change.title.is_none() && change.description.is_none() && change.completed.is_none() && place.is_none() {
            return Err(Error::Incomplete("Give at least one of title, description, completed, before and after."));
        }
        let change = store::TaskChange {
            title: change.title.map(|title| title.checked("title")).transpose()?,
            // The column has no NULL: a task without a description has an empty one.
            description: change.description.map(|text| text.unwrap_or_default().checked("description")).transpose()?,
            completed: change.completed,
            place,
        };
        Ok(self.store.update_task(owner, id, &change, call).await?)
    }

    /// Completes a task. Completing it again changes nothing.
    #[instrument(name = "tasks.complete", skip_all, fields(user.id = Empty, task.id = %id))]
    pub async fn complete(&self, origin: impl Into<Origin<'_>>, id: TaskId) -> Result<Task, Error> {
        self.change(Origin::recorded(origin), id, TaskChange { completed: Some(true), ..TaskChange::default() }).await
    }

    #[instrument(name = "tasks.delete", skip_all, fields(user.id = Empty, task.id = %id))]
    pub async fn delete(&self, origin: impl Into<Origin<'_>>, id: TaskId) -> Result<Task, Error> {
        let Origin { owner, call } = Origin::recorded(origin);
        Ok(self.store.delete_task(owner, id, call).await?)
    }

    /// Undoes a deletion. A task that is not deleted stays as it is.
    #[instrument(name = "tasks.restore", skip_all, fields(user.id = %owner, task.id = %id))]
    pub async fn restore(&self, owner: &UserId, id: TaskId) -> Result<Task, Error> {
        Ok(self.store.restore_task(owner, id).await?)
    }
}

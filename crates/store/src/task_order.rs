//! The order of a user's tasks: a position is given by the neighbouring task.

use std::sync::LazyLock;

use engine::UserId;
use uuid::Uuid;

use super::{
    StoreError, TaskId,
    db::{Dialects, Tx},
};

/// The new position of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPlace {
    Before(TaskId),
    After(TaskId),
}

/// Moves a task next to another one. Two tasks may have the same position, for example if they were added at the same
/// time; then their ids decide. So all later tasks move by two, which leaves a unique position for this one.
pub(crate) async fn place(tx: &mut Tx, owner: &UserId, id: TaskId, at: TaskPlace) -> Result<(), StoreError> {
    const FROM: &str = "UPDATE tasks SET position = position + 2 WHERE user_id = $1 AND (position, id) >= ($2, $3)";
    const BEHIND: &str = "UPDATE tasks SET position = position + 2 WHERE user_id = $1 AND (position, id) > ($2, $3)";
    const PUT: &str = "UPDATE tasks SET position = $3 WHERE user_id = $1 AND id = $2";
    let (TaskPlace::Before(other) | TaskPlace::After(other)) = at;
    if other == id {
        return Ok(());
    }
    let position = position_of(tx, owner, other).await?.ok_or(StoreError::NotFound)?;
    let make_room = match at {
        TaskPlace::Before(_) => FROM,
        TaskPlace::After(_) => BEHIND,
    };
    tx.query(make_room).bind(owner.as_str()).bind(position).bind(other.0).execute().await?;
    tx.query(PUT).bind(owner.as_str()).bind(id.0).bind(position + 1).execute().await?;
    Ok(())
}

/// Locks the whole list, always in the same order, so that concurrent moves run one after the other.
async fn position_of(tx: &mut Tx, owner: &UserId, id: TaskId) -> Result<Option<i64>, StoreError> {
    static SQL: LazyLock<Dialects> = LazyLock::new(|| {
        Dialects::locking(
            "SELECT id, position FROM tasks WHERE user_id = $1 AND deleted_at IS NULL ORDER BY id FOR UPDATE",
        )
    });
    let sql = tx.text_of(&SQL);
    let positions: Vec<(Uuid, i64)> = tx.query(sql).bind(owner.as_str()).fetch_all().await?;
    Ok(positions.into_iter().find_map(|(other, position)| (other == id.0).then_some(position)))
}

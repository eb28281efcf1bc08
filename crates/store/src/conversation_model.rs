//! Which model of the settings answers a turn.

use engine::{TurnId, UserId};

use super::{Store, StoreError};

impl Store {
    /// The name that was chosen when a turn was begun; none: the active model answers. It does not change with the
    /// conversation's choice, so that a node that takes the turn over asks the same model.
    pub async fn turn_model(&self, owner: &UserId, turn: TurnId) -> Result<Option<String>, StoreError> {
        const SQL: &str = "SELECT model FROM turns WHERE id = $1 AND user_id = $2";
        let row: Option<(Option<String>,)> = self.read(SQL).bind(turn.0).bind(owner.as_str()).fetch_optional().await?;
        Ok(row.ok_or(StoreError::NotFound)?.0)
    }
}

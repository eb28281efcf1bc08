//! The configured model that answers a turn.

use engine::{TurnId, UserId};

use super::{Store, StoreError};

impl Store {
    /// The name of the model that was chosen when the turn started; `None`: the active model answers. Later choices of
    /// the conversation do not change it, so that a node that takes the turn over calls the same model.
    pub async fn turn_model(&self, owner: &UserId, turn: TurnId) -> Result<Option<String>, StoreError> {
        const SQL: &str = "SELECT model FROM turns WHERE id = $1 AND user_id = $2";
        let row: Option<(Option<String>,)> = self.read(SQL).bind(turn.0).bind(owner.as_str()).fetch_optional().await?;
        Ok(row.ok_or(StoreError::NotFound)?.0)
    }
}

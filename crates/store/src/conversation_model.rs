//! Which model of the settings a conversation uses.

use engine::{ConversationId, UserId};

use super::{Store, StoreError};

impl Store {
    /// The name that was chosen for it; none: the active model answers.
    pub async fn conversation_model(&self, owner: &UserId, id: ConversationId) -> Result<Option<String>, StoreError> {
        const SQL: &str = "SELECT model FROM conversations WHERE id = $1 AND user_id = $2";
        let row: Option<(Option<String>,)> = self.read(SQL).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        Ok(row.ok_or(StoreError::NotFound)?.0)
    }

    pub async fn set_conversation_model(
        &self,
        owner: &UserId,
        id: ConversationId,
        model: &str,
    ) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE conversations SET model = $3 WHERE id = $1 AND user_id = $2";
        self.write(SQL).bind(id.0).bind(owner.as_str()).bind(model).execute().await?;
        Ok(())
    }
}

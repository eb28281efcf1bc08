//! Titles of conversations that were not set by a user: a model may improve one, once.

use engine::{ConversationId, UserId};

use super::{Store, StoreError};

impl Store {
    /// Whether the title still consists of the first words of the question and no other caller has claimed the
    /// improvement.
    pub async fn claim_title(&self, owner: &UserId, id: ConversationId) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE conversations SET title_by = 'claimed'
            WHERE id = $1 AND user_id = $2 AND title_by = 'question'";
        Ok(self.write(SQL).bind(id.0).bind(owner.as_str()).execute().await? > 0)
    }

    /// Stores a title unless the user has set one meanwhile.
    pub async fn set_made_title(&self, owner: &UserId, id: ConversationId, title: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE conversations SET title = $3, title_by = 'model'
            WHERE id = $1 AND user_id = $2 AND title_by = 'claimed'";
        self.write(SQL).bind(id.0).bind(owner.as_str()).bind(title).execute().await?;
        Ok(())
    }
}

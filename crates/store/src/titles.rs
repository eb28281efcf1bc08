//! Titles of conversations that no user has set: a model may improve one, once.

use engine::{ConversationId, UserId};

use super::{Store, StoreError};

impl Store {
    /// Whether the title is still made of the first words of the question and the caller is the first who wants to
    /// improve it.
    pub async fn claim_title(&self, owner: &UserId, id: ConversationId) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE conversations SET title_by = 'claimed'
            WHERE id = $1 AND user_id = $2 AND title_by = 'question'";
        Ok(self.write(SQL).bind(id.0).bind(owner.as_str()).execute().await? > 0)
    }

    /// Unless its user has set one meanwhile.
    pub async fn set_made_title(&self, owner: &UserId, id: ConversationId, title: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE conversations SET title = $3, title_by = 'model'
            WHERE id = $1 AND user_id = $2 AND title_by = 'claimed'";
        self.write(SQL).bind(id.0).bind(owner.as_str()).bind(title).execute().await?;
        Ok(())
    }
}

//! Changes of a conversation by its owner: title, pin and model, deletion and restoration.

use std::sync::LazyLock;

use engine::{ConversationId, UserId};
use uuid::Uuid;

use super::{Conversation, Store, StoreError, db::Dialects};

/// The fields to change; `None` keeps a field.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConversationChange<'a> {
    pub title: Option<&'a str>,
    pub pinned: Option<bool>,
    /// `Some(None)`: the active model.
    pub model: Option<Option<&'a str>>,
}

impl Store {
    /// Sets the title, the pin and the model. `None` keeps a field.
    pub async fn change_conversation(
        &self,
        owner: &UserId,
        id: ConversationId,
        change: ConversationChange<'_>,
    ) -> Result<Conversation, StoreError> {
        static LOCK: LazyLock<Dialects> = LazyLock::new(|| {
            Dialects::locking(
                "SELECT title, title_by, pinned, model FROM conversations
                WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE",
            )
        });
        const WRITE: &str = "UPDATE conversations SET title = $2, title_by = $3, pinned = $4, model = $5 WHERE id = $1";
        let mut tx = self.begin().await?;
        let lock = tx.text_of(&LOCK);
        let before: Option<Settings> = tx.query(lock).bind(id.0).bind(owner.as_str()).fetch_optional().await?;
        let Settings { title, title_by, pinned, model } = before.ok_or(StoreError::NotFound)?.with(change);
        let query = tx.query(WRITE).bind(id.0).bind(title).bind(title_by).bind(pinned).bind(model);
        query.execute().await?;
        tx.commit().await?;
        self.conversation(owner, id).await
    }

    /// Returns a conflict while a turn runs, because its answer could not be stored.
    pub async fn delete_conversation(&self, owner: &UserId, id: ConversationId) -> Result<(), StoreError> {
        const MARK: &str =
            "UPDATE conversations SET deleted_at = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
            RETURNING id";
        const RUNNING: &str = "SELECT id FROM turns WHERE conversation_id = $1 AND status = 'running'";
        let mut tx = self.begin().await?;
        let marked: Option<(Uuid,)> =
            tx.query(MARK).bind(id.0).bind(owner.as_str()).bind(self.clock.now()).fetch_optional().await?;
        if marked.is_none() {
            return Err(StoreError::NotFound);
        }
        let running: Option<(Uuid,)> = tx.query(RUNNING).bind(id.0).fetch_optional().await?;
        if running.is_some() {
            return Err(StoreError::Conflict("a turn is still running in this conversation; stop it first"));
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn restore_conversation(&self, owner: &UserId, id: ConversationId) -> Result<Conversation, StoreError> {
        const SQL: &str = "UPDATE conversations SET deleted_at = NULL WHERE id = $1 AND user_id = $2";
        self.write(SQL).bind(id.0).bind(owner.as_str()).execute().await?;
        self.conversation(owner, id).await
    }
}

/// The fields of a conversation that its owner may change.
struct Settings {
    title: String,
    /// Who wrote the title: a title of the user is not replaced.
    title_by: String,
    pinned: bool,
    model: Option<String>,
}
from_row!(Settings { title, title_by, pinned, model });

impl Settings {
    fn with(self, change: ConversationChange<'_>) -> Self {
        let ConversationChange { title, pinned, model } = change;
        Self {
            title_by: if title.is_some() { "user".to_owned() } else { self.title_by },
            title: title.map_or(self.title, str::to_owned),
            pinned: pinned.unwrap_or(self.pinned),
            model: model.map_or(self.model, |model| model.map(str::to_owned)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(change: ConversationChange<'_>) -> (String, String, bool, Option<String>) {
        let (title, title_by) = ("Milk".to_owned(), "question".to_owned());
        let before = Settings { title, title_by, pinned: true, model: Some("large".to_owned()) };
        let Settings { title, title_by, pinned, model } = before.with(change);
        (title, title_by, pinned, model)
    }

    #[test]
    fn an_absent_field_is_kept_and_a_model_can_be_cleared() {
        let none = ConversationChange::default();
        let kept = ("Milk".to_owned(), "question".to_owned(), true, Some("large".to_owned()));
        assert_eq!(changed(none), kept);
        let (title, title_by, pinned, model) = kept.clone();
        assert_eq!(changed(ConversationChange { pinned: Some(false), ..none }), (title, title_by, false, model));
        let (title, title_by, pinned_, _) = kept.clone();
        assert_eq!(changed(ConversationChange { model: Some(None), ..none }), (title, title_by, pinned_, None));
        let by_user = ("Bread".to_owned(), "user".to_owned(), pinned, kept.3);
        assert_eq!(changed(ConversationChange { title: Some("Bread"), ..none }), by_user);
    }
}

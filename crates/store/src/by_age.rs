//! Conversations in the order of their creation, for lists with pages in either direction.

use engine::{ConversationId, UserId};

use super::{Conversation, ConversationPage, Store, StoreError, conversations::CONVERSATION_COLUMNS, db::Sql};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    OldestFirst,
    NewestFirst,
}

impl Store {
    pub async fn conversations_by_age(
        &self,
        owner: &UserId,
        age: Age,
        after: Option<ConversationId>,
        limit: u32,
    ) -> Result<ConversationPage, StoreError> {
        static OLDEST_FIRST: Sql = Sql::new(|| {
            format!(
                "SELECT {CONVERSATION_COLUMNS} FROM conversations c WHERE c.user_id = $1 AND c.deleted_at IS NULL
                    AND ($2 IS NULL OR (c.created_at, c.id) >
                        (SELECT created_at, id FROM conversations WHERE id = $2 AND user_id = $1))
                ORDER BY c.created_at, c.id LIMIT $3"
            )
        });
        static NEWEST_FIRST: Sql = Sql::new(|| {
            format!(
                "SELECT {CONVERSATION_COLUMNS} FROM conversations c WHERE c.user_id = $1 AND c.deleted_at IS NULL
                    AND ($2 IS NULL OR (c.created_at, c.id) <
                        (SELECT created_at, id FROM conversations WHERE id = $2 AND user_id = $1))
                ORDER BY c.created_at DESC, c.id DESC LIMIT $3"
            )
        });
        let sql = match age {
            Age::OldestFirst => &OLDEST_FIRST,
            Age::NewestFirst => &NEWEST_FIRST,
        };
        let mut conversations: Vec<Conversation> = self
            .read(sql)
            .bind(owner.as_str())
            .bind(after.map(|id| id.0))
            .bind(i64::from(limit) + 1)
            .fetch_all()
            .await?;
        let has_more = conversations.len() > limit as usize;
        conversations.truncate(limit as usize);
        let next = conversations.last().filter(|_| has_more).map(|last| last.id);
        Ok(ConversationPage { conversations, next })
    }
}

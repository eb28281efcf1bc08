//! Branches: an edited question and a repeated answer are siblings of the earlier ones. A conversation shows one
//! branch: the path from its first question to `active_leaf`.

use std::{collections::HashMap, sync::LazyLock};

use engine::{ConversationId, MessageId, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{
    Age, MessagePage, Store, StoreError, StoredMessage,
    conversations::{MESSAGE_COLUMNS, MessageRow},
    db::{Dialects, Sql},
};

/// The messages with the same parent: one for each branch.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Siblings {
    /// The position of this message among them, from 0.
    pub index: usize,
    pub count: usize,
    /// Oldest first, including this message.
    pub ids: Vec<MessageId>,
}

/// The path from the message `from` to the first question, as the common table `path`.
fn with_path(from: &str, limit: &str) -> String {
    format!(
        "WITH RECURSIVE path(id, parent_id, depth) AS (
            SELECT m.id, m.parent_id, 1 FROM messages m JOIN conversations c ON c.id = m.conversation_id
            WHERE c.id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL AND m.id = {from}
            UNION ALL
            SELECT m.id, m.parent_id, p.depth + 1 FROM messages m JOIN path p ON m.id = p.parent_id {limit}) "
    )
}

static NEWEST_FIRST: Sql = Sql::new(|| {
    let path = with_path("COALESCE($3, c.active_leaf)", "WHERE p.depth < $4");
    format!(
        "{path} SELECT {MESSAGE_COLUMNS} FROM path p JOIN messages m ON m.id = p.id
            LEFT JOIN turns t ON t.message_id = m.id ORDER BY p.depth"
    )
});

/// The newest messages until they have `$5` bytes, as they are stored: `n_bytes` does not read the content.
fn newest_within(n_bytes: &str) -> String {
    format!(
        "WITH RECURSIVE path(id, parent_id, depth, n_bytes) AS (
            SELECT m.id, m.parent_id, 1, {n_bytes} FROM messages m JOIN conversations c ON c.id = m.conversation_id
            WHERE c.id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL AND m.id = $3
            UNION ALL
            SELECT m.id, m.parent_id, p.depth + 1, p.n_bytes + {n_bytes}
            FROM messages m JOIN path p ON m.id = p.parent_id WHERE p.depth < $4 AND p.n_bytes < $5
        ) SELECT {MESSAGE_COLUMNS} FROM path p JOIN messages m ON m.id = p.id
            LEFT JOIN turns t ON t.message_id = m.id ORDER BY p.depth"
    )
}

static NEWEST_WITHIN: LazyLock<Dialects> = LazyLock::new(|| Dialects {
    sqlite: newest_within("octet_length(m.content)"),
    postgres: newest_within("CAST(pg_column_size(m.content) AS BIGINT)"),
});

static OLDEST_FIRST: Sql = Sql::new(|| {
    let path = with_path("c.active_leaf", "");
    format!(
        "{path} SELECT {MESSAGE_COLUMNS} FROM path p JOIN messages m ON m.id = p.id
            LEFT JOIN turns t ON t.message_id = m.id
        WHERE $3 IS NULL OR m.position >= (SELECT position FROM messages WHERE id = $3 AND conversation_id = $1)
        ORDER BY m.position LIMIT $4"
    )
});

impl Store {
    /// At most `limit` messages of the branch that is shown, starting with `from`. If `from` is on another branch, the
    /// page goes back on that branch.
    pub async fn message_page(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        age: Age,
        from: Option<MessageId>,
        limit: u32,
    ) -> Result<MessagePage, StoreError> {
        let sql = match age {
            Age::OldestFirst => &OLDEST_FIRST,
            Age::NewestFirst => &NEWEST_FIRST,
        };
        let rows: Vec<MessageRow> = self
            .read(sql)
            .bind(conversation.0)
            .bind(owner.as_str())
            .bind(from.map(|id| id.0))
            .bind(i64::from(limit) + 1)
            .fetch_all()
            .await?;
        let mut messages: Vec<StoredMessage> = rows.into_iter().map(StoredMessage::from).collect();
        let next = messages.get(limit as usize).map(|message| message.id);
        messages.truncate(limit as usize);
        self.add_siblings(conversation, &mut messages).await?;
        self.add_calls(conversation, &mut messages).await?;
        Ok(MessagePage { messages, next })
    }

    /// The newest messages of the branch that ends with `leaf`, oldest first: at most `limit`, and none after `max_bytes` of
    /// content, because the results of tools make some messages long.
    pub async fn branch(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        leaf: MessageId,
        limit: u32,
        max_bytes: u32,
    ) -> Result<Vec<StoredMessage>, StoreError> {
        let query = self.read(self.text_of(&NEWEST_WITHIN)).bind(conversation.0).bind(owner.as_str());
        let query = query.bind(leaf.0).bind(i64::from(limit)).bind(i64::from(max_bytes));
        let rows: Vec<MessageRow> = query.fetch_all().await?;
        Ok(rows.into_iter().rev().map(StoredMessage::from).collect())
    }

    /// The messages of the branch that is shown, oldest first.
    pub async fn branch_ids(&self, owner: &UserId, conversation: ConversationId) -> Result<Vec<MessageId>, StoreError> {
        static SQL: Sql = Sql::new(|| with_path("c.active_leaf", "") + "SELECT id FROM path ORDER BY depth DESC");
        let rows: Vec<(Uuid,)> = self.read(&SQL).bind(conversation.0).bind(owner.as_str()).fetch_all().await?;
        Ok(rows.into_iter().map(|(id,)| MessageId(id)).collect())
    }

    /// Shows the branch of a message, up to its newest message unless the message is already shown. Returns a conflict
    /// while a turn runs, because its readers would see two branches.
    pub async fn choose_branch(
        &self,
        owner: &UserId,
        conversation: ConversationId,
        message: MessageId,
    ) -> Result<(), StoreError> {
        // Locks the conversation. The start of a turn takes the same lock.
        const OWN: &str = "UPDATE conversations SET active_leaf = active_leaf
            WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL RETURNING id";
        const RUNNING: &str = "SELECT id FROM turns WHERE conversation_id = $1 AND status = 'running'";
        // A message is newer than its parent, so the newest message of a branch is a leaf.
        const CHOOSE: &str = "WITH RECURSIVE below(id) AS (
                SELECT id FROM messages WHERE id = $2 AND conversation_id = $1
                UNION ALL
                SELECT m.id FROM messages m JOIN below b ON m.parent_id = b.id)
            UPDATE conversations SET active_leaf =
                (SELECT m.id FROM messages m JOIN below b ON b.id = m.id ORDER BY m.position DESC LIMIT 1)
            WHERE id = $1 AND EXISTS (SELECT 1 FROM below) RETURNING id";
        if self.branch_ids(owner, conversation).await?.contains(&message) {
            return Ok(());
        }
        let mut tx = self.begin().await?;
        let own: Option<(Uuid,)> = tx.query(OWN).bind(conversation.0).bind(owner.as_str()).fetch_optional().await?;
        own.ok_or(StoreError::NotFound)?;
        let running: Option<(Uuid,)> = tx.query(RUNNING).bind(conversation.0).fetch_optional().await?;
        if running.is_some() {
            return Err(StoreError::Conflict("a turn is still running in this conversation; stop it first"));
        }
        let chosen: Option<(Uuid,)> = tx.query(CHOOSE).bind(conversation.0).bind(message.0).fetch_optional().await?;
        chosen.ok_or(StoreError::NotFound)?;
        tx.commit().await
    }

    /// Adds the siblings to each message. A message without siblings gets none.
    async fn add_siblings(
        &self,
        conversation: ConversationId,
        messages: &mut [StoredMessage],
    ) -> Result<(), StoreError> {
        const SQL: &str = "SELECT id, parent_id FROM messages WHERE conversation_id = $1
              AND (parent_id IS NULL OR parent_id IN (
                SELECT parent_id FROM messages WHERE conversation_id = $1 AND parent_id IS NOT NULL
                GROUP BY parent_id HAVING COUNT(*) > 1))
            ORDER BY position";
        let rows: Vec<(Uuid, Option<Uuid>)> = self.read(SQL).bind(conversation.0).fetch_all().await?;
        let mut by_parent: HashMap<Option<MessageId>, Vec<MessageId>> = HashMap::new();
        for (id, parent) in rows {
            by_parent.entry(parent.map(MessageId)).or_default().push(MessageId(id));
        }
        for message in messages {
            let Some(ids) = by_parent.get(&message.parent_id).filter(|ids| ids.len() > 1) else { continue };
            let Some(index) = ids.iter().position(|id| *id == message.id) else { continue };
            message.siblings = Some(Siblings { index, count: ids.len(), ids: ids.clone() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_branch_is_read_until_its_messages_have_too_many_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let (ann, conversation) = (UserId::new("ann"), ConversationId::new());
        const CONVERSATION: &str =
            "INSERT INTO conversations (id, user_id, agent, title, preview, created_at, updated_at)
            VALUES ($1, 'ann', 'tasks', 't', '', $2, $2)";
        store.write(CONVERSATION).bind(conversation.0).bind_now().execute().await.unwrap();
        const MESSAGE: &str = "INSERT INTO messages
                (id, conversation_id, position, role, content, status, searchable, created_at, parent_id)
            VALUES ($1, $2, $3, 'user', $4, 'complete', '', $5, $6)";
        let content = format!(r#"[{{"type": "text", "text": "{}"}}]"#, "x".repeat(10_000));
        let mut leaf = None;
        for position in 1..=50_i64 {
            let id = MessageId::new();
            let insert = store.write(MESSAGE).bind(id.0).bind(conversation.0).bind(position).bind(&content);
            insert.bind_now().bind(leaf.map(|id: MessageId| id.0)).execute().await.unwrap();
            leaf = Some(id);
        }
        let branch = async |limit, max_bytes| {
            store.branch(&ann, conversation, leaf.unwrap(), limit, max_bytes).await.unwrap().len()
        };
        assert_eq!((branch(400, 8 << 20).await, branch(20, 8 << 20).await), (50, 20));
        assert_eq!(branch(400, 100_000).await, 10, "the tenth message has the last of these bytes");
        assert_eq!(branch(400, 1).await, 1, "the newest one is always read");
    }
}

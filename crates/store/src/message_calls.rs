//! What the journal says about the calls of messages, for clients that show them.

use std::collections::HashMap;

use engine::{CallId, ConversationId, MessageId};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{Store, StoreError, StoredMessage};

/// A tool call of an answer, with what the stream said about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredCall {
    /// The id of its `tool_use` and `tool_result`.
    pub id: CallId,
    /// The tool's name for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Absent if the call failed or has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The number of results; absent if the call failed or has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_count: Option<usize>,
}

struct CallRow {
    message_id: Uuid,
    id: Uuid,
    title: Option<String>,
    summary: Option<String>,
    result_count: Option<i64>,
}
from_row!(CallRow { message_id, id, title, summary, result_count });

/// The calls between two messages, also those of other branches: a range needs no list of ids.
const CALLS: &str = "SELECT c.message_id, c.id, c.title, c.summary, c.result_count
    FROM messages m JOIN tool_calls c ON c.message_id = m.id
    WHERE m.conversation_id = $1
      AND m.position >= (SELECT MIN(position) FROM messages WHERE id IN ($2, $3))
      AND m.position <= (SELECT MAX(position) FROM messages WHERE id IN ($2, $3))
    ORDER BY c.created_at, c.id";

impl Store {
    /// Adds the calls to each message of a page.
    pub(super) async fn add_calls(
        &self,
        conversation: ConversationId,
        messages: &mut [StoredMessage],
    ) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (messages.first(), messages.last()) else { return Ok(()) };
        let query = self.read(CALLS).bind(conversation.0).bind(first.id.0).bind(last.id.0);
        let rows: Vec<CallRow> = query.fetch_all().await?;
        let mut by_message: HashMap<MessageId, Vec<StoredCall>> = HashMap::new();
        for row in rows {
            let result_count = row.result_count.and_then(|n| usize::try_from(n).ok());
            let call = StoredCall { id: CallId(row.id), title: row.title, summary: row.summary, result_count };
            by_message.entry(MessageId(row.message_id)).or_default().push(call);
        }
        for message in messages {
            message.calls = by_message.remove(&message.id).unwrap_or_default();
        }
        Ok(())
    }
}

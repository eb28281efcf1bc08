//! Messages and their blocks: the form in which a conversation is stored and in which a model reads it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::CallId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub role: Role,
    pub content: Vec<Block>,
}

/// One piece of a message, in the order it happened.
///
/// The order tells which calls were made together: calls of one reply stand side by side before their results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    /// What the model wrote before its answer or a call. Users can read it; it is no part of the answer's text, and no model
    /// reads it again.
    Reasoning {
        text: String,
    },
    ToolUse {
        id: CallId,
        name: String,
        input: Value,
    },
    ToolResult {
        tool_use_id: CallId,
        /// Shared with the event and the journal: it may be large, and an answer is copied several times.
        content: Arc<Value>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

impl Block {
    /// About how many bytes a model reads of it.
    pub fn n_bytes(&self) -> usize {
        match self {
            Block::Text { text } => text.len(),
            Block::Reasoning { .. } => 0,
            Block::ToolUse { name, input, .. } => name.len() + json_bytes(input),
            Block::ToolResult { content, .. } => content.as_str().map_or_else(|| json_bytes(content), str::len),
        }
    }
}

/// The length of plain data as JSON. The text itself is not built: a prompt has many values, and each is counted in every turn.
pub fn json_bytes(value: &(impl Serialize + ?Sized)) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value).expect("plain data has a JSON form, and counting cannot fail");
    counter.0
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![Block::Text { text: text.into() }] }
    }

    pub fn assistant(content: Vec<Block>) -> Self {
        Self { role: Role::Assistant, content }
    }

    /// The text of the message, without reasoning and tool calls.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}

/// The text of these blocks, without reasoning and tool calls.
pub fn text_of(content: &[Block]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        Block::Reasoning { .. } | Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

//! Model: a prompt goes in, deltas come out.

use std::sync::Arc;

use futures::stream::BoxStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Effect, Message};

/// Everything a model reads for one reply.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The same for every turn of an agent, so that providers can cache it together with the tools.
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    /// Starts with a user message; tool results are in the compact form meant for models.
    pub messages: Vec<Message>,
    /// False once the turn has used up its rounds: the model must answer with what it has.
    pub may_call_tools: bool,
}

/// A tool as models, MCP clients and the API documentation see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    pub name: &'static str,
    pub title: &'static str,
    pub description: String,
    pub effect: Effect,
    pub input_schema: Value,
    pub output_schema: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    Text(String),
    /// A whole call: the provider has joined the fragments. `input` is what the model wrote, not yet parsed.
    ToolCall {
        name: String,
        input: String,
    },
    /// The reply is complete. A stream that ends without it was cut.
    End {
        usage: Usage,
    },
}

/// Token counts of one or more replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Everything the model read, cached or not.
    pub input_tokens: u64,
    pub output_tokens: u64,
    #[serde(default)]
    pub cache_read_tokens: u64,
    #[serde(default)]
    pub cache_write_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The provider is away, overloaded, or cut the stream. Asking again later may help.
    #[error("the model is unavailable: {0}")]
    Unavailable(String),
    /// The provider asks us to slow down and our one retry did not help.
    #[error("the model's rate limit is reached: {0}")]
    RateLimited(String),
    /// The provider did not answer in time.
    #[error("the model did not answer in time")]
    TimedOut,
    /// The user has used up their tokens; the provider was not asked. The text is for the user.
    #[error("{0}")]
    OverBudget(String),
    /// The provider refused the request itself: key, model name or request. The operator must act.
    #[error("the model refused the request: {0}")]
    Refused(String),
}

pub trait Model: Send + Sync {
    /// `provider:model`, as in `SEGUE_MODEL`.
    fn id(&self) -> &str;

    /// How many tokens of history a prompt may carry.
    fn history_tokens(&self) -> usize {
        100_000
    }

    /// One reply. Dropping the stream cancels the call, also at the provider.
    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>>;
}

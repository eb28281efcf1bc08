//! The `Model` trait: it takes a prompt and returns a stream of deltas.

use std::{borrow::Cow, sync::Arc};

use futures::stream::BoxStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Effect, Message};

/// Everything a model reads for one reply.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Identical for every turn of an agent, so that providers can cache it together with the tools.
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    /// Starts with a user message. Tool results are in the compact form for models.
    pub messages: Vec<Message>,
    /// False after the last tool round of the turn: the model must answer with the results that it has.
    pub may_call_tools: bool,
}

/// A tool as models, MCP clients and the API documentation see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    pub name: Cow<'static, str>,
    pub title: Cow<'static, str>,
    pub description: String,
    pub effect: Effect,
    pub input_schema: Value,
    pub output_schema: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    Text(String),
    /// The model's reasoning before its answer. It is never part of the answer's text or of a later prompt.
    Reasoning(String),
    /// How much of the prompt the server has read. Only some local servers report it.
    Reading {
        n_read: u32,
        n_total: u32,
    },
    /// The usage so far, for a reply that may be cut off.
    Progress {
        usage: Usage,
    },
    /// A complete call: the provider has joined the fragments. `input` is the text of the model, not yet parsed.
    ToolCall {
        name: String,
        input: String,
    },
    /// The reply is complete. A stream that ends without this delta was cut.
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

/// Why there is no answer. The variants say who can fix it. The text is for the operator's log; users read
/// [`ModelError::for_user`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The provider is not reachable or overloaded, or it cut the stream. A later request may succeed.
    #[error("the model is unavailable: {0}")]
    Unavailable(String),
    /// The provider's rate limit is reached, and the retry failed too.
    #[error("the model's rate limit is reached: {0}")]
    RateLimited(String),
    /// The provider did not answer in time.
    #[error("the model did not answer in time")]
    TimedOut,
    /// The user's token limit is reached, so no request was sent. The text is for the user.
    #[error("{0}")]
    OverBudget(String),
    /// The prompt is longer than the model's context. A shorter prompt may fit.
    #[error("the prompt is longer than the model's context{}: {detail}", .limit.map(|n| format!(" of {n} tokens")).unwrap_or_default())]
    ContextOverflow { limit: Option<u32>, detail: String },
    /// The server does not have the model that is configured.
    #[error("the server does not have this model: {0}")]
    NoSuchModel(String),
    /// The key is missing or wrong, or it lacks a permission.
    #[error("the model's server did not accept the key: {0}")]
    Unauthorized(String),
    /// The server at the base URL is not a model server.
    #[error("no model server answers at the base URL: {0}")]
    NotAModelServer(String),
    /// The model ended its reply without text and without a call, and so did the retry.
    #[error("the model gave an empty reply")]
    EmptyReply,
    /// The provider refused the request for another reason. The operator must act.
    #[error("the model refused the request: {0}")]
    Refused(String),
}

impl ModelError {
    /// One sentence for a user: the cause, and what to do about it. It contains no text of the provider.
    pub fn for_user(&self) -> String {
        match self {
            ModelError::Unavailable(_) => "The model is unavailable right now. Please try again.".into(),
            ModelError::RateLimited(_) => "The model is at its rate limit. Please try again in a moment.".into(),
            ModelError::TimedOut => "The answer took too long. Please try again.".into(),
            ModelError::ContextOverflow { limit, .. } => {
                let of = limit.map(|n| format!(" of {n} tokens")).unwrap_or_default();
                format!("This is more text than the model's context{of} can hold. Please ask with a shorter message.")
            }
            ModelError::NoSuchModel(_) => {
                "The model's server does not have the configured model. Please check the model's name in the settings."
                    .into()
            }
            ModelError::Unauthorized(_) => {
                "The model's server did not accept the key. Please check the key in the settings.".into()
            }
            ModelError::NotAModelServer(_) => {
                "No model server answers at the configured address. Please check the base URL in the settings.".into()
            }
            ModelError::OverBudget(message) => message.clone(),
            ModelError::EmptyReply => "The model gave an empty answer. Please try again or ask differently.".into(),
            ModelError::Refused(_) => "The model refused the request. Please check its settings.".into(),
        }
    }

    /// Whether the same request may succeed later, with the same settings and the same message.
    pub fn is_retryable(&self) -> bool {
        match self {
            ModelError::Unavailable(_) | ModelError::RateLimited(_) | ModelError::TimedOut | ModelError::EmptyReply => {
                true
            }
            ModelError::ContextOverflow { .. }
            | ModelError::NoSuchModel(_)
            | ModelError::Unauthorized(_)
            | ModelError::NotAModelServer(_)
            | ModelError::OverBudget(_)
            | ModelError::Refused(_) => false,
        }
    }
}

/// The known size of a model's context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Prompt and answer together; `None` if the server does not report it.
    pub context_tokens: Option<u32>,
    /// Measured from the token counts of earlier replies.
    pub chars_per_token: f64,
}

pub trait Model: Send + Sync {
    /// `provider:model`, as in `SEGUE_MODEL`.
    fn id(&self) -> &str;

    /// The model whose replies this one changes. What follows is then the same as for that model.
    fn inner(&self) -> Option<&dyn Model> {
        None
    }

    /// How many tokens of history a prompt may carry.
    fn history_tokens(&self) -> usize {
        self.inner().map_or(100_000, Model::history_tokens)
    }

    /// `None` if the context size is unknown or irrelevant. Then prompts are not shortened, and missing usage is not
    /// estimated.
    fn window(&self) -> Option<Window> {
        self.inner()?.window()
    }

    /// Whether the model runs on this machine or in this network. Reading a prompt may then take minutes.
    fn is_local(&self) -> bool {
        self.inner().is_some_and(Model::is_local)
    }

    /// One reply. Dropping the stream cancels the request at the provider too.
    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>>;
}

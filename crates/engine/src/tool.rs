//! Tool: typed input, typed output, one effect, one call.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{CallId, MessageId, UserId};

/// Something an agent can do. `Input`'s doc comment is what the model reads.
pub trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    /// What a person reads on a card: "Search your library".
    const TITLE: &'static str;
    const EFFECT: Effect;
    /// How long one attempt may take.
    const DEADLINE: Duration = Duration::from_secs(10);
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Report + JsonSchema + Send;

    fn call(
        &self,
        cx: &ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// The shorter form a model reads, made from the complete output. The page and the store keep everything.
    fn for_model(output: &Value) -> Value {
        output.clone()
    }

    /// What an attempt that runs into its deadline failed with: in the words of the service that it waited for.
    fn late() -> ToolError {
        let message = format!("{} took longer than {} s", Self::TITLE, Self::DEADLINE.as_secs());
        ToolError::Unavailable { message, retryable: false }
    }
}

/// What every output can say about itself.
pub trait Report: Serialize {
    /// "Found 8 tracks matching 'rainy nights'"
    fn summary(&self) -> String;
    /// How many results there are, for the badge on the card.
    fn count(&self) -> usize;
}

/// What a call does to the world. Decides concurrency, MCP hints and undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Reads,
    Writes,
    Deletes,
}

/// For whom and under which name a tool works. There is no other way for a tool to learn who the user is.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub owner: UserId,
    pub call: CallId,
    /// The answer the call belongs to; none when the user calls a tool directly.
    pub answer: Option<MessageId>,
    pub cancel: CancellationToken,
    pub timings: Timings,
    pub(crate) caller: Caller,
}

/// Who wrote the input. A program (HTTP, MCP) gets its errors in the words of the schema; a model also gets an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Program,
    Model,
}

impl ToolContext {
    pub fn new(owner: UserId, call: CallId, cancel: CancellationToken) -> Self {
        Self { owner, call, answer: None, cancel, timings: Timings::default(), caller: Caller::Program }
    }

    /// Whether a model wrote the input: it reads short handles where programs read ids.
    pub fn is_by_model(&self) -> bool {
        self.caller == Caller::Model
    }

    /// The same for a call a model made.
    pub fn by_model(self) -> Self {
        Self { caller: Caller::Model, ..self }
    }
}

/// Where the time of a call went, by name (`embeddingDurationMs`), for the trace.
#[derive(Clone, Debug, Default)]
pub struct Timings(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Timings {
    pub async fn measure<T>(&self, name: &'static str, work: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let result = work.await;
        self.record(name, started.elapsed());
        result
    }

    pub fn record(&self, name: &'static str, took: Duration) {
        let mut timings = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *timings.entry(name).or_default() += u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    }

    pub(crate) fn take(&self) -> BTreeMap<String, u64> {
        let timings = std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        timings.into_iter().map(|(name, ms)| (name.to_owned(), ms)).collect()
    }
}

/// The variants say who can do something about it.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The model can call again with better input. It reads this text, so it says what to change.
    #[error("{0}")]
    BadInput(String),
    /// What the input names does not exist, or is another user's. The model reads how to find what there is.
    #[error("{0}")]
    NotFound(String),
    /// The operator can: something this tool needs is not set up.
    #[error("{0}")]
    NotConfigured(String),
    /// Someone outside is not answering; waiting may help. Retried once.
    #[error("{message}")]
    Unavailable {
        /// For the user and the model.
        message: String,
        /// Whether it is worth asking again after our own retry failed too.
        retryable: bool,
    },
    /// Someone outside said no. Asking again will not help.
    #[error("{0}")]
    Refused(String),
    /// The user must allow this very call; `id` is the question to them. The turn ends with it.
    #[error("{message}")]
    NeedsConsent { id: Uuid, message: String },
    /// Our own fault. The model hears "internal error"; the log hears everything.
    #[error("internal error")]
    Bug(#[from] anyhow::Error),
}

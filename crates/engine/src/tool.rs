//! The `Tool` trait: typed input, typed output, and at most one effect per call.

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

/// A function that an agent can call. The model reads the doc comment of `Input` as its description.
pub trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    /// The name for users: "Search your library".
    const TITLE: &'static str;
    const EFFECT: Effect;
    /// Time limit of one attempt.
    const DEADLINE: Duration = Duration::from_secs(10);
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Report + JsonSchema + Send;

    fn call(
        &self,
        cx: &ToolContext,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// The shorter form for the model, computed from the complete output. The page and the store use the complete output.
    fn for_model(output: &Value) -> Value {
        output.clone()
    }

    /// The error of an attempt that exceeds its deadline. A tool that waits for a service returns that service's error.
    fn late() -> ToolError {
        let message = format!("{} took longer than {} s", Self::TITLE, Self::DEADLINE.as_secs());
        ToolError::Unavailable { message, retryable: false }
    }
}

/// Fields that every output provides.
pub trait Report: Serialize {
    /// "Found 8 tracks matching 'rainy nights'"
    fn summary(&self) -> String;
    /// The number of results, for the badge on the card.
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

/// The user and the id of a call. A tool learns the user only from here.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub owner: UserId,
    pub call: CallId,
    /// The answer to which the call belongs; `None` if the user calls a tool directly.
    pub answer: Option<MessageId>,
    pub cancel: CancellationToken,
    pub timings: Timings,
    pub(crate) caller: Caller,
}

/// Who wrote the input. A program (HTTP, MCP) gets the errors of the schema; a model also gets an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Program,
    Model,
}

impl ToolContext {
    pub fn new(owner: UserId, call: CallId, cancel: CancellationToken) -> Self {
        Self { owner, call, answer: None, cancel, timings: Timings::default(), caller: Caller::Program }
    }

    /// Whether a model wrote the input. Models use short handles in place of ids.
    pub fn is_by_model(&self) -> bool {
        self.caller == Caller::Model
    }

    /// The same context for a call by a model.
    pub fn by_model(self) -> Self {
        Self { caller: Caller::Model, ..self }
    }
}

/// The durations of the parts of a call by name (`embeddingDurationMs`), for the trace.
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

/// Why a call failed. The variants say who can fix it.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The model can call again with a corrected input. The text says what to change.
    #[error("{0}")]
    BadInput(String),
    /// The resource does not exist or belongs to another user. The text says how to list the existing ones.
    #[error("{0}")]
    NotFound(String),
    /// A setting that this tool needs is missing. The operator can set it.
    #[error("{0}")]
    NotConfigured(String),
    /// An external service does not answer. It may answer later, so the call is retried once.
    #[error("{message}")]
    Unavailable {
        /// For the user and the model.
        message: String,
        /// Whether a later call may succeed after the retry failed too.
        retryable: bool,
    },
    /// An external service refused the request. A retry gets the same answer.
    #[error("{0}")]
    Refused(String),
    /// The user must allow this call. `id` is the id of the question, with which the turn ends.
    #[error("{message}")]
    NeedsConsent { id: Uuid, message: String },
    /// A bug in Segue. The model reads "internal error"; the log contains the cause.
    #[error("internal error")]
    Bug(#[from] anyhow::Error),
}

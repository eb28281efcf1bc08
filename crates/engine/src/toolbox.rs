//! The toolbox: all tools by name. A call is validated, written to the journal, run with a deadline, retried at most once,
//! and its outcome is recorded.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};
use uuid::Uuid;

use crate::{
    Block, CallId, Effect, MessageId, Report, Tool, ToolContext, ToolError, ToolSpec, UserId, explain,
    foreign::{Foreign, ForeignOutput, ForeignTool},
    repair::{Repaired, repair, tool_named},
    tool::Caller,
    untrusted,
};

const RETRY_AFTER: Duration = Duration::from_secs(1);
/// A stopped writing tool may still commit its effect. It has this long to report the outcome.
const WRITE_GRACE: Duration = Duration::from_millis(500);

/// One call, as the journal stores it.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: CallId,
    pub owner: UserId,
    /// The answer to which it belongs; `None` if a tool is called directly.
    pub message: Option<MessageId>,
    pub name: String,
    pub input: Arc<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Done(Arc<Done>),
    Failed(Failure),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub summary: String,
    pub count: usize,
    pub duration_ms: u64,
    /// The complete output, including `summary` and `durationMs`.
    pub output: Value,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub timings: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_retried: bool,
}

/// As it is stored in a `tool_result` with `is_error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub error: String,
    /// Whether the user may try again later.
    pub retryable: bool,
    pub was_retried: bool,
    pub duration_ms: u64,
    /// The question to the user, when the call waits for their consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent_id: Option<Uuid>,
    /// Who can fix it. It is not stored; only the current caller gets a status for it.
    #[serde(skip)]
    pub cause: Cause,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Read from the store.
    #[default]
    Unknown,
    BadInput,
    NotFound,
    NotConfigured,
    NeedsConsent,
    Unavailable,
    Refused,
    Bug,
}

impl Cause {
    fn of(error: &ToolError) -> Self {
        match error {
            ToolError::BadInput(_) => Self::BadInput,
            ToolError::NotFound(_) => Self::NotFound,
            ToolError::NotConfigured(_) => Self::NotConfigured,
            ToolError::NeedsConsent { .. } => Self::NeedsConsent,
            ToolError::Unavailable { .. } => Self::Unavailable,
            ToolError::Refused(_) => Self::Refused,
            ToolError::Bug(_) => Self::Bug,
        }
    }
}

impl Failure {
    pub fn new(error: impl Into<String>, retryable: bool) -> Self {
        let (error, cause) = (error.into(), Cause::default());
        Self { error, retryable, was_retried: false, duration_ms: 0, consent_id: None, cause }
    }

    /// The failure of a call that was stopped, or whose outcome is unknown.
    pub fn interrupted() -> Self {
        Self::new("Interrupted", true)
    }

    /// The failure of a call to another server that was running when its node died. Its effect may have happened.
    pub(crate) fn outcome_unknown() -> Self {
        Self::new(
            "The server was restarted during this call, so its outcome is unknown: it may have been carried out. \
                     Check before calling again.",
            false,
        )
    }
}

/// The record of all calls: a row before a call runs, its outcome after it. A tool's effect and its row commit together,
/// so the row says whether the effect happened.
pub trait Journal: Send + Sync {
    /// Adds the row of a call before its tool runs. `title` is the tool's name for users. Idempotent.
    fn begin<'a>(&'a self, call: &'a Call, title: &'a str) -> BoxFuture<'a, Result<(), JournalError>>;
    /// Records the outcome and returns the recorded one: if an effect was committed before an interruption, the call is
    /// recorded as done. Idempotent.
    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>>;
    /// Records a call that was refused before it ran.
    fn refuse<'a>(&'a self, call: &'a Call, failure: &'a Failure) -> BoxFuture<'a, Result<(), JournalError>>;
    /// How long failed writes are retried.
    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal cannot be written, so no tool may run. A later attempt may succeed.
    #[error("the journal cannot be written: {0}")]
    Unwritable(anyhow::Error),
    /// Another node holds the lease of the turn, so this node may not store anything for it.
    #[error("another node has taken the turn over")]
    LeaseLost,
}

/// A journal that records nothing, for tests and for tools without effects.
pub struct NoJournal;

impl Journal for NoJournal {
    fn begin<'a>(&'a self, _: &'a Call, _: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async { Ok(()) })
    }
    fn finish<'a>(&'a self, _: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        Box::pin(async { Ok(outcome) })
    }
    fn refuse<'a>(&'a self, _: &'a Call, _: &'a Failure) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async { Ok(()) })
    }
}

/// The name of a tool that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool '{name}'; the tools are: {}", known.join(", "))]
pub struct UnknownTool {
    pub name: String,
    known: Vec<&'static str>,
}

#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<&'static str, Arc<dyn AnyTool>>,
}

impl Toolbox {
    pub fn with<T: Tool>(mut self, tool: T) -> Self {
        self.tools.insert(T::NAME, Arc::new(Typed { spec: spec::<T>(), tool }));
        self
    }

    /// Adds a tool of another server. It never replaces an existing tool.
    pub fn with_foreign(mut self, tool: Arc<dyn ForeignTool>) -> Self {
        self.tools.entry(tool.spec().name).or_insert_with(|| Arc::new(Foreign(tool)));
        self
    }

    /// The tools with these names: the tools of one agent.
    pub fn only(&self, names: &[&str]) -> Result<Self, UnknownTool> {
        let found = names.iter().map(|name| match self.tools.get(*name) {
            Some(tool) => Ok((tool.spec().name, tool.clone())),
            None => Err(UnknownTool { name: (*name).to_owned(), known: self.tools.keys().copied().collect() }),
        });
        Ok(Self { tools: found.collect::<Result<_, _>>()? })
    }

    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }

    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.get(name).map(|tool| tool.spec())
    }

    /// Whether a call may run concurrently with others. An unknown tool changes nothing.
    pub(crate) fn only_reads(&self, name: &str) -> bool {
        self.spec(name).is_none_or(|spec| spec.effect == Effect::Reads)
    }

    /// Whether the tool belongs to another server. The journal cannot commit its effects.
    pub(crate) fn is_foreign(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.is_foreign())
    }

    /// The tool's name for users.
    pub fn title(&self, name: &str) -> String {
        self.spec(name).map_or(name, |spec| spec.title).to_owned()
    }

    /// An answer in the form for models: tool results are compact, and identical in later turns and in the turn that
    /// produced them.
    pub fn answer_for_model(&self, content: &[Block]) -> Vec<Block> {
        let mut names = std::collections::HashMap::new();
        let blocks = content.iter().map(|block| match block {
            Block::ToolUse { id, name, .. } => {
                names.insert(*id, name.as_str());
                block.clone()
            }
            Block::ToolResult { tool_use_id, content, is_error: false } => {
                let name = names.get(tool_use_id).copied().unwrap_or_default();
                Block::ToolResult { tool_use_id: *tool_use_id, content: self.for_model(name, content), is_error: false }
            }
            Block::ToolResult { tool_use_id, content, is_error: true } => {
                let error = untrusted::clean(content.get("error").and_then(Value::as_str).unwrap_or("failed"));
                Block::ToolResult { tool_use_id: *tool_use_id, content: Value::String(error), is_error: true }
            }
            Block::Text { .. } => block.clone(),
        });
        blocks.collect()
    }

    /// A stored output in the form for models: the tool's shorter form, cleaned and marked as data.
    pub fn for_model(&self, name: &str, output: &Value) -> Value {
        let output = self.tools.get(name).map_or_else(|| output.clone(), |tool| tool.for_model(output));
        untrusted::marked(name, output)
    }

    /// Repairs a call of a model: the tool's exact name, the input in the schema's spelling, and notes for the model
    /// about the changes. Calls of programs are not repaired.
    pub fn prepare(&self, name: &str, input: Value) -> Prepared {
        let Some(known) = tool_named(name, self.tools.keys().copied()) else {
            return Prepared { name: name.to_owned(), input, notes: Vec::new() };
        };
        let Repaired { input, notes } = match self.tools.get(known) {
            Some(tool) => repair(tool.spec(), input),
            None => Repaired { input, notes: Vec::new() },
        };
        Prepared { name: known.to_owned(), input, notes }
    }

    /// Calls a tool, and returns every failure of the tool as an outcome that the model can read. An error is returned
    /// only if the journal cannot be written.
    pub async fn call(&self, journal: &dyn Journal, cx: &ToolContext, call: &Call) -> Result<Outcome, JournalError> {
        let started = Instant::now();
        let tool = match self.checked(call, cx.caller) {
            Ok(tool) => tool,
            Err(error) => {
                let failure = failure(&error, false, started);
                with_retries(journal, &cx.cancel, || journal.refuse(call, &failure)).await?;
                return Ok(Outcome::Failed(failure));
            }
        };
        if with_retries(journal, &cx.cancel, || journal.begin(call, tool.spec().title)).await?.is_none() {
            return Ok(Outcome::Failed(Failure::interrupted()));
        }
        let (result, was_retried) = attempt_twice(tool, cx, &call.input).await;
        let outcome = match result {
            Ok(done) => Outcome::Done(Arc::new(done.finish(ms(started), cx.timings.take(), was_retried))),
            Err(error) => {
                if let ToolError::Bug(cause) = &error {
                    error!(tool.name = %call.name, call.id = %call.id, "Tool {} failed: {cause:#}", call.name);
                }
                Outcome::Failed(failure(&error, was_retried, started))
            }
        };
        close(journal, call, outcome).await
    }

    fn checked(&self, call: &Call, caller: Caller) -> Result<&dyn AnyTool, ToolError> {
        let Some(tool) = self.tools.get(call.name.as_str()) else {
            let names: Vec<_> = self.tools.keys().copied().collect();
            let error = format!("There is no tool '{}'. The tools are: {}", call.name, names.join(", "));
            return Err(ToolError::BadInput(error));
        };
        check(tool.as_ref(), caller, &call.input)?;
        if untrusted::has_nul(&call.input) {
            return Err(ToolError::BadInput("The input cannot contain the character NUL".into()));
        }
        Ok(tool.as_ref())
    }
}

fn failure(error: &ToolError, was_retried: bool, started: Instant) -> Failure {
    Failure {
        consent_id: if let ToolError::NeedsConsent { id, .. } = error { Some(*id) } else { None },
        retryable: matches!(error, ToolError::Unavailable { retryable: true, .. }),
        error: error.to_string(),
        was_retried,
        duration_ms: ms(started),
        cause: Cause::of(error),
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Minimum number of attempts, even after the time limit: a node that was paused has spent the time without trying.
const MIN_ATTEMPTS: u32 = 3;

/// Records the outcome of a call. The effect may be committed, so a stop does not end the attempts.
pub(crate) async fn close(journal: &dyn Journal, call: &Call, outcome: Outcome) -> Result<Outcome, JournalError> {
    let never = CancellationToken::new();
    let written = with_retries(journal, &never, || journal.finish(call, outcome.clone())).await?;
    Ok(written.unwrap_or(outcome))
}

/// Retries a write to the journal until its time limit. `None` if the turn was stopped before the write succeeded.
pub(crate) async fn with_retries<'a, T>(
    journal: &dyn Journal,
    cancel: &CancellationToken,
    write: impl Fn() -> BoxFuture<'a, Result<T, JournalError>>,
) -> Result<Option<T>, JournalError> {
    let given_up = tokio::time::Instant::now() + journal.patience();
    let (mut pause, mut n_tries) = (FIRST_PAUSE, 0);
    loop {
        let outcome = write().await;
        n_tries += 1;
        let tries_again =
            !journal.patience().is_zero() && (n_tries < MIN_ATTEMPTS || tokio::time::Instant::now() + pause < given_up);
        match outcome {
            Ok(written) => return Ok(Some(written)),
            Err(JournalError::Unwritable(error)) if tries_again => {
                warn!("The journal cannot be written; retrying: {error:#}");
            }
            Err(error) => return Err(error),
        }
        if cancel.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
            return Ok(None);
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A repaired call of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    pub name: String,
    pub input: Value,
    /// For the model only. They are never part of the stored output.
    pub notes: Vec<String>,
}

/// Every input must be a JSON object. Without this check, serde would also read a list as a struct.
fn check(tool: &dyn AnyTool, caller: Caller, input: &Value) -> Result<(), ToolError> {
    let spec = tool.spec();
    let checked = if input.is_object() {
        tool.check(input)
    } else {
        let what = explain::problems(spec, input).join("; ");
        Err(ToolError::BadInput(format!("Invalid input for {}: {what}", spec.name)))
    };
    match (checked, caller) {
        (Err(ToolError::BadInput(error)), Caller::Model) => Err(ToolError::BadInput(explained(spec, input, error))),
        (checked, _) => checked,
    }
}

/// The error for a model: which fields are invalid, and an example of a valid input.
fn explained(spec: &ToolSpec, input: &Value, error: String) -> String {
    let problems = explain::problems(spec, input);
    let error =
        if problems.is_empty() { error } else { format!("Invalid input for {}: {}", spec.name, problems.join("; ")) };
    format!("{error}. Example: {}", explain::example(&spec.input_schema))
}

/// Retries once, after one second, and only after a transient failure.
async fn attempt_twice(tool: &dyn AnyTool, cx: &ToolContext, input: &Value) -> (Result<Reported, ToolError>, bool) {
    let first = attempt(tool, cx, input).await;
    let Err(ToolError::Unavailable { message, .. }) = &first else { return (first, false) };
    warn!(tool.name = tool.spec().name, "Tool {} will be retried: {message}", tool.spec().name);
    tokio::select! {
        () = tokio::time::sleep(RETRY_AFTER) => (attempt(tool, cx, input).await, true),
        () = cx.cancel.cancelled() => (Err(interrupted()), false),
    }
}

async fn attempt(tool: &dyn AnyTool, cx: &ToolContext, input: &Value) -> Result<Reported, ToolError> {
    let work = tokio::time::timeout(tool.deadline(), tool.call(cx, input));
    tokio::pin!(work);
    let result = tokio::select! {
        biased;
        result = &mut work => result,
        () = cx.cancel.cancelled(), if tool.spec().effect == Effect::Reads => return Err(interrupted()),
        () = stopped_too_long(cx) => return Err(interrupted()),
    };
    result.unwrap_or_else(|_| Err(tool.late()))
}

async fn stopped_too_long(cx: &ToolContext) {
    cx.cancel.cancelled().await;
    tokio::time::sleep(WRITE_GRACE).await;
}

fn interrupted() -> ToolError {
    ToolError::Refused("Interrupted".into())
}

fn ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// An output without its durations.
struct Reported {
    summary: String,
    count: usize,
    output: Value,
}

impl Reported {
    fn finish(mut self, duration_ms: u64, timings: BTreeMap<String, u64>, was_retried: bool) -> Done {
        if let Value::Object(fields) = &mut self.output {
            fields.insert("summary".into(), json!(self.summary));
            fields.insert("durationMs".into(), json!(duration_ms));
        }
        Done { summary: self.summary, count: self.count, duration_ms, output: self.output, timings, was_retried }
    }
}

/// A type-erased tool.
trait AnyTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;
    fn is_foreign(&self) -> bool {
        false
    }
    fn deadline(&self) -> Duration;
    /// The error of an attempt that exceeds the deadline.
    fn late(&self) -> ToolError;
    fn check(&self, input: &Value) -> Result<(), ToolError>;
    fn call<'a>(&'a self, cx: &'a ToolContext, input: &'a Value) -> BoxFuture<'a, Result<Reported, ToolError>>;
    fn for_model(&self, output: &Value) -> Value;
}

struct Typed<T> {
    spec: ToolSpec,
    tool: T,
}

impl<T: Tool> Typed<T> {
    fn parse(input: &Value) -> Result<T::Input, ToolError> {
        T::Input::deserialize(input)
            .map_err(|error| ToolError::BadInput(format!("Invalid input for {}: {error}", T::NAME)))
    }
}

impl<T: Tool> AnyTool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn deadline(&self) -> Duration {
        T::DEADLINE
    }

    fn late(&self) -> ToolError {
        T::late()
    }

    fn check(&self, input: &Value) -> Result<(), ToolError> {
        Self::parse(input).map(drop)
    }

    fn call<'a>(&'a self, cx: &'a ToolContext, input: &'a Value) -> BoxFuture<'a, Result<Reported, ToolError>> {
        Box::pin(async move {
            let output = self.tool.call(cx, Self::parse(input)?).await?;
            let (summary, count) = (output.summary(), output.count());
            let output = serde_json::to_value(&output).map_err(anyhow::Error::from)?;
            Ok(Reported { summary: untrusted::without_nul(&summary), count, output: untrusted::storable(output) })
        })
    }

    fn for_model(&self, output: &Value) -> Value {
        T::for_model(output)
    }
}

impl AnyTool for Foreign {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    fn is_foreign(&self) -> bool {
        true
    }

    fn deadline(&self) -> Duration {
        self.0.deadline()
    }

    fn late(&self) -> ToolError {
        let message = format!("{} took longer than {} s", self.spec().title, self.deadline().as_secs());
        ToolError::Unavailable { message, retryable: true }
    }

    /// The server that offers the tool validates its input.
    fn check(&self, _: &Value) -> Result<(), ToolError> {
        Ok(())
    }

    fn call<'a>(&'a self, cx: &'a ToolContext, input: &'a Value) -> BoxFuture<'a, Result<Reported, ToolError>> {
        Box::pin(async move {
            let ForeignOutput { summary, count, output } = self.0.call(cx, input).await?;
            Ok(Reported { summary: untrusted::without_nul(&summary), count, output: untrusted::storable(output) })
        })
    }

    fn for_model(&self, output: &Value) -> Value {
        output.clone()
    }
}

fn spec<T: Tool>() -> ToolSpec {
    let mut input_schema = schema_of::<T::Input>();
    let description = input_schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Value::Object(fields) = &mut input_schema {
        fields.remove("description");
        fields.remove("title");
    }
    ToolSpec {
        name: T::NAME,
        title: T::TITLE,
        description,
        effect: T::EFFECT,
        input_schema,
        output_schema: with_report_fields(schema_of::<T::Output>()),
    }
}

fn schema_of<T: JsonSchema>() -> Value {
    // Subschemas are inlined, because several model providers do not support `$ref`.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    // `uint32` and similar formats are specific to Rust; validators of other languages warn about them.
    let settings = settings.with_transform(RecursiveTransform(|schema: &mut Schema| {
        if schema.get("format").and_then(Value::as_str).is_some_and(|format| format.contains("int")) {
            schema.remove("format");
        }
    }));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn with_report_fields(mut schema: Value) -> Value {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("summary".into(), json!({"type": "string"}));
        properties.insert("durationMs".into(), json!({"type": "integer", "minimum": 0}));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.extend([json!("summary"), json!("durationMs")]);
    }
    schema
}

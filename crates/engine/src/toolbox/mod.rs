//! The toolbox: all tools by name. A call is validated, written to the journal, run with a deadline, retried at most once,
//! and its outcome is recorded.

mod any_tool;
mod attempt;
mod check;
mod journal;
mod outcome;
mod spec;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Instant,
};

use schemars::SchemaGenerator;
use serde_json::Value;
use tracing::error;

pub(crate) use self::journal::{close, with_retries};
use self::{
    any_tool::{AnyTool, Typed},
    attempt::attempt_twice,
    check::check,
};
pub use self::{
    journal::{Journal, JournalError, NoJournal},
    outcome::{Call, Cause, Done, Failure, Outcome},
};
use crate::{
    Block, Effect, Tool, ToolContext, ToolError, ToolSpec,
    external::{External, ExternalTool},
    repair::{Repaired, repair, tool_named},
    tool::Caller,
    untrusted,
};

/// The name of a tool that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool '{name}'; the tools are: {}", known.join(", "))]
pub struct UnknownTool {
    pub name: String,
    known: Vec<String>,
}

#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<Cow<'static, str>, Arc<dyn AnyTool>>,
}

/// A repaired call of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    pub name: String,
    pub input: Value,
    /// For the model only. They are never part of the stored output.
    pub notes: Vec<String>,
}

impl Toolbox {
    pub fn with<T: Tool>(mut self, tool: T) -> Self {
        self.tools.insert(T::NAME.into(), Arc::new(Typed::new(tool)));
        self
    }

    /// Adds a tool of another server. It never replaces an existing tool.
    pub fn with_external(mut self, tool: Arc<dyn ExternalTool>) -> Self {
        self.tools.entry(tool.spec().name.clone()).or_insert_with(|| Arc::new(External(tool)));
        self
    }

    /// The tools with these names: the tools of one agent.
    pub fn only(&self, names: &[&str]) -> Result<Self, UnknownTool> {
        let found = names.iter().map(|name| match self.tools.get(*name) {
            Some(tool) => Ok((tool.spec().name.clone(), tool.clone())),
            None => Err(UnknownTool {
                name: (*name).to_owned(),
                known: self.tools.keys().map(ToString::to_string).collect(),
            }),
        });
        Ok(Self { tools: found.collect::<Result<_, _>>()? })
    }

    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }

    /// The schema of each output by the name of its tool, for a document in which types have names: shared types are
    /// `$ref`s, and `generator` gets their definitions. Models and MCP clients get schemas without `$ref`.
    pub fn outputs_with_references(&self, generator: &mut SchemaGenerator) -> BTreeMap<&str, Value> {
        self.tools.iter().map(|(name, tool)| (name.as_ref(), tool.output_with_references(generator))).collect()
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
        self.spec(name).map_or(name, |spec| &spec.title).to_owned()
    }

    /// An answer in the form for models: without reasoning, and with compact tool results, which are identical in later turns
    /// and in the turn that produced them.
    pub fn answer_for_model(&self, content: &[Block]) -> Vec<Block> {
        let mut names = HashMap::new();
        let blocks = content.iter().filter_map(|block| match block {
            Block::ToolUse { id, name, .. } => {
                names.insert(*id, name.as_str());
                Some(block.clone())
            }
            Block::ToolResult { tool_use_id, content, is_error: false } => {
                let name = names.get(tool_use_id).copied().unwrap_or_default();
                let content = self.for_model(name, content).into();
                Some(Block::ToolResult { tool_use_id: *tool_use_id, content, is_error: false })
            }
            Block::ToolResult { tool_use_id, content, is_error: true } => {
                let error = untrusted::clean(content.get("error").and_then(Value::as_str).unwrap_or("failed"));
                let content = Value::String(error).into();
                Some(Block::ToolResult { tool_use_id: *tool_use_id, content, is_error: true })
            }
            Block::Text { .. } => Some(block.clone()),
            Block::Reasoning { .. } => None,
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
        let Some(known) = tool_named(name, self.tools.keys().map(|known| &**known)) else {
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
                let failure = Failure::of(&error, false, ms(started));
                let title = self.title(&call.name);
                with_retries(journal, &cx.cancel, || journal.refuse(call, &title, &failure)).await?;
                return Ok(Outcome::Failed(failure));
            }
        };
        if with_retries(journal, &cx.cancel, || journal.begin(call, &tool.spec().title)).await?.is_none() {
            return Ok(Outcome::Failed(Failure::interrupted()));
        }
        let (result, was_retried) = attempt_twice(tool, cx, &call.input).await;
        let outcome = match result {
            Ok(done) => Outcome::Done(Arc::new(done.finish(ms(started), cx.timings.take(), was_retried))),
            Err(error) => {
                if let ToolError::Bug(cause) = &error {
                    error!(tool.name = %call.name, call.id = %call.id, "Tool {} failed: {cause:#}", call.name);
                }
                Outcome::Failed(Failure::of(&error, was_retried, ms(started)))
            }
        };
        close(journal, call, outcome).await
    }

    fn checked(&self, call: &Call, caller: Caller) -> Result<&dyn AnyTool, ToolError> {
        let Some(tool) = self.tools.get(call.name.as_str()) else {
            let names: Vec<_> = self.tools.keys().map(ToString::to_string).collect();
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

fn ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

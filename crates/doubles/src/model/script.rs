//! The script of a model double: a list of steps, one for each request.
//!
//! As a file: `[{"text": "…"}, {"calls": [{"name": "…", "arguments": {…}}]}, {"fault": "overflow"}]`.

use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<Call>,
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    pub arguments: Value,
}

/// How a server differs from the vendor, or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Answers a stream request with one JSON body.
    Whole,
    NoUsage,
    /// Sends neither a finish reason nor `[DONE]`.
    Unmarked,
    NoDone,
    NoFinishReason,
    /// Content as a list of parts.
    Parts,
    /// `message` in place of `delta`.
    Message,
    /// The stream breaks off in the middle of the text.
    Cut,
    /// The overflow error is a frame of the stream.
    OverflowInStream,
    Overflow,
    NoTools,
    NoStream,
    NoStreamOptions,
    NoSystem,
    NoModel,
    Unauthorized,
}

impl Step {
    pub fn says(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    pub fn calls(name: &str, arguments: Value) -> Self {
        Self { calls: vec![Call { name: name.to_owned(), arguments }], ..Self::default() }
    }

    pub fn thinking(mut self, reasoning: &str) -> Self {
        self.reasoning = reasoning.to_owned();
        self
    }

    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    pub(super) fn n_chars(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.to_string().chars().count());
        self.reasoning.chars().count() + self.text.chars().count() + calls.sum::<usize>()
    }
}

/// Parses a script from its JSON text.
pub fn parse_script(text: &str) -> anyhow::Result<Vec<Step>> {
    Ok(serde_json::from_str(text)?)
}

//! The script of a model double: a list of steps, one for each request, or scenarios that are chosen by the question.
//!
//! As a file: `[{"text": "…"}, {"calls": [{"name": "…", "arguments": {…}}]}, {"fault": "overflow"}]`, or
//! `{"scenarios": [{"when": ["rain"], "steps": […]}]}`.

use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    pub reasoning: String,
    /// In a scenario, `$questions` and `$answers` are how many of each the request contains.
    pub text: String,
    pub calls: Vec<Call>,
    pub fault: Option<Fault>,
    /// Milliseconds between two frames; 0: the whole reply at once.
    #[serde(rename = "paceMs")]
    pub pace_ms: f64,
    /// A member of the tool results since the question. `$1` in the text and in the arguments is its first value;
    /// a list `[{"$each": …}]` in the arguments has one item for each value.
    pub find: Option<String>,
}

/// The replies to one kind of question, one step for each request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// For people who read the script.
    #[serde(default)]
    pub name: String,
    /// The scenario is played if the question contains one of these texts, in any case. Without any: always.
    #[serde(default)]
    pub when: Vec<String>,
    /// Number of requests whose stream breaks off before the scenario is played.
    #[serde(default)]
    pub breaks: u32,
    pub steps: Vec<Step>,
}

/// A script as a file contains it.
#[derive(Clone, Debug)]
pub enum Script {
    Steps(Vec<Step>),
    Scenarios(Vec<Scenario>),
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
    /// A stream with the text and the calls of the step ends with an error: the server refuses to continue.
    ErrorInStream,
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
pub fn parse_script(text: &str) -> anyhow::Result<Script> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Scenarios {
        scenarios: Vec<Scenario>,
    }
    if text.trim_start().starts_with('{') {
        return Ok(Script::Scenarios(serde_json::from_str::<Scenarios>(text)?.scenarios));
    }
    Ok(Script::Steps(serde_json::from_str(text)?))
}

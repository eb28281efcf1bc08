//! The script of a double: one format for every double and every test. README.md describes it with examples.
//!
//! A list of steps, one for each request: `[{"text": "…"}, {"fault": {"status": 529}}]`. Or scenarios, chosen by the
//! request: `{"scenarios": [{"when": ["rain"], "steps": […]}]}`.

use std::path::Path;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::Value;

/// What a double does with one request. The members from `text` on are for model servers only.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Step {
    pub fault: Option<Fault>,
    /// The header of this name, for a fault with a status: seconds or a date.
    pub retry_after: Option<String>,
    /// Milliseconds before the response begins.
    pub delay_ms: u64,
    /// This body in place of the real one, with status 200 or the status of the fault.
    pub body: Option<String>,
    /// In a list: for how many requests. Without it: one.
    pub times: Option<usize>,

    pub reasoning: String,
    /// `$message` is the user's message, `$rest` the message without its first word. `$questions` and `$answers` are how
    /// many of each the request contains. All of them in a scenario only.
    pub text: String,
    /// The text is sent this many times.
    pub repeat: Option<usize>,
    /// `$message` and `$rest` are replaced in the arguments too.
    pub calls: Vec<Call>,
    /// Milliseconds before each piece of the text; 0: the whole reply at once.
    pub pace_ms: f64,
    /// Pieces are due at multiples of the pace, so that late timers do not add up. Without it, the pace begins when the
    /// piece before was sent.
    pub steady: bool,
    /// Milliseconds of silence after each piece of the text. A reply that is continued has no silence.
    pub silence_ms: u64,
    /// How the text is divided. Several ways are taken in turn, one for each request. Without any: words if there is a
    /// pace, else pieces of four letters.
    pub pieces: Vec<Pieces>,
    /// The reported output tokens; without it they are counted.
    pub output_tokens: Option<usize>,
    /// The calls of this step are not the model's: their results are in the request that the model gets, because the
    /// user decided. A model that is asked for this step all the same sends the text and calls nothing.
    pub given: bool,
    /// A member of the tool results since the question. `$1` in the text and in the arguments is its first value;
    /// a list `[{"$each": …}]` in the arguments has one item for each value.
    pub find: Option<String>,
}

/// One way to divide a text.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Pieces {
    /// Letters in a piece; without it a piece is a word and the space after it.
    pub letters: Option<usize>,
    /// In place of the pace of the step.
    pub pace_ms: Option<f64>,
}

/// The replies to one kind of request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// For people who read the script.
    #[serde(default)]
    pub name: String,
    /// The scenario is played if the question (of another service than a model: path and query) contains one of these
    /// texts, in any case. Without `when` and `begins`: always.
    #[serde(default)]
    pub when: Vec<String>,
    /// The scenario is played if this is the first word of the question.
    #[serde(default)]
    pub begins: Vec<String>,
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

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    pub arguments: Value,
}

/// How a server fails, or how a model server differs from the vendor's. Every double plays the first three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// An error with this status, in the format of the service.
    Status(u16),
    /// Accepts the request and never answers.
    Silent,
    /// The connection breaks off in the middle of the response.
    Break,

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
    /// The stream ends in the middle of the text.
    Cut,
    /// The stream ends in the middle of the arguments of the first call. A reply without calls is complete.
    CutInCall,
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
    /// The error repeats the key, as some providers do.
    Unauthorized,
}

impl Step {
    pub fn says(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    pub fn calls(name: &str, arguments: Value) -> Self {
        Self::default().and_calls(name, arguments)
    }

    pub fn fails(fault: Fault) -> Self {
        Self::default().fault(fault)
    }

    pub fn and_calls(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(Call { name: name.to_owned(), arguments });
        self
    }

    pub fn thinking(mut self, reasoning: &str) -> Self {
        self.reasoning = reasoning.to_owned();
        self
    }

    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    pub(crate) fn n_chars(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.to_string().chars().count());
        self.reasoning.chars().count() + self.text.chars().count() + calls.sum::<usize>()
    }

    /// Whether a service that is not a model server can play it.
    fn is_for_services(&self) -> bool {
        let of_services = Self {
            fault: self.fault.filter(|fault| matches!(fault, Fault::Status(_) | Fault::Silent | Fault::Break)),
            retry_after: self.retry_after.clone(),
            delay_ms: self.delay_ms,
            body: self.body.clone(),
            times: self.times,
            ..Self::default()
        };
        *self == of_services
    }
}

impl Scenario {
    /// A scenario for every request that no earlier scenario is for.
    pub fn always(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), ..Self::default() }
    }

    /// A scenario for the questions that begin with this word.
    pub fn begins(word: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        Self { begins: vec![word.to_owned()], ..Self::always(steps) }
    }
}

impl Script {
    /// Parses a script from its JSON text.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Scenarios {
            scenarios: Vec<Scenario>,
        }
        if text.trim_start().starts_with('{') {
            return Ok(Self::Scenarios(serde_json::from_str::<Scenarios>(text)?.scenarios));
        }
        Ok(Self::Steps(serde_json::from_str(text)?))
    }

    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not a script", file.display()))
    }

    /// Fails if a scenario counts requests: a model server finds its position from the request alone.
    pub fn for_model(self) -> anyhow::Result<Self> {
        if let Self::Scenarios(scenarios) = &self {
            let mut steps = scenarios.iter().flat_map(|scenario| &scenario.steps);
            ensure!(steps.all(|step| step.times.is_none()), "a model server plays 'times' in a list of steps only");
        }
        Ok(self)
    }

    /// Fails if the script contains something that only a model server can play.
    pub fn for_service(self) -> anyhow::Result<Self> {
        let (steps, begins): (Vec<&Step>, bool) = match &self {
            Self::Steps(steps) => (steps.iter().collect(), false),
            Self::Scenarios(scenarios) => (
                scenarios.iter().flat_map(|scenario| &scenario.steps).collect(),
                scenarios.iter().any(|scenario| scenario.breaks > 0 || !scenario.begins.is_empty()),
            ),
        };
        let own = "only a model server plays";
        ensure!(!begins, "{own} 'begins' and 'breaks'");
        if let Some(step) = steps.into_iter().find(|step| !step.is_for_services()) {
            anyhow::bail!("{own} this step: {step:?}");
        }
        Ok(self)
    }
}

/// Each step as often as its `times` says.
pub(crate) fn repeated(steps: impl IntoIterator<Item = Step>) -> impl Iterator<Item = Step> {
    steps.into_iter().flat_map(|step| {
        let times = step.times.unwrap_or(1);
        std::iter::repeat_n(step, times)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_a_list_of_steps_or_of_scenarios() {
        let Ok(Script::Steps(steps)) = Script::parse(r#"[{}, {"fault": {"status": 503}, "times": 2}]"#) else {
            panic!("a list")
        };
        let faults: Vec<_> = repeated(steps).map(|step| step.fault).collect();
        assert_eq!(faults, [None, Some(Fault::Status(503)), Some(Fault::Status(503))]);
        let scenarios = Script::parse(r#" {"scenarios": [{"when": ["x"], "steps": [{"fault": "silent"}]}]}"#);
        assert!(matches!(scenarios, Ok(Script::Scenarios(all)) if all[0].steps[0].fault == Some(Fault::Silent)));
        assert!(Script::parse(r#"[{"txet": "a typing error"}]"#).is_err());
    }

    #[test]
    fn a_service_refuses_the_script_of_a_model() {
        let is_fit = |text: &str| Script::parse(text).unwrap().for_service().is_ok();
        assert!(is_fit(r#"[{"fault": "break", "delayMs": 3}, {"body": "<html>"}, {"retryAfter": "2", "times": 9}]"#));
        assert!(is_fit(r#"{"scenarios": [{"when": ["/search"], "steps": [{"fault": {"status": 500}}]}]}"#));
        assert!(!is_fit(r#"[{"text": "a reply"}]"#));
        assert!(!is_fit(r#"[{"fault": "no_tools"}]"#));
        assert!(Script::parse(r#"{"scenarios": [{"steps": [{"times": 2}]}]}"#).unwrap().for_model().is_err());
        assert!(!is_fit(r#"{"scenarios": [{"begins": ["find"], "steps": []}]}"#));
    }
}

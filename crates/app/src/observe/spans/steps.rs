//! The steps of a turn, from its log: the replies of the model and their tool calls.

use std::sync::Arc;

use engine::{CallId, Event, Kind, Outcome, Usage};
use serde_json::{Value, json};

/// One reply of the model and its tool calls.
pub(super) struct TracedStep<'a> {
    pub(super) number: u32,
    pub(super) model: &'a str,
    pub(super) started_ms: i64,
    pub(super) first_ms: Option<i64>,
    /// When the model finished its reply: its calls start after that.
    pub(super) replied_ms: i64,
    pub(super) text: String,
    pub(super) calls: Vec<StepCall<'a>>,
    pub(super) usage: Option<Usage>,
}

pub(super) struct StepCall<'a> {
    pub(super) id: CallId,
    pub(super) name: &'a str,
    pub(super) input: &'a Value,
    pub(super) started_ms: i64,
    pub(super) ended: Option<(i64, Outcome)>,
}

pub(super) fn steps(events: &[Arc<Event>]) -> Vec<TracedStep<'_>> {
    let mut steps: Vec<TracedStep<'_>> = Vec::new();
    for event in events {
        if let Kind::StepStarted { step, model } = &event.kind {
            steps.push(TracedStep::begin(*step, model, event.at_ms));
        } else if let Some(step) = steps.last_mut() {
            step.take(event);
        }
    }
    steps
}

impl<'a> TracedStep<'a> {
    fn begin(number: u32, model: &'a str, at_ms: i64) -> Self {
        Self {
            number,
            model,
            started_ms: at_ms,
            first_ms: None,
            replied_ms: at_ms,
            text: String::new(),
            calls: Vec::new(),
            usage: None,
        }
    }

    fn take(&mut self, event: &'a Event) {
        match &event.kind {
            Kind::TextStarted { .. } | Kind::TextDone { .. } | Kind::Reasoned { .. } => self.replied(event.at_ms),
            Kind::TextDelta { text, .. } => {
                self.replied(event.at_ms);
                self.text.push_str(text);
            }
            Kind::ToolStarted { call, name, input, .. } => {
                self.replied(event.at_ms);
                let (id, started_ms) = (*call, event.at_ms);
                self.calls.push(StepCall { id, name, input: input.as_ref(), started_ms, ended: None });
            }
            Kind::ToolDone { call, done, .. } => self.end_call(*call, event.at_ms, Outcome::Done(done.clone())),
            Kind::ToolFailed { call, failure, .. } => {
                self.end_call(*call, event.at_ms, Outcome::Failed(failure.clone()));
            }
            Kind::StepDone { usage, .. } => {
                self.replied(event.at_ms);
                self.usage = Some(*usage);
            }
            Kind::Started { .. }
            | Kind::Reading { .. }
            | Kind::StepStarted { .. }
            | Kind::Replied { .. }
            | Kind::TakenOver { .. }
            | Kind::Ended { .. }
            | Kind::Failed { .. } => {}
        }
    }

    /// The model sent something, unless its calls are already running.
    fn replied(&mut self, at_ms: i64) {
        if self.calls.is_empty() {
            self.first_ms.get_or_insert(at_ms);
            self.replied_ms = at_ms;
        }
    }

    fn end_call(&mut self, id: CallId, at_ms: i64, outcome: Outcome) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
            call.ended = Some((at_ms, outcome));
        }
    }

    /// The model's reply, in the format that Langfuse shows as a chat.
    pub(super) fn said(&self) -> Value {
        let mut said = json!({"role": "assistant", "content": self.text});
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": call.input.to_string()});
                json!({"id": call.id.to_string(), "type": "function", "function": function})
            });
            said["tool_calls"] = calls.collect();
        }
        said
    }
}

pub(super) fn answer_text(steps: &[TracedStep<'_>]) -> String {
    let texts: Vec<_> = steps.iter().map(|step| step.text.as_str()).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

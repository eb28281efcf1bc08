//! The spans of a turn, from its log: turn → generation for each reply of the model → `tool-<name>` for each call.
//!
//! Ids are derived from the rows: the trace has the id of the turn, and a tool's span id is the end of its call id.
//! So a log line, a row and a span can be matched, and every node produces the same spans for the same turn.

use std::{borrow::Cow, sync::Arc};

use engine::{CallId, Done, Event, Failure, FailureCode, Kind, Outcome, StopReason, Usage};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{EndedCall, EndedTurn, asides::Aside, cut::Cut};

pub(crate) type SpanId = [u8; 8];

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) trace: Uuid,
    pub(crate) id: SpanId,
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: String,
    /// Whether the span waits for another server: a model provider.
    pub(crate) is_client: bool,
    pub(crate) start_ms: i64,
    pub(crate) end_ms: i64,
    /// The error message, if it failed.
    pub(crate) error: Option<String>,
    pub(crate) attributes: Vec<(Cow<'static, str>, Attribute)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute {
    Text(String),
    Number(i64),
    Flag(bool),
    Texts(Vec<String>),
}

/// Whether spans contain the text of users, models and tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Included,
    LeftOut,
}

/// All spans of a turn; the turn's own span is first.
pub(crate) fn of_turn(ended: &EndedTurn, content: Content) -> Vec<Span> {
    let (Some(first), Some(last)) = (ended.events.first(), ended.events.last()) else { return Vec::new() };
    let steps = steps(&ended.events);
    let root_id = span_id(&[ended.turn.0.as_bytes(), b"turn"]);
    let mut root = Span {
        trace: ended.turn.0,
        id: root_id,
        parent: None,
        name: format!("turn-{}", ended.agent),
        is_client: false,
        start_ms: first.at_ms,
        end_ms: last.at_ms,
        error: None,
        attributes: Vec::new(),
    };
    root.set("langfuse.observation.type", "agent");
    root.set("gen_ai.operation.name", "invoke_agent");
    root.set("gen_ai.agent.name", ended.agent.as_str());
    root.attributes.push(("langfuse.internal.is_app_root".into(), Attribute::Flag(true)));
    root.metadata("steps", steps.len());
    root.metadata("events", ended.events.len());
    let n_takeovers = ended.events.iter().filter(|event| matches!(event.kind, Kind::TakenOver { .. })).count();
    if n_takeovers > 0 {
        root.metadata("takeovers", n_takeovers);
    }
    root.tell_end(&last.kind);
    root.input(content, || ended.question.clone());
    root.output(content, || answer_text(&steps));
    let mut spans = vec![root];
    for (n, step) in steps.iter().enumerate() {
        let is_last = n + 1 == steps.len();
        let generation = generation(ended, root_id, &steps[..n], step, is_last.then_some(&last.kind), content);
        let parent = generation.id;
        spans.push(generation);
        for call in &step.calls {
            spans.push(call.span(ended.turn.0, Some(parent), last.at_ms, content));
            let own = ended.asides.iter().filter(|aside| aside.errand.call == Some(call.id));
            spans.extend(own.map(|aside| of_aside(aside, ended.turn.0, Some(tail(call.id.0)), content)));
        }
    }
    for span in &mut spans {
        span.belongs_to(ended);
    }
    spans
}

/// A call outside a turn is a trace of its own.
pub(crate) fn of_call(ended: &EndedCall, content: Content) -> Vec<Span> {
    let call = StepCall {
        id: ended.call.id,
        name: &ended.call.name,
        input: &ended.call.input,
        started_ms: ended.started_ms,
        ended: Some((ended.ended_ms, ended.outcome.clone())),
    };
    let mut span = call.span(ended.call.id.0, None, ended.ended_ms, content);
    span.set("user.id", ended.call.owner.as_str());
    span.set("langfuse.trace.name", span.name.clone());
    span.attributes.push(("langfuse.trace.tags".into(), Attribute::Texts(vec!["direct".into()])));
    let (trace, parent) = (span.trace, span.id);
    let mut spans = vec![span];
    spans.extend(ended.asides.iter().map(|aside| of_aside(aside, trace, Some(parent), content)));
    for span in &mut spans[1..] {
        span.set("user.id", ended.call.owner.as_str());
    }
    spans
}

/// A reply that no tool call waited for is a trace of its own.
pub(crate) fn of_lone_aside(aside: &Aside, content: Content) -> Span {
    let mut span = of_aside(aside, Uuid::new_v4(), None, content);
    span.set("user.id", aside.errand.owner.as_str());
    span.set("langfuse.trace.name", aside.errand.name);
    span.attributes.push(("langfuse.trace.tags".into(), Attribute::Texts(vec!["background".into()])));
    span
}

fn of_aside(aside: &Aside, trace: Uuid, parent: Option<SpanId>, content: Content) -> Span {
    let mut span = Span {
        trace,
        id: tail(Uuid::new_v4()),
        parent,
        name: aside.errand.name.into(),
        is_client: true,
        start_ms: aside.started_ms,
        end_ms: aside.ended_ms,
        error: None,
        attributes: Vec::new(),
    };
    span.tell_model(&aside.model, aside.first_ms);
    span.tell_usage(&aside.usage);
    if let Some(error) = &aside.error {
        span.fail("model_error", error.clone());
    }
    if let Some(input) = &aside.input {
        span.content_cut("input", content, || input.clone());
    }
    span.output(content, || aside.output.clone());
    span
}

/// One reply of the model and its tool calls.
struct Step<'a> {
    number: u32,
    model: &'a str,
    started_ms: i64,
    first_ms: Option<i64>,
    /// When the model finished its reply: its calls start after that.
    replied_ms: i64,
    text: String,
    calls: Vec<StepCall<'a>>,
    usage: Option<Usage>,
}

struct StepCall<'a> {
    id: CallId,
    name: &'a str,
    input: &'a Value,
    started_ms: i64,
    ended: Option<(i64, Outcome)>,
}

fn steps(events: &[Arc<Event>]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for event in events {
        if let Kind::StepStarted { step, model } = &event.kind {
            steps.push(Step::begin(*step, model, event.at_ms));
        } else if let Some(step) = steps.last_mut() {
            step.take(event);
        }
    }
    steps
}

impl<'a> Step<'a> {
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
    fn said(&self) -> Value {
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

/// What a model was asked within this turn, where what it was sent is not known: another node sent it and died.
fn asked(ended: &EndedTurn, before: &[Step<'_>]) -> Value {
    let mut messages = vec![json!({"role": "user", "content": ended.question})];
    for step in before {
        messages.push(step.said());
        messages.extend(step.calls.iter().map(|call| {
            let content = match &call.ended {
                Some((_, Outcome::Done(done))) => json!(done.summary),
                Some((_, Outcome::Failed(failure))) => json!(failure.error),
                None => Value::Null,
            };
            json!({"role": "tool", "tool_call_id": call.id.to_string(), "content": content})
        }));
    }
    Value::Array(messages)
}

fn generation(
    ended: &EndedTurn,
    parent: SpanId,
    before: &[Step<'_>],
    step: &Step<'_>,
    closing: Option<&Kind>,
    content: Content,
) -> Span {
    let mut span = Span {
        trace: ended.turn.0,
        id: span_id(&[ended.turn.0.as_bytes(), &step.number.to_be_bytes()]),
        parent: Some(parent),
        name: "generation".into(),
        is_client: true,
        start_ms: step.started_ms,
        end_ms: step.replied_ms,
        error: None,
        attributes: Vec::new(),
    };
    span.tell_model(step.model, step.first_ms);
    span.metadata("step", step.number);
    if let Some(usage) = step.usage.filter(|usage| *usage != Usage::default()) {
        span.tell_usage(&usage);
    }
    if let Some(Kind::Failed { code, message, .. }) = closing
        && step.calls.is_empty()
    {
        // The turn failed while it waited for the model.
        span.fail(code_of(*code), message.clone());
    }
    match ended.sent.iter().find(|sent| sent.step == step.number) {
        Some(sent) => span.content_cut("input", content, || sent.input.clone()),
        None => {
            span.metadata("inputIs", "reconstructed from the log");
            span.input(content, || asked(ended, before).to_string());
        }
    }
    span.output(content, || step.said().to_string());
    span
}

impl StepCall<'_> {
    fn span(&self, trace: Uuid, parent: Option<SpanId>, closed_ms: i64, content: Content) -> Span {
        let mut span = Span {
            trace,
            id: tail(self.id.0),
            parent,
            name: format!("tool-{}", self.name),
            is_client: false,
            start_ms: self.started_ms,
            end_ms: self.ended.as_ref().map_or(closed_ms, |(at_ms, _)| *at_ms),
            error: None,
            attributes: Vec::new(),
        };
        span.set("langfuse.observation.type", "tool");
        span.set("gen_ai.operation.name", "execute_tool");
        span.set("gen_ai.tool.call.id", self.id.to_string());
        if let Some(codes) = self.input.get("isrcs").and_then(Value::as_array) {
            span.metadata("isrcCount", codes.len());
        }
        span.input(content, || self.input.to_string());
        match &self.ended {
            Some((_, Outcome::Done(done))) => span.tell_done(done, content),
            Some((_, Outcome::Failed(failure))) => span.tell_failure(failure, content),
            None => span.fail("INTERRUPTED", "Interrupted".into()),
        }
        span
    }
}

impl Span {
    fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        self.attributes.push((name.into(), Attribute::Text(value.into())));
    }

    fn number(&mut self, name: &'static str, value: u64) {
        self.attributes.push((name.into(), Attribute::Number(i64::try_from(value).unwrap_or(i64::MAX))));
    }

    /// As text, the way Langfuse's own library sends it.
    fn metadata(&mut self, name: &str, value: impl ToString) {
        self.set(format!("langfuse.observation.metadata.{name}"), value.to_string());
    }

    fn input(&mut self, content: Content, text: impl FnOnce() -> String) {
        self.content_cut("input", content, || Cut::of(text()));
    }

    fn output(&mut self, content: Content, text: impl FnOnce() -> String) {
        self.content_cut("output", content, || Cut::of(text()));
    }

    /// What is too long is cut; how long it was and its hash are attributes too.
    fn content_cut(&mut self, name: &str, content: Content, text: impl FnOnce() -> Cut) {
        if content == Content::LeftOut {
            return;
        }
        let Cut { text, whole } = text();
        self.set(format!("langfuse.observation.{name}"), text);
        if let Some(whole) = whole {
            self.metadata(&format!("{name}Bytes"), whole.n_bytes);
            self.metadata(&format!("{name}Sha256"), whole.sha256);
        }
    }

    fn tell_model(&mut self, id: &str, first_ms: Option<i64>) {
        let (provider, model) = id.split_once(':').unwrap_or((id, id));
        self.set("langfuse.observation.type", "generation");
        self.set("gen_ai.operation.name", "chat");
        self.set("gen_ai.provider.name", provider);
        self.set("gen_ai.request.model", model);
        self.set("langfuse.observation.model.name", model);
        if let Some(first_ms) = first_ms {
            // Langfuse reads it as JSON.
            self.set("langfuse.observation.completion_start_time", json!(iso(first_ms)).to_string());
        }
    }

    fn fail(&mut self, kind: &str, message: String) {
        self.set("error.type", kind);
        self.set("langfuse.observation.level", "ERROR");
        self.set("langfuse.observation.status_message", message.clone());
        self.error = Some(message);
    }

    fn tell_end(&mut self, closing: &Kind) {
        let end = match closing {
            Kind::Failed { code, message, .. } => {
                self.fail(code_of(*code), message.clone());
                code_of(*code)
            }
            Kind::Ended { stop: StopReason::Stopped, .. } => {
                self.set("langfuse.observation.level", "WARNING");
                self.set("langfuse.observation.status_message", "Stopped by the user");
                "stopped"
            }
            Kind::Ended { stop: StopReason::MaxSteps, .. } => "max_steps",
            _ => "complete",
        };
        self.metadata("end", end);
    }

    /// Langfuse counts cached tokens separately; our input count includes them.
    fn tell_usage(&mut self, usage: &Usage) {
        let fresh = usage.input_tokens.saturating_sub(usage.cache_read_tokens + usage.cache_write_tokens);
        let details = json!({
            "input": fresh,
            "output": usage.output_tokens,
            "cache_read_input_tokens": usage.cache_read_tokens,
            "cache_creation_input_tokens": usage.cache_write_tokens,
        });
        self.set("langfuse.observation.usage_details", details.to_string());
        self.number("gen_ai.usage.input_tokens", usage.input_tokens);
        self.number("gen_ai.usage.output_tokens", usage.output_tokens);
    }

    fn tell_done(&mut self, done: &Done, content: Content) {
        self.output(content, || done.output.to_string());
        self.metadata("resultCount", done.count);
        self.tell_attempts(done.duration_ms, done.was_retried);
        for (name, ms) in &done.timings {
            self.metadata(name, ms);
        }
        for (name, list) in [("foundCount", "found"), ("notFoundCount", "notFound")] {
            if let Some(codes) = done.output.get(list).and_then(Value::as_array) {
                self.metadata(name, codes.len());
            }
        }
        if let (Some(invalid), Content::Included) = (done.output.get("invalid"), content) {
            let codes: Vec<_> = invalid.as_array().into_iter().flatten().map(|one| one["isrc"].clone()).collect();
            self.metadata("invalidIsrcs", Value::Array(codes));
        }
    }

    /// An error may quote user input, so it counts as content.
    fn tell_failure(&mut self, failure: &Failure, content: Content) {
        let message = if content == Content::Included { failure.error.clone() } else { "The tool failed".into() };
        self.fail("tool_error", message);
        self.metadata("retryable", failure.retryable);
        self.tell_attempts(failure.duration_ms, failure.was_retried);
    }

    fn tell_attempts(&mut self, duration_ms: u64, was_retried: bool) {
        self.metadata("durationMs", duration_ms);
        self.metadata("wasRetried", was_retried);
    }

    /// User, session and agent: on every span, because collectors filter spans individually.
    fn belongs_to(&mut self, ended: &EndedTurn) {
        self.set("session.id", ended.conversation.to_string());
        self.set("user.id", ended.owner.as_str());
        self.set("langfuse.trace.name", format!("turn-{}", ended.agent));
        self.attributes.push(("langfuse.trace.tags".into(), Attribute::Texts(vec![ended.agent.clone()])));
        self.set("gen_ai.conversation.id", ended.conversation.to_string());
    }
}

fn answer_text(steps: &[Step<'_>]) -> String {
    let texts: Vec<_> = steps.iter().map(|step| step.text.as_str()).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

pub(super) fn code_of(code: FailureCode) -> &'static str {
    match code {
        FailureCode::AiServiceUnavailable => "AI_SERVICE_UNAVAILABLE",
        FailureCode::DatabaseError => "DATABASE_ERROR",
        FailureCode::ValidationError => "VALIDATION_ERROR",
        FailureCode::RateLimited => "RATE_LIMITED",
        FailureCode::Timeout => "TIMEOUT",
        FailureCode::Interrupted => "INTERRUPTED",
        FailureCode::InternalError => "INTERNAL_ERROR",
    }
}

fn span_id(parts: &[&[u8]]) -> SpanId {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    let hash: [u8; 32] = hash.finalize().into();
    first_eight(&hash)
}

/// The random half of an id.
fn tail(id: Uuid) -> SpanId {
    first_eight(&id.as_bytes()[8..])
}

fn first_eight(bytes: &[u8]) -> SpanId {
    let mut id = SpanId::default();
    id.copy_from_slice(&bytes[..8]);
    id
}

fn iso(at_ms: i64) -> String {
    let at = chrono::DateTime::from_timestamp_millis(at_ms).unwrap_or_default();
    at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

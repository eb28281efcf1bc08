//! The spans of a turn, from its log: turn → generation for each reply of the model → `tool-<name>` for each call.
//!
//! Ids are derived from the rows: the trace has the id of the turn, and a tool's span id is the end of its call id.
//! So a log line, a row and a span can be matched, and every node produces the same spans for the same turn.

mod span;
mod steps;

use engine::{Kind, Outcome, Usage};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

pub(crate) use self::span::{Attribute, Span, SpanId, code_of};
use self::steps::{StepCall, TracedStep, answer_text, steps};
use super::{EndedCall, EndedTurn, background_calls::BackgroundCall};
use crate::config::Content;

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
            let own = ended.background_calls.iter().filter(|background| background.cause.call == Some(call.id));
            spans.extend(
                own.map(|background| of_background_call(background, ended.turn.0, Some(tail(call.id.0)), content)),
            );
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
    spans.extend(
        ended.background_calls.iter().map(|background| of_background_call(background, trace, Some(parent), content)),
    );
    for span in &mut spans[1..] {
        span.set("user.id", ended.call.owner.as_str());
    }
    spans
}

/// A reply that no tool call waited for is a trace of its own.
pub(crate) fn of_lone_background_call(background: &BackgroundCall, content: Content) -> Span {
    let mut span = of_background_call(background, Uuid::new_v4(), None, content);
    span.set("user.id", background.cause.owner.as_str());
    span.set("langfuse.trace.name", background.cause.name);
    span.attributes.push(("langfuse.trace.tags".into(), Attribute::Texts(vec!["background".into()])));
    span
}

fn of_background_call(background: &BackgroundCall, trace: Uuid, parent: Option<SpanId>, content: Content) -> Span {
    let mut span = Span {
        trace,
        id: tail(Uuid::new_v4()),
        parent,
        name: background.cause.name.into(),
        is_client: true,
        start_ms: background.started_ms,
        end_ms: background.ended_ms,
        error: None,
        attributes: Vec::new(),
    };
    span.tell_model(&background.model, background.first_ms);
    span.tell_usage(&background.usage);
    if let Some(error) = &background.error {
        span.fail("model_error", error.clone());
    }
    if let Some(input) = &background.input {
        span.content_cut("input", content, || input.clone());
    }
    span.output(content, || background.output.clone());
    span
}

fn generation(
    ended: &EndedTurn,
    parent: SpanId,
    before: &[TracedStep<'_>],
    step: &TracedStep<'_>,
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

/// What a model was asked within this turn, where what it was sent is not known: another node sent it and died.
fn asked(ended: &EndedTurn, before: &[TracedStep<'_>]) -> Value {
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

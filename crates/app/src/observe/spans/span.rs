//! One span and its attributes, in the names of Langfuse and of OpenTelemetry.

use std::borrow::Cow;

use engine::{Done, Failure, FailureCode, Kind, StopReason, Usage};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    config::Content,
    observe::{EndedTurn, cut::Cut},
};

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

impl Span {
    pub(super) fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        self.attributes.push((name.into(), Attribute::Text(value.into())));
    }

    pub(super) fn number(&mut self, name: &'static str, value: u64) {
        self.attributes.push((name.into(), Attribute::Number(i64::try_from(value).unwrap_or(i64::MAX))));
    }

    /// As text, the way Langfuse's own library sends it.
    pub(super) fn metadata(&mut self, name: &str, value: impl ToString) {
        self.set(format!("langfuse.observation.metadata.{name}"), value.to_string());
    }

    pub(super) fn input(&mut self, content: Content, text: impl FnOnce() -> String) {
        self.content_cut("input", content, || Cut::of(text()));
    }

    pub(super) fn output(&mut self, content: Content, text: impl FnOnce() -> String) {
        self.content_cut("output", content, || Cut::of(text()));
    }

    /// What is too long is cut; how long it was and its hash are attributes too.
    pub(super) fn content_cut(&mut self, name: &str, content: Content, text: impl FnOnce() -> Cut) {
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

    pub(super) fn tell_model(&mut self, id: &str, first_ms: Option<i64>) {
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

    pub(super) fn fail(&mut self, kind: &str, message: String) {
        self.set("error.type", kind);
        self.set("langfuse.observation.level", "ERROR");
        self.set("langfuse.observation.status_message", message.clone());
        self.error = Some(message);
    }

    pub(super) fn tell_end(&mut self, closing: &Kind) {
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
    pub(super) fn tell_usage(&mut self, usage: &Usage) {
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

    pub(super) fn tell_done(&mut self, done: &Done, content: Content) {
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
    pub(super) fn tell_failure(&mut self, failure: &Failure, content: Content) {
        let message = if content == Content::Included { failure.error.clone() } else { "The tool failed".into() };
        self.fail("tool_error", message);
        self.metadata("retryable", failure.retryable);
        self.tell_attempts(failure.duration_ms, failure.was_retried);
    }

    pub(super) fn tell_attempts(&mut self, duration_ms: u64, was_retried: bool) {
        self.metadata("durationMs", duration_ms);
        self.metadata("wasRetried", was_retried);
    }

    /// User, session and agent: on every span, because collectors filter spans individually.
    pub(super) fn belongs_to(&mut self, ended: &EndedTurn) {
        self.set("session.id", ended.conversation.to_string());
        self.set("user.id", ended.owner.as_str());
        self.set("langfuse.trace.name", format!("turn-{}", ended.agent));
        self.attributes.push(("langfuse.trace.tags".into(), Attribute::Texts(vec![ended.agent.clone()])));
        self.set("gen_ai.conversation.id", ended.conversation.to_string());
    }
}

pub(crate) fn code_of(code: FailureCode) -> &'static str {
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

fn iso(at_ms: i64) -> String {
    let at = chrono::DateTime::from_timestamp_millis(at_ms).unwrap_or_default();
    at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

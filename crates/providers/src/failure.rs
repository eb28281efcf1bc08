//! A failed request to a provider: who can fix it, and whether a retry may help.

use std::time::Duration;

use engine::ModelError;
use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

use super::quirks;

/// The body ended before the reply did.
pub(crate) const STREAM_WAS_CUT: &str = "its stream was cut";

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ModelError,
    pub(crate) retry: Retry,
    /// The HTTP status, if the response was not a stream.
    pub(crate) status: Option<u16>,
    /// The provider's own message.
    pub(crate) said: String,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Retry {
    No,
    /// One retry.
    Once,
    Soon,
    /// The provider named a delay.
    After(Duration),
}

impl Failure {
    pub(crate) fn new(error: ModelError, retry: Retry) -> Self {
        Self { error, retry, status: None, said: String::new() }
    }

    /// The provider could not be reached, or the connection broke.
    pub(crate) fn network(error: reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::new(ModelError::TimedOut, Retry::Soon);
        }
        // The URL is removed from the message: it may contain a password.
        let cause = anyhow::Error::from(error.without_url());
        Self::passing(format!("{cause:#}"))
    }

    /// The provider answered, but the rest of its stream cannot be read. A retry may help.
    pub(crate) fn passing(why: impl Into<String>) -> Self {
        Self::new(ModelError::Unavailable(why.into()), Retry::Soon)
    }

    /// The server is not a model server.
    pub(crate) fn no_server(why: impl Into<String>) -> Self {
        Self::new(ModelError::NotAModelServer(why.into()), Retry::No)
    }

    /// The provider answered with an error status instead of a stream.
    pub(crate) fn status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let complaint = Complaint::in_body(body);
        let why = format!("{} {}", status.as_u16(), complaint.message);
        let said = complaint.message.clone();
        let error = match status.as_u16() {
            // A provider's message about a wrong key quotes parts of the key, so it is not used.
            401 => ModelError::Unauthorized("401 the API key was not accepted".into()),
            403 => ModelError::Unauthorized("403 the API key lacks this permission".into()),
            _ if complaint.overflow.is_some() => complaint.into_overflow(),
            404 if complaint.is_about_the_model() => ModelError::NoSuchModel(why),
            404 | 405 if !complaint.is_an_error => ModelError::NotAModelServer(why),
            _ if complaint.is_ours() => ModelError::Refused(why),
            429 => ModelError::RateLimited(why),
            408 | 409 | 500.. => ModelError::Unavailable(why),
            _ if complaint.is_about_the_model() => ModelError::NoSuchModel(why),
            _ => ModelError::Refused(why),
        };
        let retry = match status.as_u16() {
            _ if !error.is_retryable() => Retry::No,
            429 | 502 | 503 | 504 | 529 => http_client::retry_after(headers).map_or(Retry::Soon, Retry::After),
            _ => Retry::No,
        };
        Self { error, retry, status: Some(status.as_u16()), said }
    }

    /// The provider started a stream and then sent an error in it.
    pub(crate) fn in_stream(error: &Value) -> Self {
        let complaint = Complaint::read(error);
        let why = complaint.message.clone();
        let error = match complaint.code.as_str() {
            _ if complaint.overflow.is_some() => return Self::new(complaint.into_overflow(), Retry::No),
            _ if complaint.is_ours() => return Self::new(ModelError::Refused(why), Retry::No),
            "429" => ModelError::RateLimited(why),
            _ if complaint.kind.contains("rate_limit") => ModelError::RateLimited(why),
            _ if complaint.kind.contains("timeout") => ModelError::TimedOut,
            _ => ModelError::Unavailable(why),
        };
        Self::new(error, Retry::Soon)
    }
}

/// An error message of a provider. Both vendors write `{"error": {"type", "code", "message"}}`; local servers leave
/// out any of these fields.
struct Complaint {
    kind: String,
    code: String,
    message: String,
    /// Whether the body is an error in JSON, as opposed to an HTML page or other content.
    is_an_error: bool,
    /// Set if the prompt was too long; the inner value is the context limit, if the message contains it.
    overflow: Option<Option<u32>>,
}

impl Complaint {
    fn in_body(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(body) => Self::read(body.get("error").unwrap_or(&body)),
            Err(_) => {
                let text = Value::String(String::from_utf8_lossy(body).into_owned());
                Self { is_an_error: false, ..Self::read(&text) }
            }
        }
    }

    fn into_overflow(self) -> ModelError {
        ModelError::ContextOverflow { limit: self.overflow.flatten(), detail: self.message }
    }

    /// The vendor's code, Anthropic's kind, or the message texts of Ollama and vLLM.
    fn is_about_the_model(&self) -> bool {
        let said = self.message.to_lowercase();
        let is_missing = ["not found", "does not exist", "not exist", "no models loaded", "unknown model"];
        matches!(self.code.as_str(), "model_not_found")
            || self.kind == "not_found_error"
            || (said.contains("model") && is_missing.iter().any(|words| said.contains(words)))
    }

    fn read(error: &Value) -> Self {
        let field = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let message = match error {
            Value::String(text) => text.clone(),
            other => match field("message") {
                message if message.is_empty() => other.to_string(),
                message => message,
            },
        };
        let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (kind, code) = (field("type"), field("code"));
        // llama.cpp sends the limit in a field beside the message.
        let named = error.get("n_ctx").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let overflow = quirks::overflow(&kind, &code, &message).map(|limit| named.or(limit));
        Self { kind, code, message, is_an_error: true, overflow }
    }

    /// Whether the operator must act: a wrong key, an unpaid bill or a malformed request do not go away with time.
    fn is_ours(&self) -> bool {
        const OURS: [&str; 9] = [
            "invalid_request",
            "authentication",
            "permission",
            "not_found",
            "billing",
            "insufficient_quota",
            "invalid_api_key",
            "request_too_large",
            "context_length_exceeded",
        ];
        OURS.iter().any(|word| self.kind.starts_with(word) || self.code.starts_with(word))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_inside_a_stream_is_classified_by_who_can_fix_it() {
        let cases = [
            (json!({"type": "overloaded_error", "message": "Overloaded"}), "Unavailable(\"Overloaded\")"),
            (json!({"type": "rate_limit_error", "message": "Slow down"}), "RateLimited(\"Slow down\")"),
            (json!({"type": "timeout_error", "message": "Late"}), "TimedOut"),
            (json!({"type": "billing_error", "message": "No credit"}), "Refused(\"No credit\")"),
            (
                json!({"code": "context_length_exceeded", "message": "Too long"}),
                "ContextOverflow { limit: None, detail: \"Too long\" }",
            ),
            (
                json!({"type": "exceed_context_size_error", "message": "Too long", "n_ctx": 256}),
                "ContextOverflow { limit: Some(256), detail: \"Too long\" }",
            ),
            (json!({"code": 429, "message": "Slow down"}), "RateLimited(\"Slow down\")"),
            (json!("model runner has stopped\n"), "Unavailable(\"model runner has stopped \")"),
            (json!({"detail": 1}), "Unavailable(\"{\\\"detail\\\":1}\")"),
        ];
        for (error, expected) in cases {
            assert_eq!(format!("{:?}", Failure::in_stream(&error).error), expected, "{error}");
        }
    }
}

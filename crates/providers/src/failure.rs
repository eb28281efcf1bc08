//! What went wrong at a provider: who can do something about it, and whether asking again may help.

use std::time::Duration;

use chrono::{DateTime, Utc};
use engine::ModelError;
use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ModelError,
    pub(crate) retry: Retry,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Retry {
    No,
    Soon,
    /// The provider said when.
    After(Duration),
}

impl Failure {
    /// The provider could not be reached, or the connection broke.
    pub(crate) fn network(error: reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self { error: ModelError::TimedOut, retry: Retry::Soon };
        }
        // The address stays out of the message: it may carry a password.
        let cause = anyhow::Error::from(error.without_url());
        Self::passing(format!("{cause:#}"))
    }

    /// The provider answered, and its stream is not one we can go on reading.
    pub(crate) fn passing(why: impl Into<String>) -> Self {
        Self { error: ModelError::Unavailable(why.into()), retry: Retry::Soon }
    }

    /// The provider answered with something other than a stream.
    pub(crate) fn status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let complaint = Complaint::in_body(body);
        let why = format!("{} {}", status.as_u16(), complaint.message);
        let error = match status.as_u16() {
            // The provider's words on a bad key quote parts of it.
            401 => ModelError::Refused("401 the key was not accepted".into()),
            403 => ModelError::Refused("403 this key may not do that".into()),
            _ if complaint.is_ours() => ModelError::Refused(why),
            429 => ModelError::RateLimited(why),
            408 | 409 | 500.. => ModelError::Unavailable(why),
            _ => ModelError::Refused(why),
        };
        let retry = match (&error, status.as_u16()) {
            (ModelError::Refused(_), _) => Retry::No,
            (_, 429 | 502 | 503 | 504 | 529) => retry_after(headers, Utc::now()).map_or(Retry::Soon, Retry::After),
            _ => Retry::No,
        };
        Self { error, retry }
    }

    /// The provider began a stream and then put an error into it.
    pub(crate) fn in_stream(error: &Value) -> Self {
        let complaint = Complaint::read(error);
        let why = complaint.message.clone();
        let error = match complaint.code.as_str() {
            _ if complaint.is_ours() => return Self { error: ModelError::Refused(why), retry: Retry::No },
            "429" => ModelError::RateLimited(why),
            _ if complaint.kind.contains("rate_limit") => ModelError::RateLimited(why),
            _ if complaint.kind.contains("timeout") => ModelError::TimedOut,
            _ => ModelError::Unavailable(why),
        };
        Self { error, retry: Retry::Soon }
    }
}

/// `Retry-After`, in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = DateTime::parse_from_rfc2822(value).ok()?;
    Some((date.to_utc() - now).to_std().unwrap_or(Duration::ZERO))
}

/// An error in the words of a provider. Both vendors write `{"error": {"type", "code", "message"}}`; local servers
/// shorten it in every way.
struct Complaint {
    kind: String,
    code: String,
    message: String,
}

impl Complaint {
    fn in_body(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(body) => Self::read(body.get("error").unwrap_or(&body)),
            Err(_) => Self::read(&Value::String(String::from_utf8_lossy(body).into_owned())),
        }
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
        let message = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { kind: field("type"), code: field("code"), message }
    }

    /// Whether the operator must act: waiting mends neither a key nor a bill nor a malformed request.
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
    fn a_date_or_seconds_say_when_to_come_back() {
        let now = DateTime::parse_from_rfc2822("Sun, 06 Nov 1994 08:49:30 GMT").expect("a date").to_utc();
        let cases = [
            ("3", Some(3_000)),
            ("0.5", Some(500)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7_000)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
        ];
        for (value, expected) in cases {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().expect("a header"))]);
            assert_eq!(retry_after(&headers, now), expected.map(Duration::from_millis), "{value:?}");
        }
    }

    #[test]
    fn an_error_inside_a_stream_says_who_can_act() {
        let cases = [
            (json!({"type": "overloaded_error", "message": "Overloaded"}), "Unavailable(\"Overloaded\")"),
            (json!({"type": "rate_limit_error", "message": "Slow down"}), "RateLimited(\"Slow down\")"),
            (json!({"type": "timeout_error", "message": "Late"}), "TimedOut"),
            (json!({"type": "billing_error", "message": "No credit"}), "Refused(\"No credit\")"),
            (json!({"code": "context_length_exceeded", "message": "Too long"}), "Refused(\"Too long\")"),
            (json!({"code": 429, "message": "Slow down"}), "RateLimited(\"Slow down\")"),
            (json!("model runner has stopped\n"), "Unavailable(\"model runner has stopped \")"),
            (json!({"detail": 1}), "Unavailable(\"{\\\"detail\\\":1}\")"),
        ];
        for (error, expected) in cases {
            assert_eq!(format!("{:?}", Failure::in_stream(&error).error), expected, "{error}");
        }
    }
}

//! Checks before every Tidal call: planned faults, tokens, and the rate limit with its headers.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use serde::Deserialize;

use super::refusal::Refusal;

/// A fault of the service.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fault {
    TooMany {
        /// As sent: seconds or a date. Usually absent.
        retry_after: Option<String>,
        #[serde(default)]
        empty_body: bool,
    },
    /// The token is no longer valid.
    Unauthorized,
    Status {
        code: u16,
    },
    /// A valid response after a delay.
    Slow {
        ms: u64,
    },
    /// Never answers.
    Silence,
    /// Starts a body and never ends it.
    HalfABody,
    /// Status 200 with an HTML page.
    Garbage,
    /// Status 200 with an empty body.
    EmptyBody,
}

/// The token bucket, as implemented by Spring Cloud Gateway.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub burst: f64,
    pub per_request: f64,
    pub per_second: f64,
}

impl Limits {
    /// Two calls at once, then one in five seconds: measured in February 2025 with client credentials.
    pub const MEASURED: Self = Self { burst: 10.0, per_request: 5.0, per_second: 1.0 };
    /// Without effective limits.
    pub const GENEROUS: Self = Self { burst: 100_000.0, per_request: 5.0, per_second: 100_000.0 };
}

pub(crate) struct Gate {
    limits: Limits,
    level: f64,
    refilled_at: Instant,
    /// Faults for the next calls, one each; `None` means no fault.
    script: VecDeque<Option<Fault>>,
    /// The fault after the script has ended.
    standing: Option<Fault>,
    tokens: BTreeMap<String, Instant>,
    token_life: Duration,
    pub(crate) n_tokens: usize,
    pub(crate) requests: Vec<String>,
}

impl Gate {
    pub(crate) fn new(limits: Limits, token_life: Duration) -> Self {
        Self {
            limits,
            level: limits.burst,
            refilled_at: Instant::now(),
            script: VecDeque::new(),
            standing: None,
            tokens: BTreeMap::new(),
            token_life,
            n_tokens: 0,
            requests: Vec::new(),
        }
    }

    pub(crate) fn plan(&mut self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.script.extend(faults);
    }

    pub(crate) fn always(&mut self, fault: Option<Fault>) {
        self.script.clear();
        self.standing = fault;
    }

    pub(crate) fn next_fault(&mut self) -> Option<Fault> {
        self.script.pop_front().unwrap_or_else(|| self.standing.clone())
    }

    pub(crate) fn issue_token(&mut self) -> (String, u64) {
        self.n_tokens += 1;
        let token = format!("double-token-{}", self.n_tokens);
        self.tokens.insert(token.clone(), Instant::now() + self.token_life);
        (token, self.token_life.as_secs())
    }

    pub(crate) fn revoke_tokens(&mut self) {
        self.tokens.clear();
    }

    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        bearer.and_then(|token| self.tokens.get(token)).is_some_and(|until| Instant::now() < *until)
    }

    /// Takes the cost of one request from the bucket. A rejected request costs nothing.
    pub(crate) fn admit(&mut self) -> bool {
        let now = Instant::now();
        let refill = now.duration_since(self.refilled_at).as_secs_f64() * self.limits.per_second;
        self.level = (self.level + refill).min(self.limits.burst);
        self.refilled_at = now;
        let admitted = self.level >= self.limits.per_request;
        if admitted {
            self.level -= self.limits.per_request;
        }
        admitted
    }

    pub(crate) fn stamp(&self, response: &mut Response) {
        let figures = [
            ("x-ratelimit-remaining", self.level.floor()),
            ("x-ratelimit-requested-tokens", self.limits.per_request),
            ("x-ratelimit-burst-capacity", self.limits.burst),
            ("x-ratelimit-replenish-rate", self.limits.per_second),
        ];
        for (name, figure) in figures {
            response.headers_mut().insert(name, HeaderValue::from(figure as u64));
        }
    }
}

impl Fault {
    /// The fault's response; `None` if the real response follows.
    pub(crate) async fn play(self) -> Option<Response> {
        match self {
            Self::TooMany { retry_after, empty_body } => Some(too_many(retry_after.as_deref(), empty_body)),
            Self::Unauthorized => {
                Some(Refusal::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", "The token has expired").into_response())
            }
            Self::Status { code } => {
                let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                Some(Refusal::new(status, "DOUBLE_FAULT", "as asked").into_response())
            }
            Self::Slow { ms } => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                None
            }
            Self::Silence => std::future::pending().await,
            Self::HalfABody => {
                let start =
                    futures::stream::once(async { Ok::<_, std::io::Error>(Bytes::from_static(b"{\"data\":[")) });
                Some(Body::from_stream(start.chain(futures::stream::pending())).into_response())
            }
            Self::Garbage => Some("<!doctype html><title>Sign in to the hotel network</title>".into_response()),
            Self::EmptyBody => Some(StatusCode::OK.into_response()),
        }
    }
}

pub(crate) fn too_many(retry_after: Option<&str>, empty_body: bool) -> Response {
    let status = StatusCode::TOO_MANY_REQUESTS;
    let mut response = match empty_body {
        true => status.into_response(),
        false => Refusal::new(status, "TOO_MANY_REQUESTS", "Too many requests").into_response(),
    };
    if let Some(value) = retry_after.and_then(|value| HeaderValue::from_str(value).ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

//! Checks before every Tidal call: planned faults, tokens, and the rate limit with its headers.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};

use crate::fault::Plan;

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
    pub(crate) plan: Plan,
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
            plan: Plan::default(),
            tokens: BTreeMap::new(),
            token_life,
            n_tokens: 0,
            requests: Vec::new(),
        }
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

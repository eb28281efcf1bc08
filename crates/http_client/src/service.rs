//! A client for one public service: rate limit, user agent, and a pause after repeated failures.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Context;
use reqwest::{Client, Response, StatusCode, Url, header::ACCEPT};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use crate::client_builder;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(20);
/// Responses are well below 1 MB: twenty pages of lyrics, or forty rows of audio features.
const MAX_BODY: usize = 4 << 20;

/// After this many consecutive failures, requests to the service are paused.
const FAILURES_TO_PAUSE: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// Why a request to a service failed. The variants say who can fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// May succeed later: network error, timeout, 429, 5xx, or requests to the service are paused.
    #[error("{service} is not available: {reason}")]
    Unavailable {
        service: &'static str,
        reason: String,
        /// When to retry: from the service's `Retry-After`, or the rest of our own pause.
        retry_after: Option<Duration>,
    },
    /// The service rejects the request, and a retry gets the same answer. The operator or the developers must act.
    #[error("{service} refused: {reason}")]
    Refused { service: &'static str, reason: String },
    /// The service sent a response that cannot be parsed.
    #[error("{service} sent a response that cannot be parsed: {reason}")]
    Broken { service: &'static str, reason: String },
}

impl SourceError {
    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { retry_after, .. } => *retry_after,
            Self::Refused { .. } | Self::Broken { .. } => None,
        }
    }
}

/// How often a service may be called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    /// How many calls may start at once after an idle period.
    pub burst: u32,
}

impl Rate {
    /// For test doubles on the same machine.
    pub const UNLIMITED: Self = Self { per_second: 1e6, burst: u32::MAX };
}

/// A public service with its rate limit and its pause after failures.
pub struct Service {
    service: &'static str,
    http: Client,
    base: Url,
    rate: Rate,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the rate limit has room for the calls that were booked so far.
    paid_until: Option<Instant>,
    n_failures: u32,
    paused_until: Option<Instant>,
    last_failure: String,
}

/// A response with its complete body. The status may be a success or a 4xx.
pub struct Answer {
    pub status: StatusCode,
    body: Vec<u8>,
    service: &'static str,
}

impl Service {
    pub fn new(service: &'static str, base: &str, rate: Rate) -> anyhow::Result<Self> {
        let http = client_builder().connect_timeout(CONNECT_TIMEOUT).timeout(TIMEOUT).build()?;
        let base = Url::parse(base.trim_end_matches('/')).with_context(|| format!("{service}: {base} is not a URL"))?;
        anyhow::ensure!(
            matches!(base.scheme(), "http" | "https"),
            "{service}: {base} is not an http:// or https:// URL"
        );
        Ok(Self { service, http, base, rate, state: Mutex::default() })
    }

    /// Waits for the rate limit, then sends the request. A 4xx status is returned as a response, because its meaning
    /// depends on the request. The exception is 429, which is an error.
    pub async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, SourceError> {
        sleep(self.next_turn()?).await;
        let url = self.url(path, query);
        let result = self.send(url).await;
        match &result {
            Ok(_) => self.state().n_failures = 0,
            Err(error) => self.remember(error),
        }
        result
    }

    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        url.path_segments_mut().expect("http URLs have paths").pop_if_empty().extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    async fn send(&self, url: Url) -> Result<Answer, SourceError> {
        let path = url.path().to_owned();
        let sent = self.http.get(url).header(ACCEPT, "application/json").send().await;
        let response = sent.map_err(|error| self.unreachable(error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        debug!(source.name = self.service, url.path = path, http.status = status.as_u16(), "Asked {}", self.service);
        let body = self.body(response).await?;
        let is_busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        if is_busy {
            let wait = crate::retry_after(&headers).map(|wait| wait.min(LONGEST_PAUSE));
            return Err(self.unavailable(status.to_string(), wait));
        }
        Ok(Answer { status, body, service: self.service })
    }

    async fn body(&self, response: Response) -> Result<Vec<u8>, SourceError> {
        let body = crate::read_at_most(response, MAX_BODY).await.map_err(|error| self.unreachable(error))?;
        body.ok_or_else(|| SourceError::Broken { service: self.service, reason: "larger than 4 MB".into() })
    }

    /// Books the next call and returns how long to wait for it. Fails while the service is paused.
    fn next_turn(&self) -> Result<Duration, SourceError> {
        let now = Instant::now();
        let mut state = self.state();
        if let Some(until) = state.paused_until.filter(|until| *until > now) {
            let wait = until - now;
            return Err(
                self.unavailable(format!("requests are paused (last failure: {})", state.last_failure), Some(wait))
            );
        }
        let per_call = Duration::from_secs_f64(1.0 / self.rate.per_second);
        let credit = per_call.saturating_mul(self.rate.burst.saturating_sub(1));
        let earliest = state.paid_until.map_or(now, |paid| paid.checked_sub(credit).unwrap_or(now).max(now));
        state.paid_until = Some(state.paid_until.map_or(now, |paid| paid.max(now)) + per_call);
        Ok(earliest - now)
    }

    /// A `Retry-After` pauses the service at once. Other failures pause it after [`FAILURES_TO_PAUSE`] in a row.
    fn remember(&self, error: &SourceError) {
        let SourceError::Unavailable { reason, retry_after, .. } = error else { return };
        let mut state = self.state();
        state.n_failures += 1;
        let pause = retry_after.or_else(|| pause_after(state.n_failures));
        if let Some(pause) = pause {
            state.paused_until = Some(Instant::now() + pause);
            state.last_failure.clone_from(reason);
            let (service, seconds) = (self.service, pause.as_secs());
            warn!(source.name = service, reason, "Requests to {service} are paused for {seconds} s: {reason}");
        }
    }

    pub fn unavailable(&self, reason: String, retry_after: Option<Duration>) -> SourceError {
        SourceError::Unavailable { service: self.service, reason, retry_after }
    }

    /// For services that report "too many requests" inside a successful response: pauses the service and returns the
    /// error.
    pub fn throttled(&self, reason: &str, pause: Duration) -> SourceError {
        let error = self.unavailable(reason.into(), Some(pause));
        self.remember(&error);
        error
    }

    fn unreachable(&self, error: reqwest::Error) -> SourceError {
        // The URL may contain personal data (a title from a user's library), so it is not logged.
        self.unavailable(crate::root_cause(&error.without_url()), None)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer {
    /// The parsed body of a success; `None` for 404; an error for any other status.
    pub fn found<T: DeserializeOwned>(&self) -> Result<Option<T>, SourceError> {
        match self.status {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => self.json().map(Some),
            status => Err(self.refused(status.to_string())),
        }
    }

    pub fn refused(&self, reason: String) -> SourceError {
        SourceError::Refused { service: self.service, reason }
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, SourceError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| SourceError::Broken { service: self.service, reason: error.to_string() })
    }
}

/// How long to pause after this many consecutive failures; `None` for no pause.
fn pause_after(n_failures: u32) -> Option<Duration> {
    let n_pauses = n_failures.checked_sub(FAILURES_TO_PAUSE)?;
    Some(FIRST_PAUSE.saturating_mul(1 << n_pauses.min(10)).min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(per_second: f64, burst: u32) -> Service {
        Service::new("Test", "http://127.0.0.1:9", Rate { per_second, burst }).unwrap()
    }

    fn turns(service: &Service, n: usize) -> Vec<u64> {
        (0..n).map(|_| service.next_turn().unwrap().as_millis() as u64).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn calls_are_spaced_at_the_configured_rate() {
        let one_a_second = service(1.0, 1);
        assert_eq!(turns(&one_a_second, 3), [0, 1000, 2000]);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(turns(&one_a_second, 2), [0, 1000], "idle time never allows more than the burst");
        assert_eq!(turns(&service(10.0, 3), 5), [0, 0, 0, 100, 200]);
        assert_eq!(turns(&Service { rate: Rate::UNLIMITED, ..service(1.0, 1) }, 3), [0, 0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn retry_after_pauses_all_calls() {
        let service = service(10.0, 1);
        service.remember(&service.unavailable("429".into(), Some(Duration::from_secs(7))));
        let paused = service.next_turn().unwrap_err();
        assert_eq!(paused.retry_after(), Some(Duration::from_secs(7)));
        tokio::time::advance(Duration::from_secs(7)).await;
        assert!(service.next_turn().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn consecutive_failures_pause_the_service_for_longer_and_longer() {
        let service = service(10.0, 1);
        let fail = || service.remember(&service.unavailable("503".into(), None));
        (0..4).for_each(|_| fail());
        assert!(service.next_turn().is_ok());
        fail();
        assert_eq!(service.next_turn().unwrap_err().retry_after(), Some(FIRST_PAUSE));
        tokio::time::advance(FIRST_PAUSE).await;
        assert!(service.next_turn().is_ok(), "after the pause one call may try again");
        fail();
        assert_eq!(service.next_turn().unwrap_err().retry_after(), Some(FIRST_PAUSE * 2));
        assert_eq!(pause_after(1000), Some(LONGEST_PAUSE));
    }

    #[test]
    fn an_invalid_base_url_is_rejected_at_start() {
        for base in ["", "lrclib", "mailto:lrclib"] {
            assert!(Service::new("Test", base, Rate::UNLIMITED).is_err(), "{base}");
        }
    }
}

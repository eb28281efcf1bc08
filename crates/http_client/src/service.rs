//! Asking a public service politely: at its pace, under our name, and not at all while it is unwell.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Context;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{ACCEPT, HeaderMap, RETRY_AFTER},
};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

/// Under which name we come: operators of free services block those who hide it.
pub const USER_AGENT: &str = concat!("segue/", env!("CARGO_PKG_VERSION"));

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(20);
/// Twenty pages of lyrics or forty rows of features have well under 1 MB.
const MAX_BODY: usize = 4 << 20;

/// That many failures in a row, and the service is left in peace for a while.
const FAILURES_TO_PAUSE: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// Why a service gave no answer. The variants say who can do something about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Time can: network, timeout, 429, 5xx, or the service is being left in peace.
    #[error("{service} is not available: {reason}")]
    Unavailable {
        service: &'static str,
        reason: String,
        /// When to ask again, if the service said so or we have decided so.
        retry_after: Option<Duration>,
    },
    /// We or the operator can: the request is not accepted, and asking again would change nothing.
    #[error("{service} refused: {reason}")]
    Refused { service: &'static str, reason: String },
    /// Nobody here can: an answer that is no answer.
    #[error("{service} answered in a way that cannot be read: {reason}")]
    Broken { service: &'static str, reason: String },
}

impl SourceError {
    /// Whether the same question may be answered later.
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

/// How often a service may be asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    /// How many calls may go out at once after a rest.
    pub burst: u32,
}

impl Rate {
    /// For doubles on the same machine.
    pub const UNLIMITED: Self = Self { per_second: 1e6, burst: u32::MAX };
}

/// A service we ask, with our manners towards it.
pub struct Service {
    service: &'static str,
    http: Client,
    base: Url,
    rate: Rate,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the last booked call would be paid for, at the agreed rate.
    paid_until: Option<Instant>,
    n_failures: u32,
    silent_until: Option<Instant>,
}

/// What came back: a success or a refusal, read to its end.
pub struct Answer {
    pub status: StatusCode,
    body: Vec<u8>,
    service: &'static str,
}

impl Service {
    pub fn new(service: &'static str, base: &str, rate: Rate) -> anyhow::Result<Self> {
        // An error only says that somebody has already installed one, which is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http =
            Client::builder().user_agent(USER_AGENT).connect_timeout(CONNECT_TIMEOUT).timeout(TIMEOUT).build()?;
        let base = Url::parse(base.trim_end_matches('/')).with_context(|| format!("{service}: no address: {base}"))?;
        anyhow::ensure!(matches!(base.scheme(), "http" | "https"), "{service}: not an http address: {base}");
        Ok(Self { service, http, base, rate, state: Mutex::default() })
    }

    /// Waits for its turn and asks. A 4xx is an answer, except 429: what it means depends on the question.
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
        url.path_segments_mut().expect("http addresses have paths").pop_if_empty().extend(path);
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
            return Err(self.unavailable(status.to_string(), retry_after(&headers)));
        }
        Ok(Answer { status, body, service: self.service })
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, SourceError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(error))? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(SourceError::Broken { service: self.service, reason: "larger than 4 MB".into() });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Books the next call: how long to wait for it, or that now is not the time.
    fn next_turn(&self) -> Result<Duration, SourceError> {
        let now = Instant::now();
        let mut state = self.state();
        if let Some(until) = state.silent_until.filter(|until| *until > now) {
            let wait = until - now;
            return Err(self.unavailable("it is left in peace for a while".into(), Some(wait)));
        }
        let per_call = Duration::from_secs_f64(1.0 / self.rate.per_second);
        let credit = per_call.saturating_mul(self.rate.burst.saturating_sub(1));
        let earliest = state.paid_until.map_or(now, |paid| paid.checked_sub(credit).unwrap_or(now).max(now));
        state.paid_until = Some(state.paid_until.map_or(now, |paid| paid.max(now)) + per_call);
        Ok(earliest - now)
    }

    /// A word from the service closes the door at once; silence and failures only after a few of them.
    fn remember(&self, error: &SourceError) {
        let SourceError::Unavailable { reason, retry_after, .. } = error else { return };
        let mut state = self.state();
        state.n_failures += 1;
        let pause = retry_after.or_else(|| pause_after(state.n_failures));
        if let Some(pause) = pause {
            state.silent_until = Some(Instant::now() + pause);
            let (service, seconds) = (self.service, pause.as_secs());
            warn!(source.name = service, reason, "{service} is left in peace for {seconds} s: {reason}");
        }
    }

    pub fn unavailable(&self, reason: String, retry_after: Option<Duration>) -> SourceError {
        SourceError::Unavailable { service: self.service, reason, retry_after }
    }

    /// Says so when a service hides its "too many requests" in a success, and keeps to it.
    pub fn throttled(&self, reason: &str, pause: Duration) -> SourceError {
        let error = self.unavailable(reason.into(), Some(pause));
        self.remember(&error);
        error
    }

    fn unreachable(&self, error: reqwest::Error) -> SourceError {
        // The address may hold what a listener owns; logs have no use for it.
        self.unavailable(crate::root_cause(&error.without_url()), None)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer {
    /// The body of a success; `None` for a 404; any other status is a refusal.
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

/// How long to stay away after so many failures in a row, if at all.
fn pause_after(n_failures: u32) -> Option<Duration> {
    let n_pauses = n_failures.checked_sub(FAILURES_TO_PAUSE)?;
    Some(FIRST_PAUSE.saturating_mul(1 << n_pauses.min(10)).min(LONGEST_PAUSE))
}

/// `Retry-After`: seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = chrono::DateTime::parse_from_rfc2822(value).ok()?;
            (date.to_utc() - chrono::Utc::now()).to_std().unwrap_or_default()
        }
    };
    Some(wait.min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polite(per_second: f64, burst: u32) -> Service {
        Service::new("Test", "http://127.0.0.1:9", Rate { per_second, burst }).unwrap()
    }

    fn turns(polite: &Service, n: usize) -> Vec<u64> {
        (0..n).map(|_| polite.next_turn().unwrap().as_millis() as u64).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn calls_line_up_at_the_agreed_rate() {
        let one_a_second = polite(1.0, 1);
        assert_eq!(turns(&one_a_second, 3), [0, 1000, 2000]);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(turns(&one_a_second, 2), [0, 1000], "a rest earns no more than the burst");
        assert_eq!(turns(&polite(10.0, 3), 5), [0, 0, 0, 100, 200]);
        assert_eq!(turns(&Service { rate: Rate::UNLIMITED, ..polite(1.0, 1) }, 3), [0, 0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_word_from_the_service_closes_the_door_for_everybody() {
        let polite = polite(10.0, 1);
        polite.remember(&polite.unavailable("429".into(), Some(Duration::from_secs(7))));
        let closed = polite.next_turn().unwrap_err();
        assert_eq!(closed.retry_after(), Some(Duration::from_secs(7)));
        tokio::time::advance(Duration::from_secs(7)).await;
        assert!(polite.next_turn().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn failures_in_a_row_open_the_circuit_for_longer_and_longer() {
        let polite = polite(10.0, 1);
        let fail = || polite.remember(&polite.unavailable("503".into(), None));
        (0..4).for_each(|_| fail());
        assert!(polite.next_turn().is_ok());
        fail();
        assert_eq!(polite.next_turn().unwrap_err().retry_after(), Some(FIRST_PAUSE));
        tokio::time::advance(FIRST_PAUSE).await;
        assert!(polite.next_turn().is_ok(), "one call may try whether it is well again");
        fail();
        assert_eq!(polite.next_turn().unwrap_err().retry_after(), Some(FIRST_PAUSE * 2));
        assert_eq!(pause_after(1000), Some(LONGEST_PAUSE));
    }

    #[test]
    fn an_address_that_is_none_is_refused_at_the_start() {
        for base in ["", "lrclib", "mailto:lrclib"] {
            assert!(Service::new("Test", base, Rate::UNLIMITED).is_err(), "{base}");
        }
    }
}

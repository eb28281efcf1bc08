//! The rate limit of Tidal, learned from the rate headers of every response.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reqwest::header::HeaderMap;
use tokio::time::Instant;

/// Measured, because Tidal publishes no limit: a call costs five tokens, and the bucket gains one token per second.
const DEFAULT_WAIT: Duration = Duration::from_secs(5);
/// A longer value means a wrong clock or a wrong unit.
const MAX_WAIT: Duration = Duration::from_secs(3600);
const MAX_JITTER_MS: u64 = 200;

/// What is known about Tidal's rate limit: nothing before the first response.
#[derive(Default)]
pub(super) struct Pace(Mutex<State>);

#[derive(Default)]
struct State {
    bucket: Option<Bucket>,
    /// From Tidal's `Retry-After`: no request is sent before this time.
    closed_until: Option<Instant>,
}

/// A copy of Tidal's token bucket. It is an estimate, because other clients may use the same credentials.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    level: f64,
    at: Instant,
    capacity: f64,
    per_call: f64,
    per_second: f64,
}

/// When a request may be sent.
#[derive(Debug, PartialEq)]
pub(super) enum Slot {
    /// After this wait, by our estimate. May be zero.
    In(Duration),
    /// Tidal's `Retry-After` forbids requests for this long.
    Closed(Duration),
}

impl Pace {
    /// Books the next call, so that concurrent calls are spaced.
    pub(super) fn next_turn(&self) -> Slot {
        let now = Instant::now();
        let mut state = self.state();
        if let Some(until) = state.closed_until.filter(|until| *until > now) {
            return Slot::Closed(until - now);
        }
        Slot::In(state.bucket.as_mut().map_or(Duration::ZERO, |bucket| bucket.take(now)))
    }

    /// Learns from the headers of a response with any status.
    pub(super) fn learn(&self, headers: &HeaderMap) {
        if let Some(bucket) = Bucket::read(headers) {
            self.state().bucket = Some(bucket);
        }
    }

    /// How long to wait after a 429. Only a `Retry-After` of Tidal stops all calls.
    pub(super) fn refused(&self, headers: &HeaderMap) -> Duration {
        let mut state = self.state();
        if let Some(wait) = http_client::retry_after(headers) {
            state.closed_until = Some(Instant::now() + wait);
            return wait;
        }
        let wait = state.bucket.map_or(DEFAULT_WAIT, |bucket| bucket.time_for(bucket.per_call));
        wait + jitter()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bucket {
    fn read(headers: &HeaderMap) -> Option<Self> {
        let figure = |name: &str| headers.get(name)?.to_str().ok()?.parse::<f64>().ok();
        let bucket = Self {
            level: figure("x-ratelimit-remaining")?,
            at: Instant::now(),
            capacity: figure("x-ratelimit-burst-capacity")?,
            per_call: figure("x-ratelimit-requested-tokens")?,
            per_second: figure("x-ratelimit-replenish-rate")?,
        };
        (bucket.per_second > 0.0 && bucket.per_call >= 0.0).then_some(bucket)
    }

    /// Books one call. The level is negative while calls are waiting.
    fn take(&mut self, now: Instant) -> Duration {
        let refill = now.duration_since(self.at).as_secs_f64() * self.per_second;
        self.level = (self.level + refill).min(self.capacity) - self.per_call;
        self.at = now;
        self.time_for(-self.level)
    }

    fn time_for(&self, tokens: f64) -> Duration {
        let seconds = (tokens.max(0.0) / self.per_second).min(MAX_WAIT.as_secs_f64());
        Duration::from_secs_f64(seconds)
    }
}

/// Random delay, so that clients that got a 429 at the same time do not retry at the same time.
fn jitter() -> Duration {
    Duration::from_millis(RandomState::new().hash_one(()) % MAX_JITTER_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn measured(remaining: &str) -> HeaderMap {
        headers(&[
            ("x-ratelimit-remaining", remaining),
            ("x-ratelimit-requested-tokens", "5"),
            ("x-ratelimit-burst-capacity", "10"),
            ("x-ratelimit-replenish-rate", "1"),
        ])
    }

    fn next_turns(pace: &Pace, n: usize) -> Vec<u64> {
        let wait = || match pace.next_turn() {
            Slot::In(wait) => wait.as_secs(),
            Slot::Closed(wait) => panic!("closed for {wait:?}"),
        };
        std::iter::repeat_with(wait).take(n).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn calls_wait_for_an_empty_bucket() {
        let pace = Pace::default();
        assert_eq!(next_turns(&pace, 3), [0, 0, 0], "nothing is known yet");
        pace.learn(&measured("5"));
        assert_eq!(next_turns(&pace, 3), [0, 5, 10]);
        tokio::time::advance(Duration::from_secs(100)).await;
        assert_eq!(next_turns(&pace, 3), [0, 0, 5], "a bucket is never fuller than full");
    }

    #[tokio::test(start_paused = true)]
    async fn invalid_headers_are_ignored() {
        let pace = Pace::default();
        for odd in
            [headers(&[]), headers(&[("x-ratelimit-remaining", "0")]), headers(&[("x-ratelimit-remaining", "x")])]
        {
            pace.learn(&odd);
        }
        let mut never = measured("0");
        never.insert("x-ratelimit-replenish-rate", "0".parse().unwrap());
        pace.learn(&never);
        assert_eq!(next_turns(&pace, 2), [0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_429_decides_how_long_to_wait() {
        let date = (chrono::Utc::now() + chrono::Duration::seconds(90)).to_rfc2822().replace("+0000", "GMT");
        let cases = [
            (headers(&[("retry-after", "7")]), 7..8, true),
            (headers(&[("retry-after", &date)]), 88..91, true),
            (headers(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), 0..1, true),
            (headers(&[("retry-after", "99999999999")]), 3600..3601, true),
            (headers(&[("retry-after", "soon")]), 5..6, false),
            (headers(&[]), 5..6, false),
        ];
        for (headers, expected, closes) in cases {
            let pace = Pace::default();
            let wait = pace.refused(&headers);
            assert!(expected.contains(&wait.as_secs()), "{headers:?}: {wait:?}");
            assert_eq!(pace.next_turn() != Slot::In(Duration::ZERO), closes && !wait.is_zero(), "{headers:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn calls_are_allowed_again_after_retry_after() {
        let pace = Pace::default();
        pace.refused(&headers(&[("retry-after", "7")]));
        assert_eq!(pace.next_turn(), Slot::Closed(Duration::from_secs(7)));
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(pace.next_turn(), Slot::In(Duration::ZERO));
    }
}

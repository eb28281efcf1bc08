//! The request rate per user: a burst, then a number per second. Counted by each node.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use engine::UserId;

use crate::error::ApiError;

/// When the page opens, it requests its lists and covers at once.
const BURST_SECONDS: u32 = 6;
/// Above this number of users, entries of users with a full burst are removed.
const MOST_REMEMBERED: usize = 10_000;

pub(crate) struct RequestRate {
    /// `None`: no limit.
    per_second: Option<NonZeroU32>,
    users: Mutex<HashMap<UserId, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    n_left: f64,
    at: Instant,
}

impl RequestRate {
    pub(crate) fn new(per_second: Option<NonZeroU32>) -> Self {
        Self { per_second, users: Mutex::default() }
    }

    pub(crate) fn count(&self, user: &UserId, at: Instant) -> Result<(), ApiError> {
        let Some(per_second) = self.per_second else { return Ok(()) };
        let (rate, most) = (f64::from(per_second.get()), f64::from(per_second.get() * BURST_SECONDS));
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.len() > MOST_REMEMBERED {
            users.retain(|_, bucket| refilled(*bucket, rate, most, at) < most);
        }
        let bucket = users.entry(user.clone()).or_insert(Bucket { n_left: most, at });
        *bucket = Bucket { n_left: refilled(*bucket, rate, most, at), at };
        if bucket.n_left < 1.0 {
            return Err(ApiError::rate_limited("Too many requests. Please wait a moment.", 1));
        }
        bucket.n_left -= 1.0;
        Ok(())
    }
}

fn refilled(bucket: Bucket, rate: f64, most: f64, at: Instant) -> f64 {
    (bucket.n_left + at.saturating_duration_since(bucket.at).as_secs_f64() * rate).min(most)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_user_has_a_burst_and_then_a_rate_and_other_users_have_their_own() {
        let (rate, start) = (RequestRate::new(NonZeroU32::new(10)), Instant::now());
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        let n_let_in = |user, at| (0..1000).filter(|_| rate.count(user, at).is_ok()).count();
        assert_eq!(n_let_in(&ann, start), 60);
        assert_eq!(n_let_in(&bob, start), 60);
        assert_eq!(n_let_in(&ann, start + Duration::from_secs(1)), 10);
        assert_eq!(n_let_in(&ann, start + Duration::from_secs(3600)), 60, "no more than one burst accumulates");
        assert!((0..1000).all(|_| RequestRate::new(None).count(&ann, start).is_ok()));
    }
}

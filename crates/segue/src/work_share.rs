//! Limits the concurrent requests of one user. Further requests wait for earlier ones of the same user, so that a burst
//! of one user does not use every database connection and every core.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use engine::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Fewer than the database connections. With two imports and three JSON answers, requests of the page can still run.
const AT_ONCE: usize = 8;
/// Users without requests are removed when the list is longer than this.
const MOST_KNOWN: usize = 1000;

pub(crate) struct WorkShare {
    is_on: bool,
    users: Mutex<HashMap<UserId, Arc<Semaphore>>>,
}

impl WorkShare {
    pub(crate) fn new(is_on: bool) -> Self {
        Self { is_on, users: Mutex::default() }
    }

    /// Waits until this user has fewer requests in progress. The permit is held until the response begins; a streamed
    /// answer holds none.
    pub(crate) async fn enter(&self, user: &UserId) -> Option<OwnedSemaphorePermit> {
        if !self.is_on {
            return None;
        }
        self.of(user).acquire_owned().await.ok()
    }

    fn of(&self, user: &UserId) -> Arc<Semaphore> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.len() > MOST_KNOWN {
            users.retain(|_, share| Arc::strong_count(share) > 1);
        }
        users.entry(user.clone()).or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE))).clone()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_burst_of_one_user_does_not_delay_other_users() {
        let (share, ann, bob) = (WorkShare::new(true), UserId::new("ann"), UserId::new("bob"));
        let mut working: Vec<_> = vec![];
        for _ in 0..AT_ONCE {
            working.push(share.enter(&ann).now_or_never().expect("there is room"));
        }
        assert!(share.enter(&ann).now_or_never().is_none(), "one more waits");
        assert!(share.enter(&bob).now_or_never().is_some(), "another user does not wait");
        working.pop();
        assert!(share.enter(&ann).now_or_never().is_some(), "a waiting request runs when another has ended");
        assert!(WorkShare::new(false).enter(&ann).await.is_none(), "local mode has no limit");
    }

    #[tokio::test]
    async fn users_without_work_are_forgotten() {
        let share = WorkShare::new(true);
        let busy = share.enter(&UserId::new("busy")).await;
        for n in 0..=MOST_KNOWN {
            share.enter(&UserId::new(n.to_string())).await;
        }
        share.enter(&UserId::new("last")).await;
        assert!(share.users.lock().unwrap().len() < 10);
        assert!(share.users.lock().unwrap().contains_key(&UserId::new("busy")));
        drop(busy);
    }
}

//! How many requests of one user are worked on at once. The others wait for their own user's, so that one user's burst does
//! not take every database connection and every core from the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use engine::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Fewer than the connections to the database. Two imports and three answers as JSON leave room for a page.
const AT_ONCE: usize = 8;
/// Users without work are forgotten when the list is longer than this.
const MOST_KNOWN: usize = 1000;

pub(crate) struct WorkShare {
    is_on: bool,
    users: Mutex<HashMap<UserId, Arc<Semaphore>>>,
}

impl WorkShare {
    pub(crate) fn new(is_on: bool) -> Self {
        Self { is_on, users: Mutex::default() }
    }

    /// Waits until this user has less work under way. Held until the response begins; an answer that streams holds none.
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
    async fn a_burst_waits_for_itself_and_no_other_user_waits() {
        let (share, ann, bob) = (WorkShare::new(true), UserId::new("ann"), UserId::new("bob"));
        let mut working: Vec<_> = vec![];
        for _ in 0..AT_ONCE {
            working.push(share.enter(&ann).now_or_never().expect("there is room"));
        }
        assert!(share.enter(&ann).now_or_never().is_none(), "one more waits");
        assert!(share.enter(&bob).now_or_never().is_some(), "another user does not");
        working.pop();
        assert!(share.enter(&ann).now_or_never().is_some(), "its turn has come");
        assert!(WorkShare::new(false).enter(&ann).await.is_none(), "the one user of local mode has no share");
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

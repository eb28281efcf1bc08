//! Limits what one user does at once. Further work of the same user waits for it, so that a burst of one user does not use
//! every database connection and every core.

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use engine::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Users without work are removed when the list is longer than this.
const MOST_KNOWN: usize = 1000;

pub struct PerUser {
    /// `None`: no limit.
    most: Option<NonZeroUsize>,
    users: Mutex<HashMap<UserId, Arc<Semaphore>>>,
}

impl PerUser {
    pub fn new(most: Option<NonZeroUsize>) -> Self {
        Self { most, users: Mutex::default() }
    }

    /// Waits until this user does less. The work lasts until the permit is dropped.
    pub async fn enter(&self, user: &UserId) -> Option<OwnedSemaphorePermit> {
        self.of(user, self.most?).acquire_owned().await.ok()
    }

    fn of(&self, user: &UserId, most: NonZeroUsize) -> Arc<Semaphore> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.len() > MOST_KNOWN {
            users.retain(|_, share| Arc::strong_count(share) > 1);
        }
        users.entry(user.clone()).or_insert_with(|| Arc::new(Semaphore::new(most.get()))).clone()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    const AT_ONCE: usize = 8;

    #[tokio::test]
    async fn a_burst_of_one_user_does_not_delay_other_users() {
        let (share, ann, bob) = (PerUser::new(NonZeroUsize::new(AT_ONCE)), UserId::new("ann"), UserId::new("bob"));
        let mut working: Vec<_> = vec![];
        for _ in 0..AT_ONCE {
            working.push(share.enter(&ann).now_or_never().expect("there is room"));
        }
        assert!(share.enter(&ann).now_or_never().is_none(), "one more waits");
        assert!(share.enter(&bob).now_or_never().is_some(), "another user does not wait");
        working.pop();
        assert!(share.enter(&ann).now_or_never().is_some(), "a waiting request runs when another has ended");
        assert!(PerUser::new(None).enter(&ann).await.is_none(), "local mode has no limit");
    }

    #[tokio::test]
    async fn users_without_work_are_forgotten() {
        let share = PerUser::new(NonZeroUsize::new(AT_ONCE));
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

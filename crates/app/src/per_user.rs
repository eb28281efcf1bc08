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

/// The right to work. The work lasts until this is dropped.
pub struct Place {
    _permit: Option<OwnedSemaphorePermit>,
    /// Whether other work of the same user was in the way: the user asks for more than one person can.
    pub waited: bool,
}

pub struct PerUser {
    /// `None`: no limit.
    most: Option<NonZeroUsize>,
    users: Mutex<HashMap<UserId, Arc<Semaphore>>>,
}

impl PerUser {
    pub fn new(most: Option<NonZeroUsize>) -> Self {
        Self { most, users: Mutex::default() }
    }

    /// Waits until this user does less.
    pub async fn enter(&self, user: &UserId) -> Place {
        let Some(most) = self.most else { return Place { _permit: None, waited: false } };
        let share = self.of(user, most);
        match share.clone().try_acquire_owned() {
            Ok(permit) => Place { _permit: Some(permit), waited: false },
            Err(_) => Place { _permit: share.acquire_owned().await.ok(), waited: true },
        }
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
        let (ended, waits) = (working.pop(), share.enter(&ann));
        let mut waits = std::pin::pin!(waits);
        assert!(waits.as_mut().now_or_never().is_none());
        drop(ended);
        let place = waits.now_or_never().expect("a waiting request runs when another has ended");
        assert!(place.waited && working.iter().all(|place| !place.waited), "only the one that waited says so");
        let local = PerUser::new(None);
        let places: Vec<_> = (0..2 * AT_ONCE).filter_map(|_| local.enter(&ann).now_or_never()).collect();
        assert_eq!(places.len(), 2 * AT_ONCE, "local mode has no limit");
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

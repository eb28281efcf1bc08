//! Fair claims: background work is divided between the users who wait for it, so that the 50,000 tracks of one user do
//! not delay the ten tracks of another.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

/// The user who was served last, for each queue. In memory: after a restart the round begins with the first user.
#[derive(Default)]
pub(crate) struct Served(Mutex<HashMap<&'static str, String>>);

/// Divides `limit` items of work between users.
pub(crate) struct Round {
    users: VecDeque<String>,
    /// Users whose share was used up, for the next pass.
    again: VecDeque<String>,
    left: usize,
}

impl Served {
    /// A round that begins after the user who was served last. `users` are sorted.
    pub(crate) fn round(&self, queue: &'static str, users: Vec<String>, limit: usize) -> Round {
        let served = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = served.get(queue).map_or(0, |last| users.partition_point(|user| user <= last));
        let mut users = VecDeque::from(users);
        let first = if first < users.len() { first } else { 0 };
        users.rotate_left(first);
        Round { users, again: VecDeque::new(), left: limit }
    }

    pub(crate) fn remember(&self, queue: &'static str, user: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(queue, user.to_owned());
    }
}

impl Round {
    /// The next user, and how many items may be taken from the queue of that user.
    pub(crate) fn next(&mut self) -> Option<(String, usize)> {
        if self.left == 0 {
            return None;
        }
        if self.users.is_empty() {
            std::mem::swap(&mut self.users, &mut self.again);
        }
        let share = self.left.div_ceil(self.users.len().max(1));
        Some((self.users.pop_front()?, share))
    }

    /// A user whose share was used up may get what the other users leave.
    pub(crate) fn took(&mut self, user: String, share: usize, n_taken: usize) {
        self.left = self.left.saturating_sub(n_taken);
        if n_taken >= share {
            self.again.push_back(user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many items each user gets in one round.
    fn divide(served: &Served, waiting: &mut HashMap<&str, usize>, limit: usize) -> Vec<(String, usize)> {
        let mut users: Vec<String> = waiting.keys().map(|user| (*user).to_owned()).collect();
        users.sort();
        let mut round = served.round("test", users, limit);
        let mut taken = vec![];
        while let Some((user, share)) = round.next() {
            let has = waiting.get_mut(user.as_str()).unwrap();
            let n_taken = share.min(*has);
            *has -= n_taken;
            served.remember("test", &user);
            taken.push((user.clone(), n_taken));
            round.took(user, share, n_taken);
        }
        taken
    }

    #[test]
    fn a_short_queue_gets_half_of_the_round_and_a_long_one_the_rest() {
        let taken = divide(&Served::default(), &mut [("ann", 50_000), ("bob", 10)].into(), 32);
        assert_eq!(taken, [("ann".to_owned(), 16), ("bob".to_owned(), 10), ("ann".to_owned(), 6)]);
    }

    #[test]
    fn single_items_alternate_between_users() {
        let (served, mut waiting) = (Served::default(), [("ann", 9), ("bob", 9), ("cem", 9)].into());
        let order: Vec<String> = (0..5).map(|_| divide(&served, &mut waiting, 1).remove(0).0).collect();
        assert_eq!(order, ["ann", "bob", "cem", "ann", "bob"]);
    }

    #[test]
    fn the_round_ends_when_no_work_is_left() {
        assert_eq!(divide(&Served::default(), &mut [("ann", 0), ("bob", 3)].into(), 32).len(), 2);
        assert!(divide(&Served::default(), &mut HashMap::new(), 32).is_empty());
    }
}

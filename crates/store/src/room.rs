//! How much one user can store, so that one user cannot fill the disk of all. What is in the trash counts.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use engine::UserId;

use super::{Store, StoreError};

/// What is counted, with its limit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Room {
    Tasks,
    Playlists,
    Tracks,
    OpenEntries,
}

impl Room {
    /// The rows, the limit, and what a user can do at the limit.
    fn of(self) -> (&'static str, i64, &'static str) {
        match self {
            Self::Tasks => (
                "SELECT COUNT(*) FROM (SELECT 1 FROM tasks WHERE user_id = $1 LIMIT $2) AS few",
                20_000,
                "You have 20,000 tasks, which is the limit. Delete some and empty the trash.",
            ),
            Self::Playlists => (
                "SELECT COUNT(*) FROM (SELECT 1 FROM playlists WHERE user_id = $1 AND erased_at IS NULL LIMIT $2) AS few",
                2000,
                "You have 2,000 playlists, which is the limit. Delete some and empty the trash.",
            ),
            Self::Tracks => (
                "SELECT COUNT(*) FROM (SELECT 1 FROM library_tracks WHERE user_id = $1 LIMIT $2) AS few",
                1_000_000,
                "Your library has 1,000,000 tracks, which is the limit.",
            ),
            Self::OpenEntries => (
                "SELECT COUNT(*) FROM (SELECT 1 FROM open_entries WHERE user_id = $1 LIMIT $2) AS few",
                400_000,
                "400,000 entries of your imports have no match, which is the limit. Dismiss or match some.",
            ),
        }
    }
}

impl Store {
    /// Refuses a user who has reached a limit. An import may go beyond it, by what one file holds.
    pub(crate) async fn check_room(&self, owner: &UserId, room: Room) -> Result<(), StoreError> {
        let (sql, most, why_not) = room.of();
        let (n_rows,): (i64,) = self.read(sql).bind(owner.as_str()).bind(most).fetch_one().await?;
        if n_rows >= most { Err(StoreError::Conflict(why_not)) } else { Ok(()) }
    }
}

/// How many conversations each user may begin before they are counted again. Counting reads all of them, so a user who has few
/// begins some without it.
#[derive(Default)]
pub(super) struct Uncounted(Mutex<HashMap<String, u32>>);

const MOST_USERS: usize = 1000;

impl Uncounted {
    /// Whether this one need not be counted.
    fn take(&self, owner: &UserId) -> bool {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.get_mut(owner.as_str()).and_then(|n| n.checked_sub(1).map(|less| *n = less)).is_some()
    }

    /// A quarter of what is left: four nodes that count at the same time stay within the limit.
    fn put(&self, owner: &UserId, n_left: u32) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if left.len() >= MOST_USERS {
            left.clear();
        }
        left.insert(owner.as_str().to_owned(), n_left / 4);
    }
}

impl Store {
    /// Refuses another conversation to a user who has `most`. 0: no limit.
    pub async fn check_conversations(&self, owner: &UserId, most: u32) -> Result<(), StoreError> {
        if most == 0 || self.uncounted.take(owner) {
            return Ok(());
        }
        const SQL: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM conversations WHERE user_id = $1 LIMIT $2) AS few";
        let (n_rows,): (i64,) = self.read(SQL).bind(owner.as_str()).bind(i64::from(most)).fetch_one().await?;
        let n_left = most.saturating_sub(u32::try_from(n_rows).unwrap_or(u32::MAX));
        if n_left == 0 {
            return Err(StoreError::Conflict(
                "You have as many conversations as this server allows. Delete some and empty the trash.",
            ));
        }
        self.uncounted.put(owner, n_left);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewTask;

    #[test]
    fn a_user_with_few_conversations_begins_a_quarter_of_the_rest_uncounted() {
        let (uncounted, ann, bob) = (Uncounted::default(), UserId::new("ann"), UserId::new("bob"));
        assert!(!uncounted.take(&ann), "nothing is known yet");
        uncounted.put(&ann, 11);
        assert_eq!([(); 4].map(|()| uncounted.take(&ann)), [true, true, false, false]);
        uncounted.put(&ann, 3);
        assert!(!uncounted.take(&ann) && !uncounted.take(&bob), "near the limit, each is counted");
    }

    #[tokio::test]
    async fn a_user_at_the_limit_of_tasks_can_add_none_and_another_user_can() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        const FILL: &str = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < $2)
            INSERT INTO tasks (id, user_id, title, description, completed, created_at, updated_at, position)
            SELECT randomblob(16), $1, 'x', '', FALSE, $3, $3, n FROM n";
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        store.write(FILL).bind(ann.as_str()).bind(19_999_i64).bind_now().execute().await.unwrap();
        let new = || NewTask { title: "the last", ..Default::default() };
        store.add_task(&ann, new(), None).await.unwrap();
        let refused = store.add_task(&ann, new(), None).await;
        assert!(matches!(refused, Err(StoreError::Conflict(why)) if why.contains("20,000")), "{refused:?}");
        store.add_task(&bob, new(), None).await.unwrap();
    }
}

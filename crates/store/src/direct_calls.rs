//! The journal rows of calls without a turn. They belong to no conversation that is deleted one day, so they expire.

use chrono::TimeDelta;

use super::{Store, StoreError};

const KEPT: TimeDelta = TimeDelta::days(30);
/// Of one user. The outcome of a search has up to 100 KB.
const MOST: i64 = 1000;

impl Store {
    /// Deletes the rows of direct calls that are old, and those of a user who has too many, oldest first.
    pub async fn forget_old_calls(&self) -> Result<(), StoreError> {
        const OLD: &str = "DELETE FROM tool_calls WHERE id IN (SELECT id FROM tool_calls
            WHERE message_id IS NULL AND created_at < $1 LIMIT 100)";
        const BUSY: &str = "SELECT user_id FROM tool_calls WHERE message_id IS NULL
            GROUP BY user_id HAVING COUNT(*) > $1";
        const SURPLUS: &str = "DELETE FROM tool_calls WHERE id IN (SELECT id FROM tool_calls
            WHERE message_id IS NULL AND user_id = $1 AND created_at < (SELECT created_at FROM tool_calls
                WHERE message_id IS NULL AND user_id = $1 ORDER BY created_at DESC LIMIT 1 OFFSET $2) LIMIT 100)";
        let before = self.clock.now() - KEPT;
        self.in_parts(OLD, |query| query.bind(before)).await?;
        let busy: Vec<(String,)> = self.read(BUSY).bind(MOST).fetch_all().await?;
        for (user,) in busy {
            self.in_parts(SURPLUS, |query| query.bind(&user).bind(MOST - 1)).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn journal_rows_of_direct_calls_expire_by_age_and_number() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        const FILL: &str = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < $2)
            INSERT INTO tool_calls (id, user_id, tool_name, title, parameters, status, created_at)
            SELECT randomblob(16), $1, 'list_tasks', 't', '{}', 'done', strftime('%Y-%m-%dT%H:%M:%fZ', $3, '+' || n || ' seconds')
            FROM n";
        const COUNT: &str = "SELECT COUNT(*) FROM tool_calls WHERE user_id = $1";
        for (user, n_calls) in [("ann", MOST + 150), ("bob", 5)] {
            store.write(FILL).bind(user).bind(n_calls).bind_now().execute().await.unwrap();
        }
        let count = async |user: &str| store.read(COUNT).bind(user).fetch_one::<(i64,)>().await.unwrap().0;
        store.forget_old_calls().await.unwrap();
        assert_eq!((count("ann").await, count("bob").await), (MOST, 5));
        store.advance_clock(KEPT - TimeDelta::hours(1));
        store.forget_old_calls().await.unwrap();
        assert_eq!((count("ann").await, count("bob").await), (MOST, 5));
        store.advance_clock(TimeDelta::hours(2));
        store.forget_old_calls().await.unwrap();
        assert_eq!((count("ann").await, count("bob").await), (0, 0));
    }
}

//! Attempts to sign in, counted in the database before a password is hashed, so that every node sees every guess.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Hash, Store, StoreError};

/// An attempt counts for this long after the first one of its window.
const WINDOW: TimeDelta = TimeDelta::minutes(15);

/// What attempts are counted by, and how many are allowed within a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptSubject {
    /// A hash: people type passwords into the field for the name.
    pub hash: Hash,
    pub limit: i64,
}

/// Reads first: an attempt that is refused anyway does not write, so a flood of them does not hold the writer.
const READ: &str = "SELECT n_attempts, since FROM sign_in_attempts WHERE subject = $1 AND since > $2";
const COUNT: &str = "INSERT INTO sign_in_attempts (subject, n_attempts, since) VALUES ($1, 1, $2)
    ON CONFLICT (subject) DO UPDATE SET
        n_attempts = CASE WHEN sign_in_attempts.since > $3 THEN sign_in_attempts.n_attempts + 1 ELSE 1 END,
        since = CASE WHEN sign_in_attempts.since > $3 THEN sign_in_attempts.since ELSE excluded.since END
    RETURNING n_attempts, since";

impl Store {
    /// Counts one attempt against every subject, or none: a refused attempt counts against no one. Returns how long to
    /// wait when one subject has used up its attempts.
    pub async fn count_attempt(&self, subjects: &[AttemptSubject]) -> Result<Option<TimeDelta>, StoreError> {
        let at = self.clock.now();
        let begin = at - WINDOW;
        let mut subjects: Vec<_> = subjects.iter().collect();
        // Two attempts lock the rows of their subjects in one order.
        subjects.sort_unstable_by_key(|subject| subject.hash);
        for subject in &subjects {
            let row: Option<(i64, DateTime<Utc>)> =
                self.read(READ).bind(&subject.hash[..]).bind(begin).fetch_optional().await?;
            if let Some((_, since)) = row.filter(|(n, _)| *n >= subject.limit) {
                return Ok(Some(since + WINDOW - at));
            }
        }
        let mut tx = self.begin().await?;
        for subject in &subjects {
            let (n, since): (i64, DateTime<Utc>) =
                tx.query(COUNT).bind(&subject.hash[..]).bind(at).bind(begin).fetch_one().await?;
            if n > subject.limit {
                return Ok(Some(since + WINDOW - at));
            }
        }
        tx.commit().await?;
        Ok(None)
    }

    /// Takes one attempt back from every subject: it was no wrong guess.
    pub async fn take_attempt_back(&self, subjects: &[AttemptSubject]) -> Result<(), StoreError> {
        const SQL: &str =
            "UPDATE sign_in_attempts SET n_attempts = n_attempts - 1 WHERE subject = $1 AND n_attempts > 0";
        let mut subjects: Vec<_> = subjects.iter().collect();
        subjects.sort_unstable_by_key(|subject| subject.hash);
        let mut tx = self.begin().await?;
        for subject in subjects {
            tx.query(SQL).bind(&subject.hash[..]).execute().await?;
        }
        tx.commit().await
    }

    /// Forgets what was counted against a subject.
    pub async fn forget_attempts(&self, subject: &AttemptSubject) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM sign_in_attempts WHERE subject = $1";
        self.write(SQL).bind(&subject.hash[..]).execute().await?;
        Ok(())
    }

    /// Deletes windows that are over.
    pub(crate) async fn forget_old_attempts(&self) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM sign_in_attempts WHERE since <= $1";
        self.write(SQL).bind(self.clock.now() - WINDOW).execute().await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(n: u8, limit: i64) -> AttemptSubject {
        AttemptSubject { hash: [n; 32], limit }
    }

    #[tokio::test]
    async fn a_subject_waits_after_its_last_attempt_until_its_window_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let (ann, everyone) = (subject(1, 2), subject(2, 100));
        let both = [ann.clone(), everyone.clone()];
        for _ in 0..2 {
            assert_eq!(store.count_attempt(&both).await.unwrap(), None);
        }
        for _ in 0..200 {
            assert!(store.count_attempt(&both).await.unwrap().is_some());
        }
        assert_eq!(store.count_attempt(&[everyone]).await.unwrap(), None, "refused attempts count against no one");
        store.take_attempt_back(&both).await.unwrap();
        assert_eq!(store.count_attempt(&both).await.unwrap(), None);
        store.advance_clock(WINDOW);
        store.forget_old_attempts().await.unwrap();
        for _ in 0..2 {
            assert_eq!(store.count_attempt(&both).await.unwrap(), None);
        }
    }

    #[tokio::test]
    async fn flooding_other_subjects_resets_none() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite:{}", folder.path().join("t.db").display()), 2).await.unwrap();
        let ann = [subject(1, 1)];
        assert_eq!(store.count_attempt(&ann).await.unwrap(), None);
        for n in 2..=255 {
            assert_eq!(store.count_attempt(&[subject(n, 1)]).await.unwrap(), None);
        }
        assert!(store.count_attempt(&ann).await.unwrap().is_some());
    }
}

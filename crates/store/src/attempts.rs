//! Sign-in attempts. The database counts them before a password is hashed, so that every node sees every attempt.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Hash, Store, StoreError};

/// How long an attempt counts, from the first attempt of its window.
const WINDOW: TimeDelta = TimeDelta::minutes(15);

/// A subject that attempts are counted for, and how many attempts a window allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptSubject {
    /// A hash, because users sometimes type a password into the name field.
    pub hash: Hash,
    pub limit: i64,
}

/// Reads first: an attempt that is rejected anyway writes nothing, so a flood of attempts does not block the writer.
const READ: &str = "SELECT n_attempts, since FROM sign_in_attempts WHERE subject = $1 AND since > $2";
const COUNT: &str = "INSERT INTO sign_in_attempts (subject, n_attempts, since) VALUES ($1, 1, $2)
    ON CONFLICT (subject) DO UPDATE SET
        n_attempts = CASE WHEN sign_in_attempts.since > $3 THEN sign_in_attempts.n_attempts + 1 ELSE 1 END,
        since = CASE WHEN sign_in_attempts.since > $3 THEN sign_in_attempts.since ELSE excluded.since END
    RETURNING n_attempts, since";

impl Store {
    /// Counts one attempt for every subject, or for none: a rejected attempt is not counted. Returns how long to wait
    /// if a subject has used up its attempts.
    pub async fn count_attempt(&self, subjects: &[AttemptSubject]) -> Result<Option<TimeDelta>, StoreError> {
        let at = self.clock.now();
        let begin = at - WINDOW;
        let mut subjects: Vec<_> = subjects.iter().collect();
        // All attempts lock the rows of their subjects in the same order, so that they cannot deadlock.
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

    /// Subtracts one attempt from every subject, because it was not a wrong guess.
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

    /// Deletes the count of a subject.
    pub async fn forget_attempts(&self, subject: &AttemptSubject) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM sign_in_attempts WHERE subject = $1";
        self.write(SQL).bind(&subject.hash[..]).execute().await?;
        Ok(())
    }

    /// Deletes expired windows.
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
    async fn a_subject_without_attempts_left_waits_until_its_window_ends() {
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
        assert_eq!(store.count_attempt(&[everyone]).await.unwrap(), None, "rejected attempts are not counted");
        store.take_attempt_back(&both).await.unwrap();
        assert_eq!(store.count_attempt(&both).await.unwrap(), None);
        store.advance_clock(WINDOW);
        store.forget_old_attempts().await.unwrap();
        for _ in 0..2 {
            assert_eq!(store.count_attempt(&both).await.unwrap(), None);
        }
    }

    #[tokio::test]
    async fn attempts_for_other_subjects_do_not_reset_a_count() {
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

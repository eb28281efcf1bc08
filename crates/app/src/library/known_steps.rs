//! The progress of a user's tracks. It is counted again only after a change.
//!
//! Counting reads every step of the user's tracks, which takes most of a second for a hundred thousand. A page asks
//! twice a second.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use engine::UserId;

use super::Library;
use crate::{
    Error,
    enrich::{Progress, progress},
};

/// A step that another node claims changes no document. Such changes are visible after this time.
const KEEPS: Duration = Duration::from_secs(5);
const MOST_USERS: usize = 1_000;

/// The counts, and the state for which they are valid: the news of this process and the revision of the documents.
struct Counted {
    at: Instant,
    of: (u64, i64),
    steps: Progress,
}

#[derive(Default)]
pub(crate) struct KnownSteps(Mutex<HashMap<UserId, Counted>>);

impl KnownSteps {
    fn get(&self, owner: &UserId, of: (u64, i64)) -> Option<Progress> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(owner).filter(|known| known.of == of && known.at.elapsed() < KEEPS).map(|known| known.steps.clone())
    }

    fn put(&self, owner: &UserId, of: (u64, i64), steps: Progress) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_USERS {
            known.clear();
        }
        known.insert(owner.clone(), Counted { at: Instant::now(), of, steps });
    }
}

impl Library {
    pub(super) async fn steps_of(&self, owner: &UserId) -> Result<Progress, Error> {
        // Read before counting, so that a concurrent change is counted next time.
        let news = *self.pipeline.news().borrow();
        let of = (news, self.store.track_revision().await?);
        if let Some(steps) = self.known_steps.get(owner, of) {
            return Ok(steps);
        }
        let steps = progress(&self.store.step_counts_of(owner).await?);
        self.known_steps.put(owner, of, steps.clone());
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enrich::{Step, StepProgress};

    #[test]
    fn counts_are_kept_until_a_change_and_for_their_user_only() {
        let (known, ann, bob) = (KnownSteps::default(), UserId::new("ann"), UserId::new("bob"));
        let steps: Progress = [(Step::Index, StepProgress { done: 3, ..StepProgress::default() })].into();
        known.put(&ann, (1, 7), steps.clone());
        assert_eq!(known.get(&ann, (1, 7)), Some(steps));
        assert_eq!(known.get(&bob, (1, 7)), None);
        assert_eq!(
            (known.get(&ann, (2, 7)), known.get(&ann, (1, 8))),
            (None, None),
            "counts are invalid after news and after a new revision"
        );
    }
}

//! The progress of a user's tracks. It is counted again only after a change.
//!
//! Counting reads every step of the user's tracks, which takes most of a second for a hundred thousand. A page asks
//! twice a second. For a large library the last counts are the answer, and they are counted again in the background.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use engine::UserId;
use tokio_util::task::TaskTracker;

use super::Library;
use crate::{
    Error,
    enrich::{EnrichProgress, StepProgress, progress},
};

/// A step that another node claims changes no document. Such changes are visible after this time.
const KEEPS: Duration = Duration::from_secs(5);
/// Older counts are not shown.
const MOST_OLD: Duration = Duration::from_secs(60);
const MOST_USERS: usize = 1_000;
/// Up to this number of steps, a request waits for the counts: 1,000 tracks, about 8 ms.
const FEW_STEPS: u64 = 4_000;

/// The counts, and the state for which they are valid: the news of this process and the revision of the documents.
struct Counted {
    at: Instant,
    took: Duration,
    of: (u64, i64),
    steps: EnrichProgress,
    is_counting: bool,
}

impl Counted {
    fn is_valid(&self, of: (u64, i64)) -> bool {
        self.of == of && self.at.elapsed() < KEEPS
    }

    fn is_of_many(&self) -> bool {
        self.steps.values().map(StepProgress::all).sum::<u64>() > FEW_STEPS
    }
}

enum Known {
    Valid(EnrichProgress),
    /// The last counts of a large library, and whether the caller must count again.
    Last(EnrichProgress, bool),
    Nothing,
}

pub(crate) struct KnownSteps {
    counted: Mutex<HashMap<UserId, Counted>>,
    tasks: TaskTracker,
}

impl KnownSteps {
    pub(crate) fn new(tasks: TaskTracker) -> Self {
        Self { counted: Mutex::default(), tasks }
    }

    fn get(&self, owner: &UserId, of: (u64, i64)) -> Known {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        match counted.get_mut(owner) {
            Some(known) if known.is_valid(of) => Known::Valid(known.steps.clone()),
            Some(known) if known.is_of_many() && known.at.elapsed() < MOST_OLD => {
                // Counting takes a fifth of the time of one connection at most.
                let is_due = !known.is_counting && known.at.elapsed() > 4 * known.took;
                known.is_counting |= is_due;
                Known::Last(known.steps.clone(), is_due)
            }
            _ => Known::Nothing,
        }
    }

    fn put(&self, owner: &UserId, of: (u64, i64), steps: EnrichProgress, took: Duration) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= MOST_USERS {
            counted.clear();
        }
        counted.insert(owner.clone(), Counted { at: Instant::now(), took, of, steps, is_counting: false });
    }

    /// The next request counts itself.
    fn forget(&self, owner: &UserId) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).remove(owner);
    }
}

impl Library {
    pub(super) async fn steps_of(&self, owner: &UserId) -> Result<EnrichProgress, Error> {
        // Read before counting, so that a concurrent change is counted next time.
        let news = *self.pipeline.news().borrow();
        let of = (news, self.store.track_revision().await?);
        match self.known_steps.get(owner, of) {
            Known::Valid(steps) | Known::Last(steps, false) => Ok(steps),
            Known::Last(steps, true) => {
                let (library, owner) = (self.clone(), owner.clone());
                self.known_steps.tasks.spawn(async move {
                    if let Err(error) = library.count_steps(&owner, of).await {
                        tracing::warn!(%error, "the progress of a library was not counted");
                        library.known_steps.forget(&owner);
                    }
                });
                Ok(steps)
            }
            Known::Nothing => self.count_steps(owner, of).await,
        }
    }

    async fn count_steps(&self, owner: &UserId, of: (u64, i64)) -> Result<EnrichProgress, Error> {
        let began = Instant::now();
        let steps = progress(&self.store.step_counts_of(owner).await?);
        self.known_steps.put(owner, of, steps.clone(), began.elapsed());
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enrich::Step;

    fn steps(n_done: u64) -> EnrichProgress {
        [(Step::Index, StepProgress { done: n_done, ..StepProgress::default() })].into()
    }

    #[test]
    fn counts_are_kept_until_a_change_and_for_their_user_only() {
        let known = KnownSteps::new(TaskTracker::new());
        let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
        known.put(&ann, (1, 7), steps(3), Duration::ZERO);
        assert!(matches!(known.get(&ann, (1, 7)), Known::Valid(found) if found == steps(3)));
        assert!(matches!(known.get(&bob, (1, 7)), Known::Nothing));
        for of in [(2, 7), (1, 8)] {
            assert!(matches!(known.get(&ann, of), Known::Nothing), "counts are invalid after news and a new revision");
        }
    }

    #[test]
    fn the_last_counts_of_a_large_library_are_shown_while_one_request_counts_again() {
        let (known, ann) = (KnownSteps::new(TaskTracker::new()), UserId::new("ann"));
        known.put(&ann, (1, 7), steps(100_000), Duration::ZERO);
        assert!(matches!(known.get(&ann, (2, 7)), Known::Last(found, true) if found == steps(100_000)));
        assert!(matches!(known.get(&ann, (3, 7)), Known::Last(_, false)), "it is being counted");
        known.put(&ann, (2, 7), steps(100_001), Duration::from_secs(10));
        assert!(matches!(known.get(&ann, (3, 7)), Known::Last(_, false)), "it was counted, and that took long");
        assert!(matches!(known.get(&ann, (2, 7)), Known::Valid(found) if found == steps(100_001)));
    }
}

//! Group commits: the unsaved events of all turns of this node are saved together.

use std::time::Duration;

use engine::mutants::{Mutant, planted};
use store::{Durability, StoreError};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{Turns, pause};

/// The minimum time between two group commits: events that arrive meanwhile are part of the next one.
const SAVE_EVERY: Duration = Duration::from_millis(8);
/// The delay after a failed save.
const SAVE_AGAIN_AFTER: Duration = Duration::from_millis(100);

impl Turns {
    /// Saves unsaved events, all turns in one commit, until the process ends.
    pub(crate) async fn keep_saving(&self, shutdown: CancellationToken) {
        loop {
            tokio::select! {
                biased;
                () = self.has_unsaved.notified() => {}
                () = shutdown.cancelled() => return,
            }
            let wait = match self.save_all().await {
                Ok(()) => SAVE_EVERY,
                Err(error) => {
                    warn!("The turn log could not be saved, trying again: {error}");
                    self.has_unsaved.notify_one();
                    SAVE_AGAIN_AFTER
                }
            };
            if !pause(wait, &shutdown).await {
                return;
            }
        }
    }

    async fn save_all(&self) -> Result<(), StoreError> {
        let turns = self.all();
        let (mut saving, mut saves) = (Vec::new(), Vec::new());
        for turn in &turns {
            match turn.try_save() {
                Ok(Some((saved, save))) => {
                    saving.push((turn, saved));
                    saves.push(save);
                }
                Ok(None) => {}
                // Its journal is saving it, and may have read the log before the newest event.
                Err(()) => self.has_unsaved.notify_one(),
            }
        }
        if saves.is_empty() {
            return Ok(());
        }
        let is_only_text = saving.iter().zip(&saves).all(|((turn, _), save)| turn.is_only_text(save));
        let durability = if is_only_text { Durability::Process } else { Durability::Power };
        let outcomes = match self.store.save_events(&saves, durability).await {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            // One by one, so that a turn that cannot be saved does not prevent the others.
            Err(error) if saves.len() == 1 || planted(Mutant::GroupFailsTogether) => return Err(error),
            Err(_) => self.save_each(&saves, durability).await,
        };
        let mut failed = None;
        for (((turn, mut saved), save), outcome) in saving.into_iter().zip(&saves).zip(outcomes) {
            match outcome {
                Ok(outcome) => {
                    if turn.note(&mut saved, save, Some(outcome)) && outcome != store::Saved::Done {
                        self.has_unsaved.notify_one();
                    }
                }
                Err(error) => failed = Some(error),
            }
            drop(saved);
            if turn.unsaved().is_none_or(|(n, _)| n > 0) {
                self.has_unsaved.notify_one();
            }
        }
        failed.map_or(Ok(()), Err)
    }

    async fn save_each(&self, saves: &[store::Save], durability: Durability) -> Vec<Result<store::Saved, StoreError>> {
        let mut outcomes = Vec::with_capacity(saves.len());
        for save in saves {
            let saved = self.store.save_events(std::slice::from_ref(save), durability).await;
            outcomes.push(saved.map(|outcomes| outcomes.first().copied().unwrap_or(store::Saved::Lost)));
        }
        outcomes
    }
}

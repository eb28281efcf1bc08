//! Workers: each claims steps of one kind, runs them and stores their outcomes, with a concurrency that suits the
//! source.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{Describer, Pipeline, features, lyrics};
use http_client::service::SourceError;
use music::DocumentId;
use sources::reccobeats;
use store::{Claimed, Ending, LEASE, Step, StoreError};

/// Other nodes schedule steps and leases expire without a notice, so the table is read at this interval.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Shorter than the lease; otherwise another node would run the step a second time.
const LONGEST_TRY: Duration = Duration::from_secs(LEASE.as_secs() - 20);

/// The number of attempts for a step whose source fails. After that a user must act.
const MOST_TRIES: u32 = 5;

const KEEP_AGAIN_AFTER: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];

/// From this pause on, a source counts as unavailable, and tracks continue without it.
const AWAY: Duration = Duration::from_secs(60);

/// How many steps are claimed at once, and how many of them run concurrently.
struct Load {
    at_once: usize,
    side_by_side: usize,
}

/// Steps that are run for one track at a time.
#[derive(Clone, Copy)]
enum Single {
    Lyrics,
    Describe,
}

impl Single {
    fn step(self) -> Step {
        match self {
            Self::Lyrics => Step::Lyrics,
            Self::Describe => Step::Describe,
        }
    }
}

fn load(step: Step, describer: &Describer) -> Load {
    match step {
        Step::Lyrics => Load { at_once: 32, side_by_side: 8 },
        Step::Features => Load { at_once: reccobeats::BATCH, side_by_side: 1 },
        Step::Describe if describer.is_local() => Load { at_once: 1, side_by_side: 1 },
        Step::Describe if describer.has_model() => Load { at_once: 8, side_by_side: 4 },
        Step::Describe => Load { at_once: 128, side_by_side: 128 },
        Step::Index => Load { at_once: 256, side_by_side: 1 },
    }
}

impl Pipeline {
    /// Runs every step of one kind that is due, until `ended`.
    pub(super) async fn work(self: Arc<Self>, step: Step, ended: CancellationToken) {
        let mut news = self.news.subscribe();
        loop {
            news.borrow_and_update();
            let worked = tokio::select! {
                () = ended.cancelled() => return,
                worked = self.work_once(step) => worked,
            };
            let pause = match worked {
                Ok(Some(pause)) => pause,
                Ok(None) => continue,
                Err(error) => {
                    warn!("Enrichment steps cannot be read or stored, trying again: {error}");
                    self.give_back(step).await;
                    LOOK_EVERY
                }
            };
            tokio::select! {
                () = ended.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
                // If a source asked for a pause, news does not shorten it.
                _ = news.changed(), if pause <= LOOK_EVERY => {}
            }
        }
    }

    /// Runs one batch. Returns how long to wait before the next, if at all.
    async fn work_once(&self, step: Step) -> Result<Option<Duration>, StoreError> {
        if step == Step::Describe && !self.describer.may_work() {
            return Ok(Some(LOOK_EVERY));
        }
        let load = load(step, &self.describer);
        let claimed = self.store.claim_steps(step, &self.node, load.at_once).await?;
        if claimed.is_empty() {
            return Ok(Some(LOOK_EVERY));
        }
        debug!("{}: {} tracks", step.name(), claimed.len());
        let away = match step {
            Step::Lyrics => self.one_by_one(Single::Lyrics, claimed, load.side_by_side).await?,
            Step::Describe => self.one_by_one(Single::Describe, claimed, load.side_by_side).await?,
            Step::Features => self.all_at_once(step, claimed).await?,
            Step::Index => {
                let ids: Vec<DocumentId> = claimed.into_iter().map(|claimed| claimed.id).collect();
                self.store.put_in_index(&self.node, &ids).await?;
                self.put.notify_one();
                self.counters.count_done(step, ids.len());
                None
            }
        };
        self.tell();
        let Some((wait, why)) = away else { return Ok(None) };
        if wait > AWAY {
            self.store.go_on_without(step, wait, &why).await?;
            self.tell();
        }
        Ok(Some(wait))
    }

    async fn one_by_one(
        &self,
        single: Single,
        claimed: Vec<Claimed>,
        side_by_side: usize,
    ) -> Result<Option<(Duration, String)>, StoreError> {
        let tries = stream::iter(claimed).map(|claimed| async move {
            let tried = async {
                match single {
                    Single::Lyrics => lyrics::find(self.sources.lrclib.as_deref(), &claimed).await,
                    Single::Describe => self.describer.describe(&claimed).await,
                }
            };
            (claimed.id, within_the_lease(tried, claimed.tries).await)
        });
        // Outcomes that are ready together are stored together; a ready outcome does not wait for others.
        let mut ready = std::pin::pin!(tries.buffer_unordered(side_by_side).ready_chunks(side_by_side));
        let mut away = None;
        while let Some(endings) = ready.next().await {
            away = self.settle(single.step(), endings).await?.or(away);
        }
        Ok(away)
    }

    async fn all_at_once(&self, step: Step, claimed: Vec<Claimed>) -> Result<Option<(Duration, String)>, StoreError> {
        let tried = features::find(self.sources.reccobeats.as_deref(), &claimed);
        let endings = match tokio::time::timeout(LONGEST_TRY, tried).await {
            Ok(endings) => endings,
            Err(_) => claimed.iter().map(|claimed| took_too_long(claimed.tries)).collect(),
        };
        let ids = claimed.into_iter().map(|claimed| claimed.id);
        self.settle(step, ids.zip(endings).collect()).await
    }

    /// Stores outcomes. Returns the pause that the source asked for, if any.
    async fn settle(
        &self,
        step: Step,
        endings: Vec<(DocumentId, Ending)>,
    ) -> Result<Option<(Duration, String)>, StoreError> {
        let away = endings.iter().find_map(|(_, ending)| match ending {
            Ending::Later { wait, counts: false, error } => Some((*wait, error.clone())),
            Ending::Later { .. } | Ending::Done { .. } | Ending::Off | Ending::Failed { .. } => None,
        });
        endings.iter().for_each(|(_, ending)| self.counters.count(step, ending));
        self.keep(step, endings).await?;
        self.tell();
        Ok(away)
    }

    /// Retries if the database is busy, because the answers of the source must not be lost.
    async fn keep(&self, step: Step, endings: Vec<(DocumentId, Ending)>) -> Result<(), StoreError> {
        for wait in KEEP_AGAIN_AFTER {
            match self.store.settle_steps(step, &self.node, endings.clone()).await {
                Err(StoreError::Database(error)) => warn!("Results of {} are not stored yet: {error}", step.name()),
                settled => return settled,
            }
            tokio::time::sleep(wait).await;
        }
        self.store.settle_steps(step, &self.node, endings).await
    }

    /// Releases the steps that could not be stored. If that fails too, their leases expire.
    async fn give_back(&self, step: Step) {
        if let Err(error) = self.store.give_back(step, &self.node).await {
            warn!("Enrichment steps could not be released; their leases expire later: {error}");
        }
    }
}

async fn within_the_lease(tried: impl Future<Output = Ending>, tries: u32) -> Ending {
    tokio::time::timeout(LONGEST_TRY, tried).await.unwrap_or_else(|_| took_too_long(tries))
}

fn took_too_long(tries: u32) -> Ending {
    again_or_failed(format!("it took longer than {} s", LONGEST_TRY.as_secs()), tries)
}

pub(super) fn done(result: &impl Serialize, version: &str) -> Ending {
    match serde_json::to_value(result) {
        Ok(result) => Ending::Done { result, version: version.to_owned() },
        Err(error) => Ending::Failed { error: format!("the result cannot be stored: {error}") },
    }
}

/// The outcome of a failed request to a source.
pub(super) fn ending_of(error: SourceError, tries: u32) -> Ending {
    match (&error, error.retry_after()) {
        (SourceError::Unavailable { .. }, Some(wait)) => {
            Ending::Later { wait, counts: false, error: error.to_string() }
        }
        (SourceError::Unavailable { .. }, None) => again_or_failed(error.to_string(), tries),
        (SourceError::Refused { .. } | SourceError::Broken { .. }, _) => Ending::Failed { error: error.to_string() },
    }
}

pub(super) fn again_or_failed(error: String, tries: u32) -> Ending {
    if tries >= MOST_TRIES {
        return Ending::Failed { error: format!("{error} (tried {tries} times)") };
    }
    Ending::Later { wait: Duration::from_secs(5 << (2 * tries.saturating_sub(1))), counts: true, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_of_a_failing_source_get_rarer_and_then_end() {
        let wait = |tries| match again_or_failed("503".into(), tries) {
            Ending::Later { wait, counts: true, .. } => Some(wait.as_secs()),
            _ => None,
        };
        assert_eq!((1..=5).map(wait).collect::<Vec<_>>(), [Some(5), Some(20), Some(80), Some(320), None]);
        let busy = SourceError::Unavailable {
            service: "Test",
            reason: "429".into(),
            retry_after: Some(Duration::from_secs(7)),
        };
        let expected = Ending::Later { wait: Duration::from_secs(7), counts: false, error: busy.to_string() };
        assert_eq!(ending_of(busy, 5), expected, "a pause that the source asks for is not a failure of the track");
    }
}

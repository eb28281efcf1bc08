//! The journal: a row before a call runs, its outcome after it, each written until it is stored or the time is over.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{Call, Failure, Outcome};

/// The record of all calls: a row before a call runs, its outcome after it. A tool's effect and its row commit together,
/// so the row says whether the effect happened.
pub trait Journal: Send + Sync {
    /// Adds the row of a call before its tool runs. `title` is the tool's name for users. Idempotent.
    fn begin<'a>(&'a self, call: &'a Call, title: &'a str) -> BoxFuture<'a, Result<(), JournalError>>;
    /// Records the outcome and returns the recorded one: if an effect was committed before an interruption, the call is
    /// recorded as done. Idempotent.
    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>>;
    /// Records a call that was refused before it ran.
    fn refuse<'a>(
        &'a self,
        call: &'a Call,
        title: &'a str,
        failure: &'a Failure,
    ) -> BoxFuture<'a, Result<(), JournalError>>;
    /// How long failed writes are retried.
    fn retry_for(&self) -> Duration {
        Duration::ZERO
    }
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal cannot be written, so no tool may run. A later attempt may succeed.
    #[error("the journal cannot be written: {0}")]
    Unwritable(anyhow::Error),
    /// Another node holds the lease of the turn, so this node may not store anything for it.
    #[error("another node has taken the turn over")]
    LeaseLost,
}

/// A journal that records nothing, for tests and for tools without effects.
pub struct NoJournal;

impl Journal for NoJournal {
    fn begin<'a>(&'a self, _: &'a Call, _: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async { Ok(()) })
    }
    fn finish<'a>(&'a self, _: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        Box::pin(async { Ok(outcome) })
    }
    fn refuse<'a>(&'a self, _: &'a Call, _: &'a str, _: &'a Failure) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async { Ok(()) })
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Minimum number of attempts, even after the time limit: a node that was paused has spent the time without trying.
const MIN_ATTEMPTS: u32 = 3;

/// Records the outcome of a call. The effect may be committed, so a stop does not end the attempts.
pub(crate) async fn close(journal: &dyn Journal, call: &Call, outcome: Outcome) -> Result<Outcome, JournalError> {
    let never = CancellationToken::new();
    let written = with_retries(journal, &never, || journal.finish(call, outcome.clone())).await?;
    Ok(written.unwrap_or(outcome))
}

/// Retries a write to the journal until its time limit. `None` if the turn was stopped before the write succeeded.
pub(crate) async fn with_retries<'a, T>(
    journal: &dyn Journal,
    cancel: &CancellationToken,
    write: impl Fn() -> BoxFuture<'a, Result<T, JournalError>>,
) -> Result<Option<T>, JournalError> {
    let given_up = tokio::time::Instant::now() + journal.retry_for();
    let (mut pause, mut n_tries) = (FIRST_PAUSE, 0);
    loop {
        let outcome = write().await;
        n_tries += 1;
        let tries_again = !journal.retry_for().is_zero()
            && (n_tries < MIN_ATTEMPTS || tokio::time::Instant::now() + pause < given_up);
        match outcome {
            Ok(written) => return Ok(Some(written)),
            Err(JournalError::Unwritable(error)) if tries_again => {
                warn!("The journal cannot be written; retrying: {error:#}");
            }
            Err(error) => return Err(error),
        }
        if cancel.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
            return Ok(None);
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

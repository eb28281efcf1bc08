//! The journals that tools are called with: of a turn, fenced by its lease, and of calls that no turn makes.

use std::time::Duration;

use engine::{Call, Failure, Journal, JournalError, Outcome};
use futures::future::BoxFuture;
use store::{NO_TURN, Store, TurnStore};

use crate::turns::{LiveTurn, SaveError};

/// A journal that cannot be written is tried for this long. Then the lease of the turn has run out.
const PATIENCE: Duration = Duration::from_secs(10);

/// The journal alone, for calls that no turn made.
pub(crate) struct StoreJournal<'a>(pub(crate) &'a Store);

impl Journal for StoreJournal<'_> {
    fn begin<'a>(&'a self, call: &'a Call, title: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move { self.0.begin_call(call, title, NO_TURN).await.map_err(unwritable) })
    }

    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        Box::pin(async move { self.0.finish_call(call.id, NO_TURN, outcome).await.map_err(unwritable) })
    }

    fn refuse<'a>(&'a self, call: &'a Call, failure: &'a Failure) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move { self.0.refuse_call(call, failure).await.map_err(unwritable) })
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }
}

/// The journal of a turn: events that led to a call are saved before the call is.
pub(crate) struct TurnJournal<'a> {
    pub(crate) store: &'a dyn TurnStore,
    pub(crate) live: &'a LiveTurn,
}

impl TurnJournal<'_> {
    /// Saving the log checks the lease.
    async fn save(&self) -> Result<(), JournalError> {
        self.live.save(self.store).await.map_err(|error| match error {
            SaveError::LeaseLost => JournalError::LeaseLost,
            SaveError::Store(error) => unwritable(error),
        })
    }
}

impl Journal for TurnJournal<'_> {
    fn begin<'a>(&'a self, call: &'a Call, title: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            self.save().await?;
            self.store.begin_call(call, title, self.live.token).await.map_err(unwritable)
        })
    }

    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        Box::pin(async move { self.store.finish_call(call.id, self.live.token, outcome).await.map_err(unwritable) })
    }

    fn refuse<'a>(&'a self, call: &'a Call, failure: &'a Failure) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            self.save().await?;
            self.store.refuse_call(call, failure).await.map_err(unwritable)
        })
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }
}

fn unwritable(error: store::StoreError) -> JournalError {
    JournalError::Unwritable(error.into())
}

//! The journals of tool calls: of a turn, fenced by its lease, and of calls without a turn.

use std::time::Duration;

use engine::{Call, Failure, Journal, JournalError, Outcome};
use futures::future::BoxFuture;
use store::{NO_TURN, Store, TurnStore};

use crate::turns::{LiveTurn, SaveError};

/// How long a write to the journal is retried. After that the lease of the turn has expired.
const RETRY_FOR: Duration = Duration::from_secs(10);

/// The journal for calls without a turn.
pub(crate) struct StoreJournal<'a>(pub(crate) &'a Store);

impl Journal for StoreJournal<'_> {
    fn begin<'a>(&'a self, call: &'a Call, title: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move { self.0.begin_call(call, title, NO_TURN).await.map(drop).map_err(unwritable) })
    }

    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        Box::pin(async move { self.0.finish_call(call.id, NO_TURN, outcome).await.map_err(unwritable) })
    }

    fn refuse<'a>(
        &'a self,
        call: &'a Call,
        title: &'a str,
        failure: &'a Failure,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move { self.0.refuse_call(call, title, failure, NO_TURN).await.map_err(unwritable) })
    }

    fn retry_for(&self) -> Duration {
        RETRY_FOR
    }
}

/// The journal of a turn: the events before a call are saved before the call.
pub(crate) struct TurnJournal<'a> {
    pub(crate) store: &'a dyn TurnStore,
    pub(crate) live: &'a LiveTurn,
}

impl TurnJournal<'_> {
    /// Saving the log checks the lease.
    async fn save(&self) -> Result<(), JournalError> {
        self.live.save(self.store).await.map_err(not_saved)
    }
}

impl Journal for TurnJournal<'_> {
    fn begin<'a>(&'a self, call: &'a Call, title: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move { self.live.begin_call(self.store, call, title).await.map_err(not_saved) })
    }

    fn finish<'a>(&'a self, call: &'a Call, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, JournalError>> {
        Box::pin(async move { self.store.finish_call(call.id, self.live.token, outcome).await.map_err(unwritable) })
    }

    fn refuse<'a>(
        &'a self,
        call: &'a Call,
        title: &'a str,
        failure: &'a Failure,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            self.save().await?;
            self.store.refuse_call(call, title, failure, self.live.token).await.map_err(unwritable)
        })
    }

    fn retry_for(&self) -> Duration {
        RETRY_FOR
    }
}

fn not_saved(error: SaveError) -> JournalError {
    match error {
        SaveError::LeaseLost => JournalError::LeaseLost,
        SaveError::Store(error) => unwritable(error),
    }
}

fn unwritable(error: store::StoreError) -> JournalError {
    JournalError::Unwritable(error.into())
}

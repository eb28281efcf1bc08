//! The queue of uploads and imports: a few per user, a few at once on this node, first in, first out.

use std::{num::NonZeroUsize, sync::Arc};

use engine::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    error::ApiError,
    open_requests::{OpenRequests, Place},
};

/// Per user: uploading, waiting or running. The number is small so that the queue stays fair between users.
const PER_USER: Option<NonZeroUsize> = NonZeroUsize::new(2);
/// How many imports run on this node at once.
const AT_ONCE: usize = 2;

pub(crate) struct ImportQueue {
    users: OpenRequests<UserId>,
    running: Arc<Semaphore>,
}

/// A place in the queue, from the first byte of the upload to the end of the import.
pub(crate) struct ImportPlace {
    _user: Place<UserId>,
    running: Arc<Semaphore>,
}

impl ImportQueue {
    pub(crate) fn new() -> Self {
        Self { users: OpenRequests::up_to(PER_USER), running: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    pub(crate) fn enter(&self, user: &UserId) -> Result<ImportPlace, ApiError> {
        let too_many =
            || ApiError::rate_limited("Your earlier imports are still running. Please wait until one has ended.", 5);
        let user = self.users.try_enter(user).ok_or_else(too_many)?;
        Ok(ImportPlace { _user: user, running: self.running.clone() })
    }
}

impl ImportPlace {
    /// Waits until this import may run. The semaphore is fair.
    pub(crate) async fn turn(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        self.running.clone().acquire_owned().await.map_err(|_| ApiError::internal())
    }
}

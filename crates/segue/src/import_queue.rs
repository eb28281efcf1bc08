//! The queue of uploads and imports: a few per user, one running per user, a few running on this node, first in, first out.

use std::{num::NonZeroUsize, sync::Arc};

use app::per_user::{self, PerUser};
use engine::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    error::ApiError,
    open_requests::{OpenRequests, Place},
};

/// Per user: uploading, waiting or running.
const PER_USER: Option<NonZeroUsize> = NonZeroUsize::new(2);
/// Per user: running. Fewer than on the node, so that one user cannot have all places of it.
const RUNNING_PER_USER: Option<NonZeroUsize> = NonZeroUsize::new(1);
/// How many imports run on this node at once.
const RUNNING: usize = 2;

pub(crate) struct ImportQueue {
    users: OpenRequests<UserId>,
    running: Arc<Running>,
}

struct Running {
    of_user: PerUser,
    of_node: Arc<Semaphore>,
}

/// A place in the queue, from the first byte of the upload to the end of the import.
pub(crate) struct ImportPlace {
    user: Place<UserId>,
    running: Arc<Running>,
}

/// The right to run. The import runs until this is dropped.
pub(crate) struct ImportTurn {
    _of_user: per_user::Place,
    _of_node: OwnedSemaphorePermit,
}

impl ImportQueue {
    pub(crate) fn new() -> Self {
        let of_node = Arc::new(Semaphore::new(RUNNING));
        let running = Running { of_user: PerUser::new(RUNNING_PER_USER), of_node };
        Self { users: OpenRequests::up_to(PER_USER), running: Arc::new(running) }
    }

    pub(crate) fn enter(&self, user: &UserId) -> Result<ImportPlace, ApiError> {
        let too_many =
            || ApiError::rate_limited("Your earlier imports are still running. Please wait until one has ended.", 5);
        let user = self.users.try_enter(user).ok_or_else(too_many)?;
        Ok(ImportPlace { user, running: self.running.clone() })
    }
}

impl ImportPlace {
    /// Waits until this import may run: first for other imports of its user, so that it waits for no place of the node while
    /// they run, then for a place of the node. Both queues are fair.
    pub(crate) async fn turn(&self) -> Result<ImportTurn, ApiError> {
        let of_user = self.running.of_user.enter(self.user.key()).await;
        let of_node = self.running.of_node.clone().acquire_owned().await.map_err(|_| ApiError::internal())?;
        Ok(ImportTurn { _of_user: of_user, _of_node: of_node })
    }
}

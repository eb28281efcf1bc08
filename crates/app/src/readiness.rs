//! The state of the index, the embedder and the model. The server works without them, so they never make a node
//! unready. Operators read here which of them does not work.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::{End, FailureCode};
use search::embed::{EmbedError, Embedder, TextKind};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{App, index_sync::Indexing, turns::pause};

/// Often enough for an operator. Proxies ask much more often and get the result of the last check.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A part that needs longer counts as unavailable.
const TIMEOUT: Duration = Duration::from_secs(2);
const NO_ANSWER: &str = "the index does not answer";

/// One part in `/readyz`. It contains no URL and no text of another service, because the endpoint is public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub name: &'static str,
    pub ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl Part {
    fn of(name: &'static str, cause: Option<String>) -> Self {
        Self { name, ready: cause.is_none(), cause }
    }
}

/// The known state of the parts.
pub(crate) struct Readiness {
    seen: watch::Sender<[Option<String>; 2]>,
    /// The error of the last answer, if it failed. The model gets no extra request for this check.
    model: Mutex<Option<String>>,
}

impl Readiness {
    /// Until the first check, the state of the index is what its opening has shown.
    pub(crate) fn new(indexing: &Indexing) -> Self {
        let index = (!indexing.answered()).then(|| NO_ANSWER.to_owned());
        Self { seen: watch::Sender::new([index, None]), model: Mutex::default() }
    }

    /// Updates the state of the model from the end of a turn.
    pub(crate) fn answered(&self, end: &End) {
        let cause = match end {
            End::Answered(_) => None,
            End::Failed { code: FailureCode::AiServiceUnavailable | FailureCode::Timeout, message, .. } => {
                Some(format!("the last answer failed: {message}"))
            }
            // Says nothing about the model.
            End::Failed { .. } => return,
        };
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = cause;
    }

    pub(crate) fn parts(&self) -> Vec<Part> {
        let [index, embedder] = self.seen.borrow().clone();
        let model = self.model.lock().unwrap_or_else(PoisonError::into_inner).clone();
        vec![Part::of("index", index), Part::of("embedder", embedder), Part::of("model", model)]
    }

    /// Checks the parts that can be asked without cost, until the process ends.
    pub(crate) async fn keep_looking(&self, indexing: &Indexing, ending: CancellationToken) {
        loop {
            let (index, embedder) = tokio::join!(look_at_index(indexing), look_at_embedder(indexing.embedder()));
            self.seen.send_replace([index, embedder]);
            if !pause(LOOK_EVERY, &ending).await {
                return;
            }
        }
    }
}

async fn look_at_index(indexing: &Indexing) -> Option<String> {
    match tokio::time::timeout(TIMEOUT, indexing.index().info()).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) if error.is_passing() => Some(NO_ANSWER.into()),
        Ok(Err(_)) => Some("the index cannot be used; `segue doctor` says why".into()),
        Err(_) => Some(format!("the index did not answer within {} s", TIMEOUT.as_secs())),
    }
}

/// The built-in embedder needs no check.
async fn look_at_embedder(remote: Option<Arc<dyn Embedder>>) -> Option<String> {
    let remote = remote?;
    match tokio::time::timeout(TIMEOUT, remote.embed(&["music".to_owned()], TextKind::Query)).await {
        Ok(Ok(_)) => None,
        Ok(Err(EmbedError::Away(_))) => Some("the embeddings server does not answer".into()),
        Ok(Err(_)) => Some("the embeddings server cannot be used; `segue doctor` says why".into()),
        Err(_) => Some(format!("the embeddings server did not answer within {} s", TIMEOUT.as_secs())),
    }
}

impl App {
    /// The parts that requests do not need.
    pub fn parts(&self) -> Vec<Part> {
        self.readiness.parts()
    }
}

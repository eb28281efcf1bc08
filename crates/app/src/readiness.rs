//! Which parts work: the index, the embedder and the model. Requests are served without them, so they never make a node
//! unready; an operator reads here which of them is away.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::{End, FailureCode};
use search::embed::{EmbedError, Embedder, Kind};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{App, index_sync::Indexing, turns::pause};

/// Often enough for an operator; probes of proxies come much more often and are answered from the last look.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A part that needs longer counts as away.
const PATIENCE: Duration = Duration::from_secs(2);

/// One part, as `/readyz` tells of it. No address and no word of another service's: everyone may ask.
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

/// What is known of the parts.
pub(crate) struct Readiness {
    seen: watch::Sender<[Option<String>; 2]>,
    /// Why the last answer failed, if it did. A model is not asked only to know whether it would answer.
    model: Mutex<Option<String>>,
}

impl Readiness {
    pub(crate) fn new() -> Self {
        Self { seen: watch::Sender::new([None, None]), model: Mutex::default() }
    }

    /// What the end of a turn says about the model.
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

    /// Looks at what can be asked without cost until the process ends.
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
    match tokio::time::timeout(PATIENCE, indexing.index().info()).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) if error.is_passing() => Some("the index does not answer".into()),
        Ok(Err(_)) => Some("the index cannot be used; `segue doctor` says why".into()),
        Err(_) => Some(format!("the index did not answer within {} s", PATIENCE.as_secs())),
    }
}

/// The built-in one works without anything else.
async fn look_at_embedder(remote: Option<Arc<dyn Embedder>>) -> Option<String> {
    let remote = remote?;
    match tokio::time::timeout(PATIENCE, remote.embed(&["music".to_owned()], Kind::Query)).await {
        Ok(Ok(_)) => None,
        Ok(Err(EmbedError::Away(_))) => Some("the embeddings server does not answer".into()),
        Ok(Err(_)) => Some("the embeddings server cannot be used; `segue doctor` says why".into()),
        Err(_) => Some(format!("the embeddings server did not answer within {} s", PATIENCE.as_secs())),
    }
}

impl App {
    /// The parts that requests can be served without.
    pub fn parts(&self) -> Vec<Part> {
        self.readiness.parts()
    }
}

//! Embeds the documents of a batch beside the requests of users.

use std::sync::Arc;

use anyhow::Context;
use tokio::runtime::Handle;

use super::{EmbedError, Embedder, TextKind};

/// The built-in table computes without a pause, so it must not run on a thread that serves requests.
pub(crate) async fn embed_documents(
    embedder: Arc<dyn Embedder>,
    chunks: Vec<String>,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    if chunks.is_empty() {
        return Ok(vec![]);
    }
    let runtime = Handle::current();
    let computed = background::spawn_blocking(move || runtime.block_on(embedder.embed(&chunks, TextKind::Document)));
    computed.await.context("the embedding thread died")?
}

//! Embedders: turn text into vectors. They are built in, on disk, or on another server.

pub mod blend;
pub mod cached;
pub mod minilm;
pub mod remote;
pub mod table;
pub mod wordpiece;

use std::{fmt, path::Path, sync::Arc};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

pub use blend::Blend;
pub use cached::Cached;
pub use minilm::MiniLm;
pub use remote::RemoteEmbedder;
pub use table::StaticTable;

/// Turns texts into unit vectors. The closer two texts are in meaning, the larger is the dot product of their
/// vectors.
pub trait Embedder: Send + Sync {
    /// One vector per text, in order. A text without any known word has the zero vector.
    fn embed<'a>(&'a self, texts: &'a [String], kind: Kind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>>;
    fn id(&self) -> EmbedderId;
}

impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn embed<'a>(&'a self, texts: &'a [String], kind: Kind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        (**self).embed(texts, kind)
    }

    fn id(&self) -> EmbedderId {
        (**self).id()
    }
}

/// Some models embed a query differently from a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Query,
    Document,
}

/// The model that computed a vector. Vectors with different ids cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedderId {
    pub model: String,
    pub dims: usize,
    /// Hash of the weights, or of the URL if the weights are not accessible.
    pub hash: String,
}

impl fmt::Display for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} dims, {})", self.model, self.dims, self.hash)
    }
}

/// Why an embedding failed.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The endpoint does not answer or is overloaded. A later request may succeed.
    #[error("the embeddings server is not available: {0}")]
    Away(String),
    /// The operator must correct a setting or download a file again.
    #[error("{0}")]
    Setup(String),
    #[error("embedding failed: {0:#}")]
    Bug(#[from] anyhow::Error),
}

impl EmbedError {
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Away(_))
    }
}

/// The best embedder that needs no other server: the one on disk if it is there and valid, else the one in the
/// binary.
pub fn built_in(models_dir: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    let table = StaticTable::built_in()?;
    let Some(minilm) = MiniLm::find(models_dir)? else { return Ok(Arc::new(Cached::new(table))) };
    Ok(Arc::new(Cached::new(Blend::new(minilm, table))))
}

/// Scales to length one. A zero vector is not changed.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

//! Embedders: text in, vectors of meaning out; built in, on disk, or somewhere else.

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

/// Turns texts into unit vectors; the closer in meaning, the larger their dot product.
pub trait Embedder: Send + Sync {
    /// One vector per text, in order. A text of which nothing is understood has the zero vector.
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

/// Some models read a question differently from what answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Query,
    Document,
}

/// Which model made a vector. Vectors of different ids cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedderId {
    pub model: String,
    pub dims: usize,
    /// Of the weights, or of the address for a model we cannot see.
    pub hash: String,
}

impl fmt::Display for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} dims, {})", self.model, self.dims, self.hash)
    }
}

/// Why there is no vector.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The endpoint does not answer or is overloaded; waiting may help.
    #[error("the embeddings server is not available: {0}")]
    Away(String),
    /// The operator mends a setting or fetches a file again.
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

/// The best embedder that needs nobody else: the one on disk if it is there and whole, else the one in the binary.
pub fn built_in(models_dir: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    let table = StaticTable::built_in()?;
    let Some(minilm) = MiniLm::find(models_dir)? else { return Ok(Arc::new(Cached::new(table))) };
    Ok(Arc::new(Cached::new(Blend::new(minilm, table))))
}

/// Scales to length one; a zero vector stays as it is.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

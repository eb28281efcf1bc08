//! Embedders: text in, vectors of meaning out; built in, on disk, or somewhere else.

pub mod blend;
pub mod bridge;
pub mod cached;
pub mod minilm;
pub mod remote;
pub mod table;
mod unigram;
pub mod usem3;
pub mod wordpiece;

use std::{fmt, path::Path, sync::Arc};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

pub use blend::Blend;
pub use bridge::Bridge;
pub use cached::Cached;
pub use minilm::MiniLm;
pub use remote::RemoteEmbedder;
pub use table::StaticTable;
pub use usem3::UseM3;

/// Turns texts into unit vectors; the closer in meaning, the larger their dot product.
pub trait Embedder: Send + Sync {
    /// One vector per text, in order. A text of which nothing is understood has the zero vector.
    fn embed<'a>(&'a self, texts: &'a [String], kind: Kind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>>;
    fn id(&self) -> EmbedderId;
    /// Whether a query in another language than the documents is near to what means the same.
    fn reads_other_languages(&self) -> bool {
        false
    }
}

impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn embed<'a>(&'a self, texts: &'a [String], kind: Kind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        (**self).embed(texts, kind)
    }

    fn id(&self) -> EmbedderId {
        (**self).id()
    }

    fn reads_other_languages(&self) -> bool {
        (**self).reads_other_languages()
    }
}

/// Some models read a question differently from what answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Query,
    /// A query in words that the library does not know: another language, most likely.
    OtherWords,
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

/// The best embedder that needs nobody else: those on disk if they are there and whole, else the one in the binary.
pub fn built_in(models_dir: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    let table = StaticTable::built_in()?;
    let across = UseM3::find(models_dir)?;
    Ok(match (MiniLm::find(models_dir)?, across) {
        (None, None) => Arc::new(Cached::new(table)),
        (None, Some(across)) => Arc::new(Cached::new(Bridge::new(table, across))),
        (Some(minilm), None) => Arc::new(Cached::new(Blend::new(minilm, table))),
        (Some(minilm), Some(across)) => Arc::new(Cached::new(Bridge::new(Blend::new(minilm, table), across))),
    })
}

/// The vectors of queries, of which some are in words that the library does not know.
pub(crate) async fn queries(
    embedder: &dyn Embedder,
    texts: &[String],
    across: &[bool],
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut vectors = vec![Vec::new(); texts.len()];
    for (kind, wanted) in [(Kind::Query, false), (Kind::OtherWords, true)] {
        let places: Vec<usize> = (0..texts.len()).filter(|at| across[*at] == wanted).collect();
        let asked: Vec<String> = places.iter().map(|at| texts[*at].clone()).collect();
        if !asked.is_empty() {
            let answered = embedder.embed(&asked, kind).await?;
            places.into_iter().zip(answered).for_each(|(at, vector)| vectors[at] = vector);
        }
    }
    Ok(vectors)
}

/// Scales to length one; a zero vector stays as it is.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

//! Embedders: turn text into vectors. They are built in, on disk, or on another server.

mod batches;
pub mod blend;
pub mod bridge;
pub mod cached;
mod documents;
pub mod minilm;
mod probe;
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
pub(crate) use documents::embed_documents;
pub use minilm::MiniLm;
pub use probe::Votes;
pub use remote::RemoteEmbedder;
pub use table::StaticTable;
pub use usem3::UseM3;

/// Turns texts into unit vectors. The closer two texts are in meaning, the larger is the dot product of their
/// vectors.
pub trait Embedder: Send + Sync {
    /// One vector per text, in order. A text without any known word has the zero vector.
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>>;
    fn id(&self) -> EmbedderId;
    /// Whether a query in another language is close to documents with the same meaning.
    fn reads_other_languages(&self) -> bool {
        false
    }
    /// Whether the vector of a sentence is more than the sum of its words.
    fn reads_prose(&self) -> bool {
        false
    }
    /// Whether the query with this vector is about daily life or about music, as far as this embedder can tell.
    fn votes(&self, _vector: &[f32]) -> Votes {
        Votes::default()
    }
}

impl<E: Embedder + ?Sized> Embedder for Arc<E> {
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        (**self).embed(texts, kind)
    }

    fn id(&self) -> EmbedderId {
        (**self).id()
    }

    fn reads_other_languages(&self) -> bool {
        (**self).reads_other_languages()
    }

    fn reads_prose(&self) -> bool {
        (**self).reads_prose()
    }

    fn votes(&self, vector: &[f32]) -> Votes {
        (**self).votes(vector)
    }
}

/// Some models embed a query differently from a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    Query,
    /// A query in words that the library does not know, probably in another language.
    OtherWords,
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

/// The best local embedder: the downloaded models if they are valid, else the one in the binary.
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

/// The vectors of queries, some of which are in words that the library does not know.
pub(crate) async fn queries(
    embedder: &dyn Embedder,
    texts: &[String],
    across: &[bool],
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut vectors = vec![Vec::new(); texts.len()];
    for (kind, wanted) in [(TextKind::Query, false), (TextKind::OtherWords, true)] {
        let places: Vec<usize> = (0..texts.len()).filter(|at| across[*at] == wanted).collect();
        let asked: Vec<String> = places.iter().map(|at| texts[*at].clone()).collect();
        if !asked.is_empty() {
            let answered = embedder.embed(&asked, kind).await?;
            places.into_iter().zip(answered).for_each(|(at, vector)| vectors[at] = vector);
        }
    }
    Ok(vectors)
}

/// The values of two embedders in one vector, of which the first has this number.
fn split(vector: &[f32], n_first: usize) -> (&[f32], &[f32]) {
    vector.split_at_checked(n_first).unwrap_or((vector, &[]))
}

/// Scales to length one. A zero vector is not changed.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

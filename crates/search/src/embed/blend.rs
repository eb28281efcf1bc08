//! Two embedders as one: their vectors are concatenated, so that a similarity is the weighted mean of both.

use futures::future::BoxFuture;

use super::{EmbedError, Embedder, EmbedderId, Kind};

/// Measured (decision 004): MiniLM is better for prose, the table is better for short mood words, and together they
/// are better than either on every test set.
pub struct Blend<A, B> {
    first: A,
    second: B,
}

/// The share of the first embedder in a similarity.
const FIRST_SHARE: f32 = 0.45;

impl<A: Embedder, B: Embedder> Blend<A, B> {
    pub fn new(first: A, second: B) -> Self {
        Self { first, second }
    }
}

impl<A: Embedder, B: Embedder> Embedder for Blend<A, B> {
    fn embed<'a>(&'a self, texts: &'a [String], kind: Kind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let (first, second) =
                futures::future::try_join(self.first.embed(texts, kind), self.second.embed(texts, kind)).await?;
            Ok(first.into_iter().zip(second).map(|(a, b)| side_by_side(a, b)).collect())
        })
    }

    fn id(&self) -> EmbedderId {
        let (first, second) = (self.first.id(), self.second.id());
        EmbedderId {
            model: format!("{}+{}", first.model, second.model),
            dims: first.dims + second.dims,
            hash: format!("{}-{}", first.hash, second.hash),
        }
    }
}

fn side_by_side(first: Vec<f32>, second: Vec<f32>) -> Vec<f32> {
    let (a, b) = (FIRST_SHARE.sqrt(), (1.0 - FIRST_SHARE).sqrt());
    first.into_iter().map(|x| x * a).chain(second.into_iter().map(|x| x * b)).collect()
}

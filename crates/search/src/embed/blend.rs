//! Two embedders as one: their vectors are concatenated, so that a similarity is the weighted mean of both.

use futures::future::BoxFuture;
use query::stop::content_words;

use super::{EmbedError, Embedder, EmbedderId, TextKind, Votes, split};
use crate::fuse::LONG_FROM;

/// Measured (decision 004): MiniLM is better for prose, the table is better for short mood words, and together they
/// are better than either on every test set.
pub struct Blend<A, B> {
    first: A,
    second: B,
}

/// The share of the first embedder in the vector of a document, and of a short query.
const FIRST_SHARE: f32 = 0.45;
/// The same for a long query, which is prose.
const FIRST_SHARE_OF_LONG: f32 = 0.7;

impl<A: Embedder, B: Embedder> Blend<A, B> {
    pub fn new(first: A, second: B) -> Self {
        Self { first, second }
    }
}

impl<A: Embedder, B: Embedder> Embedder for Blend<A, B> {
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let (first, second) =
                futures::future::try_join(self.first.embed(texts, kind), self.second.embed(texts, kind)).await?;
            let shares = texts.iter().map(|text| first_share(text, kind));
            Ok(first.into_iter().zip(second).zip(shares).map(|((a, b), share)| side_by_side(a, b, share)).collect())
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

    fn reads_prose(&self) -> bool {
        self.first.reads_prose() || self.second.reads_prose()
    }

    fn votes(&self, vector: &[f32]) -> Votes {
        let (first, second) = split(vector, self.first.id().dims);
        self.first.votes(first).beside(self.second.votes(second))
    }
}

fn first_share(text: &str, kind: TextKind) -> f32 {
    let is_long = kind != TextKind::Document && content_words(text).len() >= LONG_FROM;
    if is_long { FIRST_SHARE_OF_LONG } else { FIRST_SHARE }
}

fn side_by_side(first: Vec<f32>, second: Vec<f32>, first_share: f32) -> Vec<f32> {
    let (a, b) = (first_share.sqrt(), (1.0 - first_share).sqrt());
    first.into_iter().map(|x| x * a).chain(second.into_iter().map(|x| x * b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_embedder_counts_more_for_a_long_query_than_for_a_short_one_or_a_document() {
        let long = "a lonely sailor who returns to the harbour of his childhood";
        let [short_query, long_query, document] =
            [("a lonely sailor", TextKind::Query), (long, TextKind::Query), (long, TextKind::Document)]
                .map(|(text, kind)| side_by_side(vec![1.0], vec![1.0], first_share(text, kind)));
        assert_eq!(short_query, document);
        assert!(long_query[0] > long_query[1] && short_query[0] < short_query[1]);
        for vector in [short_query, long_query] {
            assert!((vector[0] * vector[0] + vector[1] * vector[1] - 1.0).abs() < 1e-6, "{vector:?}");
        }
    }
}

//! An embedder for the words a library is described in, and one for other languages, side by side in one vector.
//!
//! Both similarities stay apart: a document has both vectors at full strength, and a query chooses how much of each it asks for. A query in
//! words the library knows asks mostly the first; of a query in other words the first says only noise, and the second decides alone.

use futures::future::BoxFuture;

use super::{EmbedError, Embedder, EmbedderId, Kind, normalize};

pub struct Bridge<A, B> {
    home: A,
    across: B,
}

/// How much a query in known words asks each side. Measured: a fifth of the second improves English sets, more of it does not.
const HOME: f32 = 0.8;
const ACROSS: f32 = 0.2;

impl<A: Embedder, B: Embedder> Bridge<A, B> {
    pub fn new(home: A, across: B) -> Self {
        Self { home, across }
    }
}

impl<A: Embedder, B: Embedder> Embedder for Bridge<A, B> {
    fn embed<'a>(&'a self, texts: &'a [String], kind: Kind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let (home, across) =
                futures::future::try_join(self.home.embed(texts, kind), self.across.embed(texts, kind)).await?;
            let (a, b) = match kind {
                Kind::Document => (1.0, 1.0),
                Kind::Query => (HOME, ACROSS),
                Kind::OtherWords => (0.0, 1.0),
            };
            Ok(home.into_iter().zip(across).map(|(home, across)| side_by_side(home, across, a, b)).collect())
        })
    }

    fn id(&self) -> EmbedderId {
        let (home, across) = (self.home.id(), self.across.id());
        EmbedderId {
            model: format!("{}+{}", home.model, across.model),
            dims: home.dims + across.dims,
            hash: format!("{}-{}", home.hash, across.hash),
        }
    }

    fn reads_other_languages(&self) -> bool {
        true
    }
}

fn side_by_side(home: Vec<f32>, across: Vec<f32>, a: f32, b: f32) -> Vec<f32> {
    let mut vector: Vec<f32> = home.into_iter().map(|x| x * a).chain(across.into_iter().map(|x| x * b)).collect();
    normalize(&mut vector);
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text has the same vector.
    struct Always(Vec<f32>);

    impl Embedder for Always {
        fn embed<'a>(&'a self, texts: &'a [String], _: Kind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
            Box::pin(async move { Ok(texts.iter().map(|_| self.0.clone()).collect()) })
        }
        fn id(&self) -> EmbedderId {
            EmbedderId { model: "always".into(), dims: self.0.len(), hash: "0".into() }
        }
    }

    #[tokio::test]
    async fn a_query_in_other_words_asks_only_the_side_that_reads_them() {
        let bridge = Bridge::new(Always(vec![1.0, 0.0]), Always(vec![0.0, 1.0]));
        let text = ["x".to_owned()];
        let [document, known, other] = [
            bridge.embed(&text, Kind::Document).await.unwrap().remove(0),
            bridge.embed(&text, Kind::Query).await.unwrap().remove(0),
            bridge.embed(&text, Kind::OtherWords).await.unwrap().remove(0),
        ];
        assert_eq!(document[0], document[3]);
        assert_eq!(other, [0.0, 0.0, 0.0, 1.0]);
        assert!(known[0] > 3.9 * known[3] && known[3] > 0.0);
        assert_eq!(bridge.id().dims, 4);
    }
}

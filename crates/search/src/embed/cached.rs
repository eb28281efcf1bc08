//! A cache in front of an embedder: the vector of a recent text is not computed again.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use sha2::{Digest, Sha256};

use super::{EmbedError, Embedder, EmbedderId, TextKind, Votes};

/// Keeps the last few thousand vectors by the content of their text.
pub struct Cached<E> {
    embedder: E,
    memory: Mutex<Memory>,
    capacity: usize,
}

/// About 10 MB at 640 dimensions.
const CAPACITY: usize = 4096;

type ContentHash = [u8; 32];

#[derive(Default)]
struct Memory {
    vectors: HashMap<ContentHash, Arc<[f32]>>,
    oldest_first: VecDeque<ContentHash>,
}

impl<E: Embedder> Cached<E> {
    pub fn new(embedder: E) -> Self {
        Self::with_capacity(embedder, CAPACITY)
    }

    pub fn with_capacity(embedder: E, capacity: usize) -> Self {
        Self { embedder, memory: Mutex::default(), capacity }
    }

    fn recall(&self, keys: &[ContentHash]) -> Vec<Option<Vec<f32>>> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().map(|key| memory.vectors.get(key).map(|vector| vector.to_vec())).collect()
    }

    fn remember(&self, key: ContentHash, vector: &[f32]) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.vectors.insert(key, vector.into()).is_none() {
            memory.oldest_first.push_back(key);
        }
        if memory.oldest_first.len() > self.capacity
            && let Some(oldest) = memory.oldest_first.pop_front()
        {
            memory.vectors.remove(&oldest);
        }
    }
}

impl<E: Embedder> Embedder for Cached<E> {
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let keys: Vec<ContentHash> = texts.iter().map(|text| content_hash(text, kind)).collect();
            let mut vectors = self.recall(&keys);
            let missing: Vec<usize> = (0..texts.len()).filter(|at| vectors[*at].is_none()).collect();
            let asked: Vec<String> = missing.iter().map(|at| texts[*at].clone()).collect();
            if !asked.is_empty() {
                for (at, vector) in missing.into_iter().zip(self.embedder.embed(&asked, kind).await?) {
                    self.remember(keys[at], &vector);
                    vectors[at] = Some(vector);
                }
            }
            let n_found = vectors.len();
            let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
            if vectors.len() != n_found {
                return Err(EmbedError::Setup(format!("{} returned fewer vectors than texts", self.id())));
            }
            Ok(vectors)
        })
    }

    fn id(&self) -> EmbedderId {
        self.embedder.id()
    }

    fn reads_other_languages(&self) -> bool {
        self.embedder.reads_other_languages()
    }

    fn reads_prose(&self) -> bool {
        self.embedder.reads_prose()
    }

    fn votes(&self, vector: &[f32]) -> Votes {
        self.embedder.votes(vector)
    }
}

fn content_hash(text: &str, kind: TextKind) -> ContentHash {
    let mark: &[u8] = match kind {
        TextKind::Query => b"q",
        TextKind::OtherWords => b"o",
        TextKind::Document => b"d",
    };
    Sha256::new().chain_update(mark).chain_update(text).finalize().into()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Embedder for Counting {
        fn embed<'a>(&'a self, texts: &'a [String], _: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            Box::pin(async move { Ok(texts.iter().map(|text| vec![text.len() as f32]).collect()) })
        }
        fn id(&self) -> EmbedderId {
            EmbedderId { model: "counting".into(), dims: 1, hash: String::new() }
        }
    }

    #[tokio::test]
    async fn a_text_is_embedded_once_and_the_vectors_keep_their_order() {
        let cached = Cached::new(Counting::default());
        let texts = |list: &[&str]| list.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        cached.embed(&texts(&["a", "bb"]), TextKind::Query).await.unwrap();
        let again = cached.embed(&texts(&["ccc", "bb", "a"]), TextKind::Query).await.unwrap();
        assert_eq!(again, [[3.0], [2.0], [1.0]]);
        assert_eq!(cached.embedder.0.load(Ordering::Relaxed), 3);
        cached.embed(&texts(&["a"]), TextKind::Document).await.unwrap();
        assert_eq!(cached.embedder.0.load(Ordering::Relaxed), 4, "the vectors of a query and of a document may differ");
    }
}

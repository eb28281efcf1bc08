//! A cache of vectors on disk between runs: embedding ten thousand documents takes minutes, and they never change.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::{Read, Write},
    path::Path,
    sync::Mutex,
};

use anyhow::Context;
use futures::future::BoxFuture;
use search::embed::{EmbedError, Embedder, EmbedderId, TextKind, Votes};
use sha2::{Digest, Sha256};

type Key = [u8; 32];

pub(crate) struct Kept<E> {
    embedder: E,
    known: Mutex<(HashMap<Key, Vec<f32>>, File)>,
}

impl<E: Embedder> Kept<E> {
    pub(crate) fn open(dir: &Path, embedder: E) -> anyhow::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let id = embedder.id();
        let path = dir.join(format!("eval-{}-{}.vectors", id.model, id.hash));
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut known = HashMap::new();
        for record in bytes.chunks_exact(32 + 4 * id.dims) {
            let (key, cells) = record.split_at(32);
            let cells = cells.as_chunks::<4>().0.iter().map(|cell| f32::from_le_bytes(*cell)).collect();
            known.insert(key.try_into()?, cells);
        }
        Ok(Self { embedder, known: Mutex::new((known, file)) })
    }

    fn recall(&self, key: &Key) -> Option<Vec<f32>> {
        self.known.lock().ok()?.0.get(key).cloned()
    }

    fn keep(&self, key: Key, vector: &[f32]) -> anyhow::Result<()> {
        let mut known = self.known.lock().map_err(|_| anyhow::anyhow!("another thread failed"))?;
        let record: Vec<u8> = key.into_iter().chain(vector.iter().flat_map(|x| x.to_le_bytes())).collect();
        known.1.write_all(&record)?;
        known.0.insert(key, vector.to_vec());
        Ok(())
    }
}

impl<E: Embedder> Embedder for Kept<E> {
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let keys: Vec<Key> = texts.iter().map(|text| Sha256::digest(text).into()).collect();
            let missing: Vec<usize> = (0..texts.len()).filter(|at| self.recall(&keys[*at]).is_none()).collect();
            let asked: Vec<String> = missing.iter().map(|at| texts[*at].clone()).collect();
            if !asked.is_empty() {
                for (at, vector) in missing.into_iter().zip(self.embedder.embed(&asked, kind).await?) {
                    self.keep(keys[at], &vector)?;
                }
            }
            Ok(keys.iter().map(|key| self.recall(key).unwrap_or_default()).collect())
        })
    }

    fn id(&self) -> EmbedderId {
        self.embedder.id()
    }

    fn reads_prose(&self) -> bool {
        self.embedder.reads_prose()
    }

    fn votes(&self, vector: &[f32]) -> Votes {
        self.embedder.votes(vector)
    }
}

//! MiniLM: the sentence transformer that `tools/fetch-models` downloads. It runs on the CPU.

mod dense;
mod network;
mod rows;
mod weights;

use std::{path::Path, sync::Arc};

use anyhow::Context;
use futures::future::BoxFuture;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest, Sha256};

pub use dense::Arithmetic;

use self::network::Network;
use super::{
    EmbedError, Embedder, EmbedderId, TextKind, Votes, batches,
    wordpiece::{END, START, encode},
};

pub const FILE: &str = "minilm-l6-v2-int8.onnx";
const SHA256: &str = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6";
const DIMS: usize = 384;
/// The input length of the model. The rest of a text is cut off, so long texts are embedded in chunks.
const MAX_PIECES: usize = 256;

/// all-MiniLM-L6-v2 with 8-bit weights.
#[derive(Clone)]
pub struct MiniLm {
    loaded: Arc<Loaded>,
}

struct Loaded {
    network: Network,
    for_queries: Cores,
    /// Of low priority. A query never waits for a batch of documents.
    for_documents: Cores,
}

/// A pool for each core, with one thread. A batch runs on one thread: two batches side by side waste less time than two
/// threads that wait for each other after every product.
type Cores = Vec<ThreadPool>;

impl MiniLm {
    /// The model in this folder, if it was downloaded. A damaged file is an error with a clear message.
    pub fn find(models_dir: &Path) -> Result<Option<Self>, EmbedError> {
        Self::find_with(models_dir, Arithmetic::of_this_processor())
    }

    /// The model with another arithmetic than the processor's best, to compare them.
    pub fn find_with(models_dir: &Path, arithmetic: Arithmetic) -> Result<Option<Self>, EmbedError> {
        let path = models_dir.join(FILE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(EmbedError::Setup(format!("{} cannot be read: {error}", path.display()))),
        };
        if format!("{:x}", Sha256::digest(&bytes)) != SHA256 {
            let path = path.display();
            return Err(EmbedError::Setup(format!("{path} is damaged; delete it and run tools/fetch-models")));
        }
        Ok(Some(Self { loaded: Arc::new(Loaded::read(&bytes, arithmetic)?) }))
    }
}

impl Embedder for MiniLm {
    fn embed<'a>(&'a self, texts: &'a [String], kind: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let (loaded, texts) = (self.loaded.clone(), texts.to_vec());
            let computed = tokio::task::spawn_blocking(move || loaded.embed(&texts, kind)).await;
            Ok(computed.context("the embedding thread died")??)
        })
    }

    fn id(&self) -> EmbedderId {
        EmbedderId { model: "all-MiniLM-L6-v2".into(), dims: DIMS, hash: SHA256[..16].into() }
    }

    fn reads_prose(&self) -> bool {
        true
    }

    fn votes(&self, vector: &[f32]) -> Votes {
        Votes::of_minilm(vector)
    }
}

impl Loaded {
    fn read(file: &[u8], arithmetic: Arithmetic) -> anyhow::Result<Self> {
        let for_documents = cores(background::lower_priority)?;
        Ok(Self { network: Network::read(file, arithmetic)?, for_queries: cores(|| ())?, for_documents })
    }

    fn embed(&self, texts: &[String], kind: TextKind) -> anyhow::Result<Vec<Vec<f32>>> {
        let cores = if kind == TextKind::Document { &self.for_documents } else { &self.for_queries };
        let texts: Vec<Vec<u32>> = texts.iter().map(|text| pieces(text)).collect();
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        batches::compute(cores, &batches::by_length(&lengths, MAX_PIECES), |core, batch| {
            let batch: Vec<&[u32]> = batch.iter().map(|at| texts[*at].as_slice()).collect();
            core.install(|| self.network.run(&batch))
        })
    }
}

/// `at_start` runs on each thread.
fn cores(at_start: fn()) -> anyhow::Result<Cores> {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let core = |_| {
        let one = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "minilm".into());
        one.start_handler(move |_| at_start()).build()
    };
    Ok((0..n_cores).map(core).collect::<Result<_, _>>()?)
}

fn pieces(text: &str) -> Vec<u32> {
    let mut pieces = encode(text);
    pieces.truncate(MAX_PIECES - 2);
    [vec![START], pieces, vec![END]].concat()
}

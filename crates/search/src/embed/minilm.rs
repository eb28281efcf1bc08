//! MiniLM: the sentence transformer that `tools/fetch-models` downloads. It runs on the CPU.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use futures::future::BoxFuture;
use rten::{Model, NodeId, RunOptions, ThreadPool, Value};
use sha2::{Digest, Sha256};

use super::{
    EmbedError, Embedder, EmbedderId, Kind, batches, normalize,
    wordpiece::{END, START, encode},
};

pub const FILE: &str = "minilm-l6-v2-int8.onnx";
const SHA256: &str = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6";
const DIMS: usize = 384;
/// The input length of the model. The rest of a text is cut off, so long texts are embedded in chunks.
const MAX_PIECES: usize = 256;
/// Texts of similar length run together. What a larger batch computes between two layers does not fit the cache of a
/// core; a single text repeats too much work.
const BATCH: usize = 2;

/// all-MiniLM-L6-v2 with 8-bit weights.
#[derive(Clone)]
pub struct MiniLm {
    network: Arc<Network>,
}

struct Network {
    model: Model,
    /// `input_ids`, `attention_mask`, `token_type_ids`.
    inputs: [NodeId; 3],
    output: NodeId,
    /// One thread for each core. A batch runs on one thread: two batches side by side waste less time than two threads
    /// that wait for each other after every operator.
    threads: Vec<Arc<ThreadPool>>,
}

impl MiniLm {
    /// The model in this folder, if it was downloaded. A damaged file is an error with a clear message.
    pub fn find(models_dir: &Path) -> Result<Option<Self>, EmbedError> {
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
        Ok(Some(Self { network: Arc::new(Network::load(bytes)?) }))
    }
}

impl Embedder for MiniLm {
    fn embed<'a>(&'a self, texts: &'a [String], _: Kind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let (network, texts) = (self.network.clone(), texts.to_vec());
            let computed = tokio::task::spawn_blocking(move || network.embed(&texts)).await;
            Ok(computed.context("the embedding thread died")??)
        })
    }

    fn id(&self) -> EmbedderId {
        EmbedderId { model: "all-MiniLM-L6-v2".into(), dims: DIMS, hash: SHA256[..16].into() }
    }
}

impl Network {
    fn load(bytes: Vec<u8>) -> anyhow::Result<Self> {
        let model = Model::load(bytes)?;
        let inputs = [model.node_id("input_ids")?, model.node_id("attention_mask")?, model.node_id("token_type_ids")?];
        let output = model.node_id("last_hidden_state")?;
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (0..n_threads).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect();
        Ok(Self { model, inputs, output, threads })
    }

    fn embed(&self, texts: &[String]) -> anyhow::Result<Vec<Vec<f32>>> {
        let pieces: Vec<Vec<u32>> = texts.iter().map(|text| self.pieces(text)).collect();
        let lengths: Vec<usize> = pieces.iter().map(Vec::len).collect();
        batches::compute(&self.threads, &batches::by_length(&lengths, BATCH), |thread, batch| {
            let batch: Vec<&[u32]> = batch.iter().map(|at| pieces[*at].as_slice()).collect();
            self.run(thread, &batch)
        })
    }

    fn pieces(&self, text: &str) -> Vec<u32> {
        let mut pieces = encode(text);
        pieces.truncate(MAX_PIECES - 2);
        [vec![START], pieces, vec![END]].concat()
    }

    fn run(&self, thread: &Arc<ThreadPool>, batch: &[&[u32]]) -> anyhow::Result<Vec<Vec<f32>>> {
        let width = batch.iter().map(|pieces| pieces.len()).max().unwrap_or_default();
        let padded = |cell: &dyn Fn(&[u32], usize) -> i32| -> anyhow::Result<Value> {
            let cells = batch.iter().flat_map(|pieces| (0..width).map(|at| cell(pieces, at))).collect::<Vec<_>>();
            Ok(Value::from_shape([batch.len(), width], cells)?)
        };
        let ids = padded(&|pieces, at| pieces.get(at).map_or(0, |id| *id as i32))?;
        let mask = padded(&|pieces, at| i32::from(at < pieces.len()))?;
        let types = padded(&|_, _| 0)?;
        let [input_ids, attention_mask, token_types] = self.inputs;
        let inputs = vec![(input_ids, ids.into()), (attention_mask, mask.into()), (token_types, types.into())];
        let options = RunOptions::default().with_thread_pool(Some(thread.clone()));
        let [hidden] = self.model.run_n(inputs, [self.output], Some(options))?;
        let (_, hidden) = hidden.into_shape_vec::<f32, 3>()?;
        Ok(batch.iter().zip(hidden.chunks(width * DIMS)).map(|(pieces, rows)| mean(rows, pieces.len())).collect())
    }
}

/// The mean over the actual pieces, without the padding.
fn mean(rows: &[f32], n_pieces: usize) -> Vec<f32> {
    let mut sum = vec![0.0; DIMS];
    for row in rows.chunks(DIMS).take(n_pieces) {
        sum.iter_mut().zip(row).for_each(|(total, x)| *total += x);
    }
    normalize(&mut sum);
    sum
}

//! Universal Sentence Encoder multilingual v3: one vector space for sixteen languages. `tools/fetch-models` downloads it.
//!
//! The model has an embedding table, three convolutions, a mean and four dense layers. It has no attention, so its cost is
//! linear in the length of a text.

use std::{path::Path, sync::Arc};

use anyhow::{Context, ensure};
use futures::future::BoxFuture;
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::NdTensorView;
use sha2::{Digest, Sha256};

use super::{EmbedError, Embedder, EmbedderId, TextKind, Votes, normalize, unigram::Unigram};

pub const WEIGHTS_FILE: &str = "use-multilingual-v3.bin";
pub const PIECES_FILE: &str = "use-multilingual-v3.pieces";
const WEIGHTS_SHA256: &str = "f7e8c89644cf29b4d0f72cd1cd3de756f75a24a0ef86efd2918e06ecbd23fb2a";
const PIECES_SHA256: &str = "8aa559f6e812be72b4500834ba81e217b1e7d11946160d7929b167fff7a2e215";

const N_PIECES: usize = 128_000;
const DIMS: usize = 512;
const BRANCH: usize = 256;
const FEATURES: usize = DIMS + 3 * BRANCH;
const HIDDEN: usize = 320;
/// Rows are quantised to bytes in groups of ids; each group has its own scale.
const GROUPS: usize = 17;
/// Maximum number of pieces. A longer text is cut off; chunks are shorter.
const MOST_PIECES: usize = 512;

#[derive(Clone)]
pub struct UseM3 {
    network: Arc<Network>,
}

struct Network {
    pieces: Unigram,
    /// The bytes of all rows in the order of ids, at the start of the file.
    file: Vec<u8>,
    low: Vec<f32>,
    scale: Vec<f32>,
    branches: [Branch; 3],
    norm: Norm,
    to_mean: Dense,
    mean_bias: Vec<f32>,
    hidden: [Dense; 6],
}

/// A convolution over `width` rows, `left` of them before the current one.
struct Branch {
    width: usize,
    left: usize,
    project: Dense,
    project_bias: Vec<f32>,
    norm: Norm,
    first: Dense,
    first_bias: Vec<f32>,
    second: Dense,
    second_bias: Vec<f32>,
}

struct Norm {
    gain: Vec<f32>,
    bias: Vec<f32>,
}

struct Dense {
    weights: PackedBMatrix<f32>,
    n_in: usize,
    n_out: usize,
}

impl UseM3 {
    /// The model in this folder, if it was downloaded. A damaged file is an error.
    pub fn find(models_dir: &Path) -> Result<Option<Self>, EmbedError> {
        let (Some(file), Some(pieces)) = (
            whole(&models_dir.join(WEIGHTS_FILE), WEIGHTS_SHA256)?,
            whole(&models_dir.join(PIECES_FILE), PIECES_SHA256)?,
        ) else {
            return Ok(None);
        };
        let pieces = String::from_utf8(pieces).context("the word pieces are not UTF-8")?;
        let pieces = Unigram::read(&pieces).context("the word pieces cannot be parsed")?;
        Ok(Some(Self { network: Arc::new(Network::load(file, pieces)?) }))
    }
}

fn whole(path: &Path, sha256: &str) -> Result<Option<Vec<u8>>, EmbedError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(EmbedError::Setup(format!("{} cannot be read: {error}", path.display()))),
    };
    if format!("{:x}", Sha256::digest(&bytes)) != sha256 {
        return Err(EmbedError::Setup(format!("{} is damaged; delete it and run tools/fetch-models", path.display())));
    }
    Ok(Some(bytes))
}

impl Embedder for UseM3 {
    fn embed<'a>(&'a self, texts: &'a [String], _: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move {
            let (network, texts) = (self.network.clone(), texts.to_vec());
            let embed = move || texts.iter().map(|text| network.embed(text)).collect::<anyhow::Result<Vec<_>>>();
            let computed = tokio::task::spawn_blocking(embed).await;
            Ok(computed.context("the embedding thread died")??)
        })
    }

    fn id(&self) -> EmbedderId {
        EmbedderId { model: "use-multilingual-v3".into(), dims: DIMS, hash: WEIGHTS_SHA256[..16].into() }
    }

    fn votes(&self, vector: &[f32]) -> Votes {
        Votes::of_use(vector)
    }
}

impl Network {
    fn load(file: Vec<u8>, pieces: Unigram) -> anyhow::Result<Self> {
        let mut rest = Floats { file: &file, at: N_PIECES * DIMS };
        let (low, scale) = (rest.take(GROUPS)?, rest.take(GROUPS)?);
        let branches = [rest.branch(2, 0)?, rest.branch(3, 1)?, rest.branch(5, 2)?];
        let norm = rest.norm(FEATURES)?;
        let (to_mean, mean_bias) = (rest.dense(FEATURES, DIMS)?, rest.take(DIMS)?);
        let hidden = [
            rest.dense(DIMS, HIDDEN)?,
            rest.dense(HIDDEN, HIDDEN)?,
            rest.dense(DIMS, HIDDEN)?,
            rest.dense(HIDDEN, DIMS)?,
            rest.dense(HIDDEN, DIMS)?,
            rest.dense(DIMS, DIMS)?,
        ];
        ensure!(rest.at == file.len(), "the model file has more weights than expected");
        Ok(Self { pieces, low, scale, branches, norm, to_mean, mean_bias, hidden, file })
    }

    fn embed(&self, text: &str) -> anyhow::Result<Vec<f32>> {
        let mut ids = self.pieces.encode(text);
        if ids.len() <= 2 {
            return Ok(vec![0.0; DIMS]);
        }
        ids.truncate(MOST_PIECES);
        let n = ids.len();
        let rows: Vec<f32> = ids.iter().flat_map(|id| self.row(*id as usize)).collect();
        let branches = [self.branches[0].run(&rows)?, self.branches[1].run(&rows)?, self.branches[2].run(&rows)?];
        let mut sum = vec![0.0; FEATURES];
        for at in 0..n {
            let part = |branch: &Vec<f32>| branch[at * BRANCH..][..BRANCH].to_vec();
            let mut feature = rows[at * DIMS..][..DIMS].to_vec();
            branches.iter().for_each(|branch| feature.extend(part(branch)));
            self.norm.apply(&mut feature);
            sum.iter_mut().zip(&feature).for_each(|(total, x)| *total += x);
        }
        let root = (n as f32).sqrt();
        let mut mean = self.to_mean.run(&sum)?;
        mean.iter_mut().zip(&self.mean_bias).for_each(|(x, bias)| *x = *x / root + root * bias);
        self.dense_layers(&mean)
    }

    fn dense_layers(&self, mean: &[f32]) -> anyhow::Result<Vec<f32>> {
        let [d0, d1, p1, d2, p3, d3] = &self.hidden;
        let y0 = relu(d0.run(mean)?);
        let y1 = relu(added(p1.run(mean)?, &d1.run(&y0)?));
        let y2 = relu(d2.run(&y1)?);
        let mut vector = added(p3.run(&y1)?, &d3.run(&y2)?);
        vector.iter_mut().for_each(|x| *x = x.tanh());
        normalize(&mut vector);
        Ok(vector)
    }

    fn row(&self, id: usize) -> impl Iterator<Item = f32> + '_ {
        let (low, scale) = (self.low[id % GROUPS], self.scale[id % GROUPS]);
        self.file[id * DIMS..][..DIMS].iter().map(move |byte| f32::from(*byte) * scale + low)
    }
}

impl Branch {
    fn run(&self, rows: &[f32]) -> anyhow::Result<Vec<f32>> {
        let mut x = biased(self.project.run(rows)?, &self.project_bias);
        x.chunks_mut(BRANCH).for_each(|row| self.norm.apply(row));
        let h = added(relu(biased(self.first.run(&self.windows(&x))?, &self.first_bias)), &x);
        Ok(added(relu(biased(self.second.run(&self.windows(&h))?, &self.second_bias)), &h))
    }

    /// Each row, concatenated with its neighbours; zeros outside the text.
    fn windows(&self, rows: &[f32]) -> Vec<f32> {
        let n = rows.len() / BRANCH;
        let mut windows = vec![0.0; n * self.width * BRANCH];
        for at in 0..n {
            for place in 0..self.width {
                if let Some(from) = (at + place).checked_sub(self.left).filter(|from| *from < n) {
                    let to = (at * self.width + place) * BRANCH;
                    windows[to..to + BRANCH].copy_from_slice(&rows[from * BRANCH..][..BRANCH]);
                }
            }
        }
        windows
    }
}

impl Norm {
    fn apply(&self, row: &mut [f32]) {
        const EPSILON: f32 = 1e-12;
        let n = row.len() as f32;
        let mean = row.iter().sum::<f32>() / n;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / n;
        let scale = (variance + EPSILON).sqrt().recip();
        for ((x, gain), bias) in row.iter_mut().zip(&self.gain).zip(&self.bias) {
            *x = (*x - mean) * scale * gain + bias;
        }
    }
}

impl Dense {
    /// All rows times the weights.
    fn run(&self, rows: &[f32]) -> anyhow::Result<Vec<f32>> {
        let n = rows.len() / self.n_in;
        let mut out = vec![0.0; n * self.n_out];
        let rows = GemmInputA::Unpacked(NdTensorView::from_data([n, self.n_in], rows));
        GemmExecutor::<f32>::default()
            .gemm(&mut out, rows, GemmInputB::Packed(&self.weights), GemmOptions::default())
            .map_err(|error| anyhow::anyhow!("the matrix multiplication failed: {error:?}"))?;
        Ok(out)
    }
}

fn relu(mut values: Vec<f32>) -> Vec<f32> {
    values.iter_mut().for_each(|x| *x = x.max(0.0));
    values
}

fn added(mut values: Vec<f32>, others: &[f32]) -> Vec<f32> {
    values.iter_mut().zip(others).for_each(|(x, other)| *x += other);
    values
}

fn biased(mut rows: Vec<f32>, bias: &[f32]) -> Vec<f32> {
    rows.chunks_mut(bias.len()).for_each(|row| row.iter_mut().zip(bias).for_each(|(x, bias)| *x += bias));
    rows
}

/// Reads consecutive arrays.
struct Floats<'f> {
    file: &'f [u8],
    at: usize,
}

impl Floats<'_> {
    fn take(&mut self, n: usize) -> anyhow::Result<Vec<f32>> {
        let bytes =
            self.file.get(self.at..self.at + 4 * n).context("the model file has fewer weights than expected")?;
        self.at += 4 * n;
        let (cells, _) = bytes.as_chunks::<4>();
        Ok(cells.iter().map(|cell| f32::from_le_bytes(*cell)).collect())
    }

    fn norm(&mut self, n: usize) -> anyhow::Result<Norm> {
        Ok(Norm { gain: self.take(n)?, bias: self.take(n)? })
    }

    fn dense(&mut self, n_in: usize, n_out: usize) -> anyhow::Result<Dense> {
        let cells = self.take(n_in * n_out)?;
        let weights =
            GemmExecutor::<f32>::default().prepack_b(NdTensorView::from_data([n_in, n_out], cells.as_slice()));
        Ok(Dense { weights, n_in, n_out })
    }

    fn branch(&mut self, width: usize, left: usize) -> anyhow::Result<Branch> {
        Ok(Branch {
            width,
            left,
            project: self.dense(DIMS, BRANCH)?,
            project_bias: self.take(BRANCH)?,
            norm: self.norm(BRANCH)?,
            first: self.dense(width * BRANCH, BRANCH)?,
            first_bias: self.take(BRANCH)?,
            second: self.dense(width * BRANCH, BRANCH)?,
            second_bias: self.take(BRANCH)?,
        })
    }
}

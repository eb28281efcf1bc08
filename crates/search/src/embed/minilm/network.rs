//! The layers of MiniLM: BERT with six layers, without padding.
//!
//! The rows of all texts of a batch are one matrix. Only attention looks at one text at a time.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

use super::{
    DIMS,
    dense::{Arithmetic, Dense, Matrix, Scratch, at_least, failed},
    rows,
    weights::Tensors,
};
use crate::embed::normalize;

const HEADS: usize = 12;
const HEAD: usize = DIMS / HEADS;
const HIDDEN: usize = 4 * DIMS;
const N_WORDS: usize = 30_522;
const N_POSITIONS: usize = 512;
/// What is computed between two products for this many rows fits the cache of a core.
const BLOCK: usize = 64;

/// The numbers in the names of the matrices in the file: query, key, value, output, and the two of the hidden layer.
const MATRICES: [[u16; 6]; 6] = [
    [49, 57, 65, 105, 109, 118],
    [122, 130, 138, 176, 180, 189],
    [193, 201, 209, 247, 251, 260],
    [264, 272, 280, 318, 322, 331],
    [335, 343, 351, 389, 393, 402],
    [406, 414, 422, 460, 464, 473],
];

pub(super) struct Network {
    words: Table,
    positions: Table,
    /// The embedding of the first sentence; a text is never the second.
    sentence: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Rows of bytes. A number is its byte times the scale of its row.
struct Table {
    bytes: Vec<i8>,
    scale: Vec<f32>,
}

struct Norm {
    gain: Vec<f32>,
    bias: Vec<f32>,
}

struct Layer {
    /// Query, key and value side by side.
    attention: Dense,
    output: Dense,
    output_norm: Norm,
    up: Dense,
    down: Dense,
    down_norm: Norm,
}

/// Buffers that the layers use again.
#[derive(Default)]
struct Buffers {
    attention: Vec<f32>,
    seen: Vec<f32>,
    scores: Vec<f32>,
    head: Vec<f32>,
    hidden: Vec<f32>,
    scratch: Scratch,
}

impl Network {
    pub(super) fn read(file: &[u8], arithmetic: Arithmetic) -> anyhow::Result<Self> {
        let tensors = Tensors::read(file)?;
        let layers = MATRICES.iter().enumerate().map(|(at, names)| Layer::read(&tensors, at, names, arithmetic));
        let mut sentence = tensors.floats("inner.embeddings.token_type_embeddings.weight", 2 * DIMS)?;
        sentence.truncate(DIMS);
        Ok(Self {
            words: Table::read(&tensors, "inner.embeddings.word_embeddings.weight", N_WORDS)?,
            positions: Table::read(&tensors, "inner.embeddings.position_embeddings.weight", N_POSITIONS)?,
            sentence,
            norm: Norm::read(&tensors, "inner.embeddings.LayerNorm")?,
            layers: layers.collect::<anyhow::Result<_>>()?,
        })
    }

    /// The unit vector of each text, which is given as at most 512 word pieces.
    pub(super) fn run(&self, texts: &[&[u32]]) -> anyhow::Result<Vec<Vec<f32>>> {
        let mut rows = Vec::with_capacity(texts.iter().map(|text| text.len() * DIMS).sum());
        texts.iter().for_each(|text| self.look_up(text, &mut rows));
        let mut buffers = Buffers::default();
        for layer in &self.layers {
            layer.run(&mut rows, texts, &mut buffers)?;
        }
        let mut rest = rows.as_slice();
        let mean = |text: &&[u32]| {
            let own;
            (own, rest) = rest.split_at(text.len() * DIMS);
            let mut sum = vec![0.0; DIMS];
            own.chunks(DIMS).for_each(|row| sum.iter_mut().zip(row).for_each(|(total, x)| *total += x));
            normalize(&mut sum);
            sum
        };
        Ok(texts.iter().map(mean).collect())
    }

    fn look_up(&self, text: &[u32], rows: &mut Vec<f32>) {
        for (position, piece) in text.iter().enumerate() {
            let start = rows.len();
            rows.extend(self.words.row(*piece as usize).zip(self.positions.row(position)).map(|(a, b)| a + b));
            rows::add_and_norm(&mut rows[start..], &self.sentence, &self.norm.gain, &self.norm.bias);
        }
    }
}

impl Layer {
    fn read(tensors: &Tensors, at: usize, names: &[u16; 6], arithmetic: Arithmetic) -> anyhow::Result<Self> {
        let part = |name: &str| format!("inner.encoder.layer.{at}.{name}");
        let matrix = |name: u16, n_in: usize, n_out: usize, bias: &str| -> anyhow::Result<Matrix> {
            Ok(Matrix {
                bytes: tensors.bytes(&format!("val_{name}_q"), n_in * n_out)?,
                scale: tensors.floats(&format!("val_{name}_scale"), n_out)?,
                bias: tensors.floats(&part(bias), n_out)?,
            })
        };
        let [query, key, value, output, up, down] = *names;
        let matrices = [
            matrix(query, DIMS, DIMS, "attention.self.query.bias")?,
            matrix(key, DIMS, DIMS, "attention.self.key.bias")?,
            matrix(value, DIMS, DIMS, "attention.self.value.bias")?,
            matrix(output, DIMS, DIMS, "attention.output.dense.bias")?,
            matrix(up, DIMS, HIDDEN, "intermediate.dense.bias")?,
            matrix(down, HIDDEN, DIMS, "output.dense.bias")?,
        ];
        let output_norm = Norm::read(tensors, &part("attention.output.LayerNorm"))?;
        Ok(Self::new(matrices, [output_norm, Norm::read(tensors, &part("output.LayerNorm"))?], arithmetic))
    }

    fn new(matrices: [Matrix; 6], norms: [Norm; 2], arithmetic: Arithmetic) -> Self {
        let [mut query, key, value, output, up, down] = matrices;
        let [output_norm, down_norm] = norms;
        // A score is divided by the root of the number of its products, so the query is.
        query.scale.iter_mut().chain(&mut query.bias).for_each(|x| *x /= (HEAD as f32).sqrt());
        let dense = |matrix| Dense::new(matrix, arithmetic);
        Self {
            attention: dense(side_by_side([query, key, value])),
            output: dense(output),
            output_norm,
            up: dense(up),
            down: dense(down),
            down_norm,
        }
    }

    fn run(&self, rows: &mut [f32], texts: &[&[u32]], buffers: &mut Buffers) -> anyhow::Result<()> {
        let Buffers { attention, seen, scores, head, hidden, scratch } = buffers;
        let n = rows.len() / DIMS;
        let (attention, seen) = (at_least(attention, n * 3 * DIMS), at_least(seen, n * DIMS));
        for (rows, attention) in rows.chunks(BLOCK * DIMS).zip(attention.chunks_mut(BLOCK * 3 * DIMS)) {
            self.attention.run(rows, attention, scratch, |_, _| ())?;
        }
        let mut start = 0;
        for n in texts.iter().map(|text| text.len()) {
            let own = &attention[start * 3 * DIMS..][..n * 3 * DIMS];
            attend(own, &mut seen[start * DIMS..][..n * DIMS], scores, head, &scratch.floats)?;
            start += n;
        }
        let hidden = at_least(hidden, BLOCK * HIDDEN);
        for (rows, seen) in rows.chunks_mut(BLOCK * DIMS).zip(seen.chunks_mut(BLOCK * DIMS)) {
            let mixed = &mut hidden[..rows.len()];
            self.output.run(seen, mixed, scratch, |at, mixed| self.output_norm.apply(at, rows, mixed))?;
            let hidden = &mut hidden[..rows.len() / DIMS * HIDDEN];
            self.up.run(rows, hidden, scratch, |_, row| rows::gelu(row))?;
            self.down.run(hidden, seen, scratch, |at, row| self.down_norm.apply(at, rows, row))?;
        }
        Ok(())
    }
}

/// For each head: every word piece reads the values of all pieces of its text, as far as its query matches their keys.
fn attend(
    attention: &[f32],
    seen: &mut [f32],
    scores: &mut Vec<f32>,
    head: &mut Vec<f32>,
    floats: &GemmExecutor<f32>,
) -> anyhow::Result<()> {
    let n = seen.len() / DIMS;
    let (scores, head) = (at_least(scores, n * n), at_least(head, n * HEAD));
    let all = NdTensorView::<f32, 2>::from_data([n, 3 * DIMS], attention);
    let mut shares = vec![0.0; n];
    for at in 0..HEADS {
        let part = |which: usize| all.slice((.., which * DIMS + at * HEAD..which * DIMS + (at + 1) * HEAD));
        let (query, key, value) = (part(0), part(1), part(2));
        let keys = GemmInputB::Unpacked(key.transposed());
        floats.gemm(scores, GemmInputA::Unpacked(query), keys, GemmOptions::default()).map_err(failed)?;
        scores.chunks_mut(n).zip(&mut shares).for_each(|(row, share)| *share = rows::softmax(row));
        let scores = GemmInputA::Unpacked(NdTensorView::from_data([n, n], &*scores));
        floats.gemm(head, scores, GemmInputB::Unpacked(value), GemmOptions::default()).map_err(failed)?;
        for ((seen, head), share) in seen.chunks_mut(DIMS).zip(head.chunks(HEAD)).zip(&shares) {
            seen[at * HEAD..(at + 1) * HEAD].iter_mut().zip(head).for_each(|(to, x)| *to = x * share);
        }
    }
    Ok(())
}

/// Matrices with the same number of rows as one.
fn side_by_side(parts: [Matrix; 3]) -> Matrix {
    let width = parts[0].scale.len();
    let n_rows = parts[0].bytes.len() / width;
    let bytes = (0..n_rows).flat_map(|row| parts.iter().flat_map(move |part| &part.bytes[row * width..][..width]));
    Matrix {
        bytes: bytes.copied().collect(),
        scale: parts.iter().flat_map(|part| part.scale.iter().copied()).collect(),
        bias: parts.iter().flat_map(|part| part.bias.iter().copied()).collect(),
    }
}

impl Table {
    fn read(tensors: &Tensors, name: &str, n_rows: usize) -> anyhow::Result<Self> {
        Ok(Self {
            bytes: tensors.bytes(&format!("{name}_q"), n_rows * DIMS)?,
            scale: tensors.floats(&format!("{name}_scale"), n_rows)?,
        })
    }

    fn row(&self, at: usize) -> impl Iterator<Item = f32> + '_ {
        let scale = self.scale[at];
        self.bytes[at * DIMS..][..DIMS].iter().map(move |byte| f32::from(*byte) * scale)
    }
}

impl Norm {
    fn read(tensors: &Tensors, name: &str) -> anyhow::Result<Self> {
        let [gain, bias] = ["weight", "bias"].map(|part| tensors.floats(&format!("{name}.{part}"), DIMS));
        Ok(Self { gain: gain?, bias: bias? })
    }

    /// Adds what a part of the layer computed to the row that it was computed from.
    fn apply(&self, at: usize, rows: &mut [f32], computed: &[f32]) {
        rows::add_and_norm(&mut rows[at * DIMS..][..DIMS], computed, &self.gain, &self.bias);
    }
}

#[cfg(test)]
mod tests;

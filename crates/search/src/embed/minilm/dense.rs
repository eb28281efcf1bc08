//! A matrix product with 8-bit weights, as integers where the processor is fast with them.

use anyhow::anyhow;
use rten_gemm::{BiasVector, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::NdTensorView;

use super::rows::{self, Steps};

/// How the products are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Numbers are rounded to 8 bits, each row with its own scale. Products and sums are exact.
    Bytes,
    Floats,
}

impl Arithmetic {
    /// Integers are about four times as fast as floats on a processor with instructions for sums of 8-bit products
    /// (VNNI, dot product, i8mm). The other kernels are slower than floats, or overflow.
    pub fn of_this_processor() -> Self {
        let bytes = GemmExecutor::<u8, i8, i32>::default();
        let has_instructions = ["avx512", "dotprod", "i8mm"].iter().any(|name| bytes.kernel_name().ends_with(name));
        if has_instructions && !bytes.may_saturate() { Self::Bytes } else { Self::Floats }
    }
}

/// `n_in` × `n_out` weights. A weight is its byte times the scale of its column.
pub(super) struct Matrix {
    pub bytes: Vec<i8>,
    pub scale: Vec<f32>,
    pub bias: Vec<f32>,
}

pub(super) struct Dense {
    weights: Weights,
    bias: Vec<f32>,
    n_in: usize,
}

enum Weights {
    Bytes { packed: PackedBMatrix<i8>, scale: Vec<f32>, sums: Vec<f32> },
    Floats(PackedBMatrix<f32>),
}

/// What the next product uses again. The kernels are chosen once, because a virtual machine takes long to ask the
/// processor for its instructions.
#[derive(Default)]
pub(super) struct Scratch {
    integers: GemmExecutor<u8, i8, i32>,
    pub floats: GemmExecutor<f32>,
    bytes: Vec<u8>,
    steps: Vec<Steps>,
    products: Vec<i32>,
}

impl Dense {
    pub(super) fn new(matrix: Matrix, arithmetic: Arithmetic) -> Self {
        let Matrix { bytes, scale, bias } = matrix;
        let (n_in, n_out) = (bytes.len() / scale.len(), scale.len());
        let weights = match arithmetic {
            Arithmetic::Bytes => {
                let packed = GemmExecutor::<u8, i8, i32>::default()
                    .prepack_b(NdTensorView::from_data([n_in, n_out], bytes.as_slice()));
                let sum = |column| bytes.iter().skip(column).step_by(n_out).map(|byte| f32::from(*byte)).sum();
                Weights::Bytes { packed, sums: (0..n_out).map(sum).collect(), scale }
            }
            Arithmetic::Floats => {
                let floats: Vec<f32> =
                    bytes.iter().zip(scale.iter().cycle()).map(|(byte, scale)| f32::from(*byte) * scale).collect();
                let view = NdTensorView::from_data([n_in, n_out], floats.as_slice());
                Weights::Floats(GemmExecutor::<f32>::default().prepack_b(view))
            }
        };
        Self { weights, bias, n_in }
    }

    /// All rows times the weights, plus the bias. `then` gets the number and the content of each row of the result.
    pub(super) fn run(
        &self,
        rows: &[f32],
        out: &mut [f32],
        scratch: &mut Scratch,
        mut then: impl FnMut(usize, &mut [f32]),
    ) -> anyhow::Result<()> {
        let (n, n_out) = (rows.len() / self.n_in, self.bias.len());
        let out = &mut out[..n * n_out];
        match &self.weights {
            Weights::Bytes { packed, scale, sums } => {
                let (products, steps) = self.products(rows, packed, scratch)?;
                let results = out.chunks_mut(n_out).zip(products.chunks(n_out)).zip(steps);
                for (at, ((row, products), steps)) in results.enumerate() {
                    rows::to_numbers(products, *steps, scale, sums, &self.bias, row);
                    then(at, row);
                }
            }
            Weights::Floats(packed) => {
                let rows = GemmInputA::Unpacked(NdTensorView::from_data([n, self.n_in], rows));
                let options = GemmOptions { bias: Some(BiasVector::Row(&self.bias)), ..GemmOptions::default() };
                scratch.floats.gemm(out, rows, GemmInputB::Packed(packed), options).map_err(failed)?;
                out.chunks_mut(n_out).enumerate().for_each(|(at, row)| then(at, row));
            }
        }
        Ok(())
    }

    fn products<'s>(
        &self,
        rows: &[f32],
        packed: &PackedBMatrix<i8>,
        scratch: &'s mut Scratch,
    ) -> anyhow::Result<(&'s [i32], &'s [Steps])> {
        let n = rows.len() / self.n_in;
        let Scratch { integers, bytes, steps, products, .. } = scratch;
        let (bytes, steps) = (at_least(bytes, n * self.n_in), at_least(steps, n));
        let products = at_least(products, n * self.bias.len());
        for ((row, bytes), steps) in rows.chunks(self.n_in).zip(bytes.chunks_mut(self.n_in)).zip(steps.iter_mut()) {
            *steps = rows::to_bytes(row, bytes);
        }
        // rten-gemm 0.27 uses the zero points of the first rows for all rows, so that they are not given to it.
        let bytes = integers.prepack_a(NdTensorView::from_data([n, self.n_in], &*bytes));
        let (bytes, weights) = (GemmInputA::Packed(&bytes), GemmInputB::Packed(packed));
        integers.gemm(products, bytes, weights, GemmOptions::default()).map_err(failed)?;
        Ok((&*products, &*steps))
    }
}

/// The first `n` elements of a buffer, which grows when it is too short.
pub(super) fn at_least<T: Clone + Default>(buffer: &mut Vec<T>, n: usize) -> &mut [T] {
    if buffer.len() < n {
        buffer.resize(n, T::default());
    }
    &mut buffer[..n]
}

pub(super) fn failed(error: rten_gemm::GemmError) -> anyhow::Error {
    anyhow!("the matrix multiplication failed: {error:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row has its own range of numbers, and there are more rows than the kernels compute at once.
    #[test]
    fn both_kinds_of_products_equal_the_plain_formula() {
        let (n, n_in, n_out) = (75, 100, 50);
        let rows: Vec<f32> = (0..n * n_in)
            .map(|at| (at as f32 * 0.37).sin() * (1 + at / n_in) as f32 + (at / n_in % 3) as f32)
            .collect();
        let matrix = || Matrix {
            bytes: (0..n_in * n_out).map(|at| ((at * 7919) % 255) as u8 as i8).collect(),
            scale: (0..n_out).map(|column| 0.001 + 0.0001 * column as f32).collect(),
            bias: (0..n_out).map(|column| column as f32 - 20.0).collect(),
        };
        for (arithmetic, tolerance) in [(Arithmetic::of_this_processor(), 0.02), (Arithmetic::Floats, 1e-5)] {
            let plain = matrix();
            let dense = Dense::new(matrix(), arithmetic);
            let (mut out, mut seen) = (vec![0.0; n * n_out], Vec::new());
            let note = |at, row: &mut [f32]| seen.push((at, row.to_vec()));
            dense.run(&rows, &mut out, &mut Scratch::default(), note).unwrap();
            for (at, row) in out.chunks(n_out).enumerate() {
                assert_eq!(seen[at], (at, row.to_vec()));
                let input = &rows[at * n_in..][..n_in];
                let length = input.iter().map(|x| x * x).sum::<f32>().sqrt();
                for (column, found) in row.iter().enumerate() {
                    let weight = |k: usize| f32::from(plain.bytes[k * n_out + column]) * plain.scale[column];
                    let sum: f32 = (0..n_in).map(|k| input[k] * weight(k)).sum();
                    let norm = (0..n_in).map(|k| weight(k).powi(2)).sum::<f32>().sqrt();
                    let error = (found - plain.bias[column] - sum).abs() / (length * norm);
                    assert!(error < tolerance, "{arithmetic:?}: row {at}, column {column} is off by {error}");
                }
            }
        }
    }
}

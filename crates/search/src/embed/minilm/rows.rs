//! What happens to single rows between two matrix products, compiled for several instruction sets. The best one is chosen
//! at run time.

// The attribute expands to an `unsafe` call of a function with more instructions, after a check that the CPU has them.
#![allow(unsafe_code)]

use std::f32::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E};

use multiversion::multiversion;

const LANES: usize = 32;
type Lanes = [f32; LANES];

/// A number with this added has its integer part in the low bits. The addition rounds to the nearest integer.
const ROUND: f32 = 12_582_912.0;

/// The number of each row is close to `(byte - zero) * scale`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    pub scale: f32,
    pub zero: f32,
}

/// Rounds the numbers of a row to 256 steps between the least and the largest.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2+fma"))]
pub(super) fn to_bytes(row: &[f32], bytes: &mut [u8]) -> Steps {
    let (low, high) = (fold(row, 0.0, smaller), fold(row, 0.0, larger));
    let scale = (high - low) / 255.0;
    let per_step = if scale > 0.0 { scale.recip() } else { 0.0 };
    let zero = (-low * per_step + ROUND) - ROUND;
    let byte = |x: f32| {
        let step = smaller(larger(x * per_step + zero, 0.0), 255.0);
        (step + ROUND).to_bits() as u8
    };
    row.iter().zip(bytes).for_each(|(x, to)| *to = byte(*x));
    Steps { scale, zero }
}

/// One row of an 8-bit product as numbers. `scale`, `sums` and `bias` have one value for each column: the scale of its
/// weights, the sum of its weights, and what is added.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2+fma"))]
pub(super) fn to_numbers(products: &[i32], steps: Steps, scale: &[f32], sums: &[f32], bias: &[f32], row: &mut [f32]) {
    let columns = scale.iter().zip(sums).zip(bias);
    for ((x, product), ((scale, sum), bias)) in row.iter_mut().zip(products).zip(columns) {
        *x = (*product as f32 - steps.zero * sum) * (steps.scale * scale) + bias;
    }
}

/// `row + other`, scaled to mean 0 and variance 1, times `gain` plus `bias`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2+fma"))]
pub(super) fn add_and_norm(row: &mut [f32], other: &[f32], gain: &[f32], bias: &[f32]) {
    const EPSILON: f32 = 1e-12;
    row.iter_mut().zip(other).for_each(|(x, other)| *x += other);
    let n = row.len() as f32;
    let mean = sum(row, |x| x) / n;
    let variance = sum(row, |x| (x - mean) * (x - mean)) / n;
    let scale = (variance + EPSILON).sqrt().recip();
    for ((x, gain), bias) in row.iter_mut().zip(gain).zip(bias) {
        *x = (*x - mean) * scale * gain + bias;
    }
}

/// The Gaussian error linear unit, `x / 2 * (1 + erf(x / √2))`, by formula 7.1.26 of Abramowitz and Stegun.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2+fma"))]
pub(super) fn gelu(row: &mut [f32]) {
    row.iter_mut().for_each(|x| *x = gelu_of(*x));
}

/// The shares of a row before their division: `e` to the power of each number. Returns what they must be multiplied with, so
/// that their sum is 1.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512dq", "x86_64+avx2+fma"))]
pub(super) fn softmax(row: &mut [f32]) -> f32 {
    let high = fold(row, f32::MIN, larger);
    row.iter_mut().for_each(|x| *x = exp(*x - high));
    sum(row, |x| x).recip()
}

#[inline(always)]
fn gelu_of(x: f32) -> f32 {
    const A: [f32; 5] = [0.254_829_6, -0.284_496_72, 1.421_413_8, -1.453_152_1, 1.061_405_4];
    let y = x.abs() * FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * y);
    let tail = ((((A[4] * t + A[3]) * t + A[2]) * t + A[1]) * t + A[0]) * t * exp(-y * y);
    // 1 + erf is `2 - tail` on the right of zero and `tail` on its left.
    0.5 * x * if x > 0.0 { 2.0 - tail } else { tail }
}

/// `e` to the power of a number that is at most 0: a power of two by the bits of the exponent, times a series.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const C: [f32; 6] = [LN_2, 0.240_226_5, 0.055_504_11, 0.009_618_129, 0.001_333_355_8, 0.000_154_035_3];
    let power = larger(x * LOG2_E, -126.0);
    let shifted = power + ROUND;
    let rest = power - (shifted - ROUND);
    let series = 1.0 + rest * (C[0] + rest * (C[1] + rest * (C[2] + rest * (C[3] + rest * (C[4] + rest * C[5])))));
    series * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

#[inline(always)]
fn fold(row: &[f32], start: f32, step: impl Fn(f32, f32) -> f32) -> f32 {
    let (lanes, rest) = row.as_chunks::<LANES>();
    let mut folded: Lanes = [start; LANES];
    for lanes in lanes {
        for at in 0..LANES {
            folded[at] = step(folded[at], lanes[at]);
        }
    }
    folded.iter().chain(rest).fold(start, |folded, x| step(folded, *x))
}

#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (lanes, rest) = row.as_chunks::<LANES>();
    let mut sums: Lanes = [0.0; LANES];
    for lanes in lanes {
        for at in 0..LANES {
            sums[at] += of(lanes[at]);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

/// One instruction, unlike `f32::min`, which has rules for numbers that are not a number.
#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(mut row: Vec<f32>) -> Vec<f32> {
        let share = softmax(&mut row);
        row.iter().map(|x| x * share).collect()
    }

    fn waves(n: usize) -> Vec<f32> {
        (0..n).map(|at| (at as f32 * 0.7).sin() * 3.0 + (at as f32 * 0.13).cos()).collect()
    }

    #[test]
    fn bytes_are_within_half_a_step_of_their_numbers() {
        for row in [waves(384), waves(37), vec![2.5; 40], vec![-1.0; 16], vec![0.0; 20]] {
            let mut bytes = vec![0; row.len()];
            let steps = to_bytes(&row, &mut bytes);
            for (x, byte) in row.iter().zip(bytes) {
                let back = (f32::from(byte) - steps.zero) * steps.scale;
                assert!((x - back).abs() <= 0.501 * steps.scale, "{x} became {back} in steps of {}", steps.scale);
            }
        }
    }

    #[test]
    fn gelu_and_softmax_equal_the_plain_formulas() {
        // Values of erf from a table.
        for (x, erf) in [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (2.0, 0.995_322_3), (4.0, 1.0)] {
            for sign in [1.0, -1.0] {
                let x: f32 = sign * x * std::f32::consts::SQRT_2;
                let mut row = vec![x; 19];
                gelu(&mut row);
                let expected = x / 2.0 * (1.0 + sign * erf);
                assert!(row.iter().all(|y| (y - expected).abs() < 2e-6), "{x}: {row:?} in place of {expected}");
            }
        }
        for n in [1, 16, 45] {
            let (row, plain) = (shares(waves(n)), waves(n));
            let total: f64 = plain.iter().map(|x| f64::from(*x).exp()).sum();
            for (share, x) in row.iter().zip(plain) {
                assert!((f64::from(*share) - f64::from(x).exp() / total).abs() < 1e-6);
            }
        }
        let far = shares(vec![-300.0, 0.0, -1000.0]);
        assert!(far[1] > 0.999_999 && far[0] < 1e-30 && far[2] < 1e-30, "{far:?}");
        let equal = shares(vec![-500.0; 20]);
        assert!(equal.iter().all(|share| (share - 0.05).abs() < 1e-6), "{equal:?}");
    }

    #[test]
    fn a_normed_row_has_the_mean_and_the_variance_of_its_gain_and_bias() {
        let mut row = waves(384);
        add_and_norm(&mut row, &[0.25; 384], &[2.0; 384], &[0.5; 384]);
        let mean = row.iter().sum::<f32>() / 384.0;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 384.0;
        assert!((mean - 0.5).abs() < 1e-4 && (variance - 4.0).abs() < 1e-3, "{mean} {variance}");
    }
}

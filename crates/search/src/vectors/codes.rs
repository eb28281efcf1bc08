//! Codes: one bit per dimension of each vector. A cosine is estimated from codes a hundred times faster than computed.
//!
//! The centre of all vectors is subtracted from a vector, and the result is rotated by a fixed random rotation. Only the
//! signs are kept, with one number that corrects the loss of length (as in RaBitQ). The query keeps four bits per
//! dimension.

use std::{io, sync::Arc};

use rayon::prelude::*;

use super::{super::simd, Bits, Slot, file::VectorFile};
use crate::cores;

/// A clone shares the blocks, so that a search reads its own clone while another one is extended.
#[derive(Clone)]
pub(super) struct Codes {
    frame: Arc<Frame>,
    /// All are full except the last one.
    blocks: Vec<Arc<Block>>,
}

/// What all codes have in common.
struct Frame {
    rotation: Rotation,
    centre: Vec<f32>,
    centred_at: u32,
    words_per_code: usize,
}

#[derive(Clone, Default)]
struct Block {
    words: Vec<u64>,
    gains: Vec<f32>,
    /// The number of one bits of each code.
    ones: Vec<u16>,
}

/// The number of codes that one thread scans at a time.
const BLOCK: usize = 1 << 14;
/// The number of vectors from which the centre is computed.
const CENTRE_SAMPLE: u32 = 4096;
/// The number of vectors that are read at once to compute codes: enough work for all cores, and little memory.
const READ_AT_ONCE: u32 = 1 << 13;

impl Codes {
    pub(super) fn of(file: &VectorFile, n_slots: u32) -> io::Result<Self> {
        let rotation = Rotation::new(file.dims());
        let words_per_code = rotation.width() / 64;
        let centre = centre(file, n_slots)?;
        let frame = Arc::new(Frame { rotation, centre, centred_at: n_slots, words_per_code });
        let mut codes = Self { frame, blocks: Vec::new() };
        for from in (0..n_slots).step_by(READ_AT_ONCE as usize) {
            codes.extend(&file.read_all(from, n_slots.min(from + READ_AT_ONCE))?);
        }
        Ok(codes)
    }

    pub(super) fn len(&self) -> u32 {
        let last = self.blocks.last().map_or(0, |block| block.gains.len());
        (self.blocks.len().saturating_sub(1) * BLOCK + last) as u32
    }

    pub(super) fn centred_at(&self) -> u32 {
        self.frame.centred_at
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let bytes =
            |block: &Arc<Block>| block.words.capacity() * 8 + block.gains.capacity() * 4 + block.ones.capacity() * 2;
        self.blocks.iter().map(bytes).sum()
    }

    pub(super) fn extend(&mut self, vectors: &[Vec<f32>]) {
        let code = |vector: &Vec<f32>| self.frame.code(vector);
        let coded: Vec<_> = match cores::may_use_all() {
            true => vectors.par_iter().map(code).collect(),
            false => vectors.iter().map(code).collect(),
        };
        for (words, gain, ones) in coded {
            if self.blocks.last().is_none_or(|block| block.gains.len() == BLOCK) {
                self.blocks.push(Arc::default());
            }
            if let Some(block) = self.blocks.last_mut() {
                let block = Arc::make_mut(block);
                block.words.extend(words);
                block.gains.push(gain);
                block.ones.push(ones);
            }
        }
    }

    /// The slots with the highest estimated cosine, in ascending order of slots.
    pub(super) fn best(&self, query: &QueryCode, n: usize, allowed: &Bits) -> Vec<Slot> {
        let scanned = |mut best: Best, block: usize| {
            self.blocks[block].scan(block * BLOCK, query, allowed, &mut best);
            best
        };
        let blocks = 0..self.blocks.len();
        if !cores::may_use_all() {
            return blocks.fold(Best::new(n), scanned).slots();
        }
        let parts: Vec<Best> = blocks.into_par_iter().fold(|| Best::new(n), scanned).collect();
        let mut best = Best::new(n);
        parts.into_iter().flat_map(|part| part.kept).for_each(|(guess, slot)| best.offer(guess, slot));
        best.slots()
    }
}

impl Frame {
    fn code(&self, vector: &[f32]) -> (Vec<u64>, f32, u16) {
        let from_centre: Vec<f32> = vector.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
        let turned = self.rotation.turn(&from_centre);
        let words: Vec<u64> = turned
            .chunks(64)
            .map(|chunk| chunk.iter().enumerate().fold(0, |word, (bit, x)| word | u64::from(*x > 0.0) << bit))
            .collect();
        let squared: f32 = turned.iter().map(|x| x * x).sum();
        let along_code: f32 = turned.iter().map(|x| x.abs()).sum();
        let gain = if along_code > 0.0 { squared / along_code } else { 0.0 };
        let ones = words.iter().map(|word| word.count_ones()).sum::<u32>() as u16;
        (words, gain, ones)
    }
}

impl Block {
    /// Offers the codes of this block, whose first slot is `from`.
    fn scan(&self, from: usize, query: &QueryCode, allowed: &Bits, best: &mut Best) {
        let mut sums = vec![0u32; self.gains.len()];
        match query.bits[0].len() {
            8 => simd::masked_sums::<8>(&self.words, &query.planes(), &mut sums),
            16 => simd::masked_sums::<16>(&self.words, &query.planes(), &mut sums),
            32 => simd::masked_sums::<32>(&self.words, &query.planes(), &mut sums),
            _ => simd::masked_sums::<64>(&self.words, &query.planes(), &mut sums),
        }
        for (at, sum) in sums.into_iter().enumerate() {
            let slot = from + at;
            let along = query.base + query.per_one * f32::from(self.ones[at]) + query.per_sum * sum as f32;
            let guess = self.gains[at] * along;
            if guess > best.threshold && allowed.contains(slot as Slot) {
                best.offer(guess, slot as Slot);
            }
        }
    }
}

fn centre(file: &VectorFile, n_slots: u32) -> io::Result<Vec<f32>> {
    let mut centre = vec![0.0; file.dims()];
    let step = n_slots.div_ceil(CENTRE_SAMPLE).max(1);
    let sampled: Vec<Slot> = (0..n_slots).step_by(step as usize).collect();
    for &slot in &sampled {
        let vector = &file.read_all(slot, slot + 1)?[0];
        centre.iter_mut().zip(vector).for_each(|(c, x)| *c += x / sampled.len() as f32);
    }
    Ok(centre)
}

/// The rotated query, with sixteen levels per dimension.
pub(super) struct QueryCode {
    /// Bit planes, lowest first, each `words_per_code` long.
    bits: [Vec<u64>; 4],
    base: f32,
    per_one: f32,
    per_sum: f32,
}

impl QueryCode {
    pub(super) fn new(codes: &Codes, query: &[f32]) -> Self {
        let turned = codes.frame.rotation.turn(query);
        let (low, high) = turned.iter().fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        let step = ((high - low) / 15.0).max(f32::MIN_POSITIVE);
        let mut bits: [Vec<u64>; 4] = std::array::from_fn(|_| vec![0; codes.frame.words_per_code]);
        for (at, x) in turned.iter().enumerate() {
            let level = ((x - low) / step).round() as u64;
            for (plane, bits) in bits.iter_mut().enumerate() {
                bits[at / 64] |= (level >> plane & 1) << (at % 64);
            }
        }
        // The bits mean +1 and -1, so a product is twice the sum at the one bits minus the sum of all.
        Self { bits, base: -turned.iter().sum::<f32>(), per_one: 2.0 * low, per_sum: 2.0 * step }
    }

    fn planes<const WORDS: usize>(&self) -> [[u64; WORDS]; 4] {
        std::array::from_fn(|plane| std::array::from_fn(|word| self.bits[plane][word]))
    }
}

/// The `n` best estimates so far. The list is trimmed only when it has reached twice that length.
struct Best {
    n: usize,
    threshold: f32,
    kept: Vec<(f32, Slot)>,
}

impl Best {
    fn new(n: usize) -> Self {
        Self { n: n.max(1), threshold: f32::NEG_INFINITY, kept: Vec::new() }
    }

    fn offer(&mut self, guess: f32, slot: Slot) {
        self.kept.push((guess, slot));
        if self.kept.len() >= 2 * self.n {
            self.trim();
        }
    }

    fn trim(&mut self) {
        if self.kept.len() > self.n {
            self.kept.select_nth_unstable_by(self.n - 1, |a, b| b.0.total_cmp(&a.0));
            self.kept.truncate(self.n);
            self.threshold = self.kept[self.n - 1].0;
        }
    }

    fn slots(mut self) -> Vec<Slot> {
        self.trim();
        let mut slots: Vec<Slot> = self.kept.into_iter().map(|(_, slot)| slot).collect();
        slots.sort_unstable();
        slots
    }
}

/// A fixed pseudo-random rotation: sign flips and the fast Hadamard transform, twice.
struct Rotation {
    signs: [Vec<f32>; 2],
}

impl Rotation {
    /// Short vectors are padded to at least 512 dimensions, because more bits give better estimates.
    fn new(dims: usize) -> Self {
        let width = dims.next_power_of_two().clamp(512, 4096);
        let mut state = 0x5e90_e5e9_0e5e_90e5_u64;
        let mut sign = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if state >> 63 == 1 { 1.0 } else { -1.0 }
        };
        Self { signs: std::array::from_fn(|_| (0..width).map(|_| sign()).collect()) }
    }

    fn width(&self) -> usize {
        self.signs[0].len()
    }

    fn turn(&self, vector: &[f32]) -> Vec<f32> {
        let mut turned = vector.to_vec();
        turned.resize(self.width(), 0.0);
        for signs in &self.signs {
            turned.iter_mut().zip(signs).for_each(|(x, sign)| *x *= sign);
            hadamard(&mut turned);
        }
        turned
    }
}

fn hadamard(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                let (sum, difference) = (*a + *b, *a - *b);
                *a = sum;
                *b = difference;
            }
        }
        half *= 2;
    }
    let scale = 1.0 / (values.len() as f32).sqrt();
    values.iter_mut().for_each(|x| *x *= scale);
}

//! Vectors: exact vectors in a file, small codes in memory, and the search that uses both.

mod codes;
mod file;

use std::{
    io,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
};

use codes::{Codes, QueryCode};
use file::VectorFile;

/// Position of a vector, from 0. A vector never changes, and its slot is never reused.
pub type Slot = u32;

/// All vectors of one embedder, in the order of their addition.
pub struct Vectors {
    file: VectorFile,
    /// Locked only to take or to replace it. Codes are computed and scanned by the threads of rayon, and one of these
    /// threads may wait for this lock: holding it meanwhile would block them all.
    codes: RwLock<Arc<Codes>>,
}

/// A vector and its cosine with the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    pub slot: Slot,
    pub similarity: f32,
}

/// The number of candidates of the first pass that are computed exactly, per requested result.
const OVERSAMPLING: usize = 2;

impl Vectors {
    /// Opens the first `n_slots` vectors of a file. The rest of the file belongs to an unfinished write.
    pub fn open(path: &Path, dims: usize, n_slots: u32) -> io::Result<Self> {
        let file = VectorFile::open(path, dims, n_slots)?;
        let codes = Codes::of(&file, n_slots)?;
        Ok(Self { file, codes: RwLock::new(Arc::new(codes)) })
    }

    pub fn len(&self) -> u32 {
        self.codes().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory that grows with the number of vectors.
    pub fn memory_bytes(&self) -> usize {
        self.codes().memory_bytes()
    }

    /// Appends vectors and returns the slot of the first. They are durable when this returns.
    pub fn append(&self, vectors: &[Vec<f32>]) -> io::Result<Slot> {
        let first = self.len();
        self.file.append(first, vectors)?;
        self.extend_to(first + vectors.len() as u32)?;
        Ok(first)
    }

    /// Reads the vectors that another process has appended, up to `n_slots`. Called by one thread at a time.
    pub fn extend_to(&self, n_slots: u32) -> io::Result<()> {
        // The centre of the codes was computed from the first vectors. It is computed again each time the number of vectors
        // has doubled, so its total cost stays linear.
        let codes = self.codes();
        let extended = if n_slots > 2 * codes.centred_at().max(512) {
            Codes::of(&self.file, n_slots)?
        } else if n_slots > codes.len() {
            let mut extended = Codes::clone(&codes);
            extended.extend(&self.file.read_all(codes.len(), n_slots)?);
            extended
        } else {
            return Ok(());
        };
        *self.codes.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(extended);
        Ok(())
    }

    /// The nearest allowed vectors, best first: an approximate pass over the codes, then an exact pass over the best.
    pub fn nearest(&self, query: &[f32], limit: usize, allowed: &Bits) -> io::Result<Vec<Near>> {
        let codes = self.codes();
        let candidates = codes.best(&QueryCode::new(&codes, query), limit * OVERSAMPLING, allowed);
        let mut near = self.similarities(query, &candidates)?;
        near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.slot.cmp(&b.slot)));
        near.truncate(limit);
        Ok(near)
    }

    /// The exact cosines of these vectors with the query, in the order of the given slots.
    pub fn similarities(&self, query: &[f32], slots: &[Slot]) -> io::Result<Vec<Near>> {
        let mut cells = self.file.buffer();
        slots
            .iter()
            .map(|&slot| Ok(Near { slot, similarity: self.file.similarity(query, slot, &mut cells)? }))
            .collect()
    }

    /// Copies of the vectors in these slots.
    pub fn read(&self, slots: &[Slot]) -> io::Result<Vec<Vec<f32>>> {
        slots.iter().map(|&slot| Ok(self.file.read_all(slot, slot + 1)?.remove(0))).collect()
    }

    fn codes(&self) -> Arc<Codes> {
        self.codes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A set of slots.
#[derive(Clone, Debug, Default)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Keeps only the slots that are in both sets.
    pub fn keep(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    pub fn none(n_slots: u32) -> Self {
        Self { words: vec![0; n_slots.div_ceil(64) as usize] }
    }

    pub fn insert(&mut self, slot: Slot) {
        self.words[slot as usize / 64] |= 1 << (slot % 64);
    }

    pub fn contains(&self, slot: Slot) -> bool {
        self.words.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Up to `n` evenly spread members.
    pub fn sample(&self, n: usize) -> Vec<Slot> {
        let count: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        let step = (count as usize).div_ceil(n.max(1)).max(1);
        self.iter().step_by(step).collect()
    }

    fn iter(&self) -> impl Iterator<Item = Slot> {
        self.words.iter().zip(0..).flat_map(|(&word, at): (_, u32)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests;

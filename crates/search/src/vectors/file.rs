//! The file of exact vectors: records of fixed length, append-only.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
};

use super::{super::simd, Slot};

/// A record is an `f32` scale and one `i16` per dimension, little endian. Sixteen bits are exact enough for the ranking
/// (an error of 0.00002 in a cosine) at half the size of floats. Records are read with `pread`, so the page cache of the
/// operating system is the only copy in memory.
pub(super) struct VectorFile {
    file: File,
    dims: usize,
}

/// A buffer for one record.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    cells: Vec<i16>,
}

impl VectorFile {
    pub(super) fn open(path: &Path, dims: usize, n_slots: u32) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let vectors = Self { file, dims };
        if vectors.file.metadata()?.len() < vectors.offset(n_slots) {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the vector file is shorter than the index expects",
            ));
        }
        Ok(vectors)
    }

    /// Writes vectors from a slot on and syncs the file.
    pub(super) fn append(&self, first: Slot, vectors: &[Vec<f32>]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(vectors.len() * self.record_bytes());
        for vector in vectors {
            if vector.len() != self.dims {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "the vector has another length"));
            }
            let largest = vector.iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
            let scale = largest / f32::from(i16::MAX);
            bytes.extend(scale.to_le_bytes());
            let cell = |x: &f32| if scale > 0.0 { (x / scale).round() as i16 } else { 0 };
            bytes.extend(vector.iter().flat_map(|x| cell(x).to_le_bytes()));
        }
        self.file.write_all_at(&bytes, self.offset(first))?;
        self.file.sync_data()
    }

    pub(super) fn read_all(&self, from: Slot, to: Slot) -> io::Result<Vec<Vec<f32>>> {
        let mut buffer = self.buffer();
        (from..to)
            .map(|slot| {
                let scale = self.read(slot, &mut buffer)?;
                Ok(buffer.cells.iter().map(|cell| scale * f32::from(*cell)).collect())
            })
            .collect()
    }

    pub(super) fn similarity(&self, query: &[f32], slot: Slot, buffer: &mut Buffer) -> io::Result<f32> {
        let scale = self.read(slot, buffer)?;
        Ok(scale * simd::dot(query, &buffer.cells))
    }

    pub(super) fn buffer(&self) -> Buffer {
        Buffer { bytes: vec![0; self.record_bytes()], cells: vec![0; self.dims] }
    }

    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    /// Fills the buffer with the values and returns their scale.
    fn read(&self, slot: Slot, buffer: &mut Buffer) -> io::Result<f32> {
        self.file.read_exact_at(&mut buffer.bytes, self.offset(slot))?;
        let (scale, cells) = buffer.bytes.split_at(4);
        for (cell, bytes) in buffer.cells.iter_mut().zip(cells.as_chunks::<2>().0) {
            *cell = i16::from_le_bytes(*bytes);
        }
        Ok(f32::from_le_bytes([scale[0], scale[1], scale[2], scale[3]]))
    }

    fn record_bytes(&self) -> usize {
        4 + 2 * self.dims
    }

    fn offset(&self, slot: Slot) -> u64 {
        u64::from(slot) * self.record_bytes() as u64
    }
}

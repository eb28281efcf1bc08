//! The built-in embedder: a table of word pieces in the binary. It is always available and very fast.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{EmbedError, Embedder, EmbedderId, TextKind, normalize, wordpiece};

const DIMS: usize = 256;
/// The `f32` scales of all rows, then the rows as `i8`; one row per piece, without special tokens in brackets.
static TABLE: &[u8] = include_bytes!("../../assets/embedder/table.bin");
/// First half of the table's SHA-256. A test compares it with the file.
const HASH: &str = "96d42872eb87dd88";

/// A text's vector is the sum of the rows of its pieces. The rows are already weighted by how informative each piece
/// is.
#[derive(Clone)]
pub struct StaticTable {
    /// Row of a piece; special tokens such as `[UNK]` have none.
    rows: Arc<[Option<u32>]>,
}

impl StaticTable {
    /// Its name in [`EmbedderId`]. If this embedder is used alone, `tools/fetch-models` downloads a better one.
    pub const MODEL: &str = "segue-static";

    pub fn built_in() -> Result<Self, EmbedError> {
        let mut next = 0;
        let rows: Arc<[Option<u32>]> = wordpiece::vocabulary()
            .map(|piece| {
                let is_mark = piece.len() > 2 && piece.starts_with('[') && piece.ends_with(']');
                (!is_mark).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        if TABLE.len() != next as usize * (DIMS + 4) {
            return Err(EmbedError::Setup("the built-in table does not fit its vocabulary".into()));
        }
        Ok(Self { rows })
    }

    pub fn vector(&self, text: &str) -> Vec<f32> {
        let (scales, cells) = TABLE.split_at(TABLE.len() / (DIMS + 4) * 4);
        let mut sum = vec![0.0; DIMS];
        for piece in wordpiece::encode(text) {
            let Some(row) = self.rows[piece as usize] else { continue };
            let row = row as usize;
            let scale: [u8; 4] = scales[row * 4..][..4].try_into().expect("the slice has four bytes");
            let scale = f32::from_le_bytes(scale);
            for (total, cell) in sum.iter_mut().zip(&cells[row * DIMS..][..DIMS]) {
                *total += scale * f32::from(*cell as i8);
            }
        }
        normalize(&mut sum);
        sum
    }
}

impl Embedder for StaticTable {
    fn embed<'a>(&'a self, texts: &'a [String], _: TextKind) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move { Ok(texts.iter().map(|text| self.vector(text)).collect()) })
    }

    fn id(&self) -> EmbedderId {
        EmbedderId { model: Self::MODEL.into(), dims: DIMS, hash: HASH.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_hash_is_that_of_the_embedded_table() {
        let hash = format!("{:x}", Sha256::digest(TABLE));
        assert_eq!(&hash[..16], HASH);
    }

    #[test]
    fn texts_with_similar_meanings_are_closer_than_others() {
        let table = StaticTable::built_in().unwrap();
        let similarity =
            |a: &str, b: &str| -> f32 { table.vector(a).iter().zip(table.vector(b)).map(|(x, y)| x * y).sum() };
        for (query, near, far) in [
            ("sad songs", "a sorrowful, melancholy ballad", "upbeat dance floor anthem"),
            ("rainy night", "a storm over the dark city", "sunny beach at noon"),
            ("energetic workout music", "fast driving drums and loud guitars", "quiet lullaby for a child"),
        ] {
            assert!(similarity(query, near) > similarity(query, far) + 0.05, "{query}");
        }
    }

    #[test]
    fn a_text_without_known_pieces_has_the_zero_vector() {
        let table = StaticTable::built_in().unwrap();
        assert!(table.vector("").iter().all(|x| *x == 0.0));
    }
}

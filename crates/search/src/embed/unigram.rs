//! The unigram tokenizer of SentencePiece: splits a text into the most probable sequence of known pieces.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

/// Ids of the start mark, the end mark and the unknown piece.
const UNKNOWN: u32 = 0;
const START: u32 = 1;
const END: u32 = 2;
/// The first ids are marks, which never occur in a text.
const N_MARKS: usize = 6;

pub(super) struct Unigram {
    pieces: HashMap<Box<str>, (u32, f32)>,
    /// Length of the longest piece, in characters.
    longest: usize,
    /// The score of a character without a piece.
    unknown: f32,
}

impl Unigram {
    /// Parses lines of score, tab and piece. The line number is the id.
    pub(super) fn read(lines: &str) -> Option<Self> {
        let mut pieces = HashMap::new();
        let (mut longest, mut least) = (0, 0.0f32);
        for (id, line) in lines.lines().enumerate().skip(N_MARKS) {
            let (score, piece) = line.split_once('\t')?;
            let score: f32 = score.parse().ok()?;
            longest = longest.max(piece.chars().count());
            least = least.min(score);
            pieces.insert(piece.into(), (u32::try_from(id).ok()?, score));
        }
        (!pieces.is_empty()).then_some(Self { pieces, longest, unknown: least - 10.0 })
    }

    pub(super) fn encode(&self, text: &str) -> Vec<u32> {
        let folded: String = text.nfkc().collect();
        let marked: String = folded.split_whitespace().flat_map(|word| ["▁", word]).collect();
        let mut ids = vec![START];
        ids.extend(self.best_path(&marked));
        ids.push(END);
        ids
    }

    fn best_path(&self, text: &str) -> Vec<u32> {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let n = places.len() - 1;
        // The best path to each position: its score, the start of its last piece, and the id of that piece.
        let mut best = vec![(f32::NEG_INFINITY, 0, UNKNOWN); n + 1];
        best[0].0 = 0.0;
        for from in 0..n {
            let so_far = best[from].0;
            for to in from + 1..=(from + self.longest).min(n) {
                let known = self.pieces.get(&text[places[from]..places[to]]).copied();
                let (id, score) = match known {
                    Some(known) => known,
                    None if to == from + 1 => (UNKNOWN, self.unknown),
                    None => continue,
                };
                if so_far + score > best[to].0 {
                    best[to] = (so_far + score, from, id);
                }
            }
        }
        let mut ids = Vec::new();
        let mut at = n;
        while at > 0 {
            ids.push(best[at].2);
            at = best[at].1;
        }
        ids.reverse();
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_its_most_probable_pieces() {
        let lines = "0\t<unk>\n0\t<s>\n0\t</s>\n0\ta\n0\tb\n0\tc\n-3\t▁\n-5\t▁rain\n-6\t▁ra\n-6\tin\n-2\ts\n-9\tbow\n";
        let pieces = Unigram::read(lines).unwrap();
        assert_eq!(pieces.encode("rain"), [1, 7, 2]);
        assert_eq!(pieces.encode(" rains  rainbow"), [1, 7, 10, 7, 11, 2]);
        assert_eq!(pieces.encode("xs"), [1, 6, 0, 10, 2], "an unknown character is one piece");
        assert_eq!(pieces.encode(""), [1, 2]);
        assert!(Unigram::read("no table").is_none());
    }
}

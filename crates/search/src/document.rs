//! The searchable text of a track: the words for BM25 and the chunks that get a vector.

use std::mem;

use sha2::{Digest, Sha256};

use music::Track;
use query::{latin::with_latin, words::is_unspaced};

/// Title, artist and album, which have extra weight. A name in another script is also included in Latin letters.
pub fn names(track: &Track) -> String {
    join([with_latin(&track.title).as_str(), &with_latin(&track.artist), &with_latin(&track.album)])
}

/// All names, tags and descriptions of a track, without its lyrics.
pub fn meaning(track: &Track) -> String {
    let tags = track.tags.join(" ");
    let description = track.short_description.as_deref().unwrap_or_default();
    let interpretation = track.interpretation.as_deref().unwrap_or_default();
    join([track.title.as_str(), &track.artist, &track.album, description, &tags, interpretation])
}

/// The texts of a track that get one vector each: first names and descriptions, then lyrics.
pub fn chunks(track: &Track) -> Vec<String> {
    let mut chunks = split(&meaning(track), ". ");
    chunks.extend(split(track.lyrics.as_deref().unwrap_or_default(), "\n"));
    chunks.truncate(MAX_CHUNKS);
    chunks
}

/// Two tracks with the same digest have the same vectors.
pub fn digest(chunks: &[String]) -> String {
    let mut hasher = Sha256::new();
    for chunk in chunks {
        hasher.update((chunk.len() as u64).to_le_bytes());
        hasher.update(chunk);
    }
    format!("{:x}", hasher.finalize())[..32].to_string()
}

/// MiniLM reads at most 256 word pieces. A piece is about four letters, or one Chinese character.
const CHUNK_QUARTERS: usize = 4 * 250;
const MAX_CHUNKS: usize = 12;

fn join<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Splits a text into as few chunks as possible, between sentences or lines.
fn split(text: &str, boundary: &str) -> Vec<String> {
    let mut chunks = Vec::new();
    let mut chunk = String::new();
    for part in text.split_inclusive(boundary) {
        for piece in bounded(part) {
            if !chunk.is_empty() && quarters(&chunk) + quarters(piece) > CHUNK_QUARTERS {
                chunks.push(mem::take(&mut chunk));
            }
            chunk.push_str(piece);
        }
    }
    chunks.push(chunk);
    chunks.retain(|chunk| !chunk.trim().is_empty());
    chunks
}

/// A sentence that is longer than a chunk is cut at the maximum length.
fn bounded(part: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut cost) = (0, 0);
    for (at, c) in part.char_indices() {
        cost += char_quarters(c);
        if cost > CHUNK_QUARTERS {
            pieces.push(&part[start..at]);
            (start, cost) = (at, char_quarters(c));
        }
    }
    pieces.push(&part[start..]);
    pieces
}

fn quarters(text: &str) -> usize {
    text.chars().map(char_quarters).sum()
}

fn char_quarters(c: char) -> usize {
    if is_unspaced(c) { 4 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunks_of_a_long_text_contain_the_whole_text() {
        let sentence = "A quiet song about rain on a tin roof. ";
        for (text, boundary) in [
            (sentence.repeat(80), ". "),
            ("The river runs\nand I run too\n".repeat(60), "\n"),
            ("海を見ていた".repeat(100), "\n"),
            ("short".into(), ". "),
        ] {
            let chunks = split(&text, boundary);
            assert_eq!(chunks.concat(), text);
            assert!(chunks.iter().all(|chunk| quarters(chunk) <= CHUNK_QUARTERS), "{boundary:?}");
            let fewest = quarters(&text).div_ceil(CHUNK_QUARTERS);
            assert!(chunks.len() <= fewest + 1, "{} chunks, {fewest} are possible", chunks.len());
        }
        assert!(split("", ". ").is_empty());
    }
}

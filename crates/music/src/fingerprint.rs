//! Do two files sound like the same recording? A comparison of acoustic fingerprints (Chromaprint).
//!
//! A fingerprint has one word of 32 bits for every 0.124 s. Two encodings of one recording differ in a few bits of a hundred;
//! different recordings differ in 35 to 50 of a hundred, and so do two performances of the same work.

use std::collections::BTreeSet;

use crate::identity::same_length;

/// How far the beginnings of two files may be apart, in words: 2 s.
const MOST_SHIFT: usize = 16;

/// Bits of 32 in which two words of one recording may differ, in the mean of all words.
const MOST_DIFFERENT: f64 = 3.2;

/// The same for every part of the recording: an intro that was added, or a verse with another voice, makes another recording.
const MOST_DIFFERENT_IN_PART: f64 = 9.0;

/// Words of a part: 4 s.
const PART: usize = 32;

/// A sound with fewer different words than this share says nothing about its recording: silence, a test tone, noise of a line.
const FEWEST_DIFFERENT_WORDS: f64 = 0.2;

/// Words that find a fingerprint among others.
const N_KEYS: usize = 32;

/// What up to the first 120 s of a recording sound like.
#[derive(Clone, Debug, PartialEq)]
pub struct Fingerprint {
    words: Vec<u32>,
    /// The length of the whole recording.
    seconds: f64,
}

impl Fingerprint {
    /// None: the sound says nothing about its recording.
    pub fn new(words: Vec<u32>, seconds: f64) -> Option<Self> {
        let different: BTreeSet<_> = words.iter().map(|word| coarse(*word)).collect();
        let is_telling = different.len() as f64 >= words.len() as f64 * FEWEST_DIFFERENT_WORDS;
        (words.len() >= PART && is_telling).then_some(Self { words, seconds })
    }

    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The stored form of the words.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// None: these bytes are no fingerprint.
    pub fn from_bytes(bytes: &[u8], seconds: f64) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<4>();
        rest.is_empty()
            .then(|| words.iter().map(|word| u32::from_le_bytes(*word)).collect())
            .and_then(|words| Self::new(words, seconds))
    }

    /// Numbers of which two encodings of one recording share some, and different recordings share none or few. A rule that
    /// depends on the word alone chooses them, so that both encodings choose the same ones.
    pub fn keys(&self) -> Vec<i64> {
        let mixed: BTreeSet<u32> = self.words.iter().map(|word| mixed(coarse(*word))).collect();
        mixed.into_iter().take(N_KEYS).map(i64::from).collect()
    }

    /// The same recording in another file: the same length, the same sound throughout.
    pub fn is_same_recording(&self, other: &Self) -> bool {
        same_length(Some(self.seconds), Some(other.seconds))
            && aligned(&self.words, &other.words).is_some_and(|bits| is_close(&bits))
    }
}

/// Without the bits that a lossy encoding changes most often.
fn coarse(word: u32) -> u32 {
    word >> 4
}

/// A number that looks random, so that the smallest ones are a fair choice (the finalizer of MurmurHash3).
fn mixed(word: u32) -> u32 {
    let mut h = word;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// In how many bits the words differ, where the two fit best.
fn aligned(a: &[u32], b: &[u32]) -> Option<Vec<u32>> {
    let shifted = (0..=MOST_SHIFT).flat_map(|shift| [(shift, 0), (0, shift)]);
    let compared = shifted.filter_map(|(skip_a, skip_b)| {
        let (a, b) = (a.get(skip_a..)?, b.get(skip_b..)?);
        let bits: Vec<u32> = a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).collect();
        (bits.len() >= PART).then_some(bits)
    });
    compared.min_by(|a, b| mean(a).total_cmp(&mean(b)))
}

fn is_close(bits: &[u32]) -> bool {
    let parts = bits.chunks(PART).filter(|part| part.len() >= PART / 2);
    mean(bits) <= MOST_DIFFERENT && parts.into_iter().all(|part| mean(part) <= MOST_DIFFERENT_IN_PART)
}

fn mean(bits: &[u32]) -> f64 {
    f64::from(bits.iter().sum::<u32>()) / bits.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that look random, from a seed.
    fn words(seed: u32, n: u32) -> Vec<u32> {
        (0..n).map(|i| mixed(seed.wrapping_mul(1_000_003).wrapping_add(i))).collect()
    }

    fn print(words: Vec<u32>) -> Fingerprint {
        Fingerprint::new(words, 60.0).unwrap()
    }

    #[test]
    fn a_few_other_bits_and_another_beginning_are_the_same_recording() {
        let original = words(1, 400);
        // Every third word differs in three bits.
        let lossy =
            original.iter().enumerate().map(|(i, word)| if i % 3 == 0 { word ^ (0x111 << (i % 20)) } else { *word });
        let lossy: Vec<u32> = lossy.collect();
        assert!(print(original.clone()).is_same_recording(&print(lossy.clone())));
        assert!(print(original.clone()).is_same_recording(&print(lossy[10..].to_vec())), "1.2 s were cut off");
        assert!(print(lossy[10..].to_vec()).is_same_recording(&print(original.clone())), "in either order");
        assert!(!print(original.clone()).is_same_recording(&print(words(2, 400))));
        assert!(!print(original.clone()).is_same_recording(&print(lossy[40..].to_vec())), "5 s were cut off");
        let shared = print(original).keys();
        let found = print(lossy).keys().iter().filter(|key| shared.contains(key)).count();
        assert!(found >= 2, "{found} keys find it");
    }

    #[test]
    fn another_part_or_another_length_is_another_recording() {
        let original = words(1, 900);
        let mut other_verse = original.clone();
        other_verse[400..440].copy_from_slice(&words(3, 40));
        assert!(!print(original.clone()).is_same_recording(&print(other_verse)), "5 s of 111 differ");
        let longer = Fingerprint::new(original.clone(), 63.0).unwrap();
        assert!(!print(original).is_same_recording(&longer), "the first part is the same, the length is not");
    }

    #[test]
    fn a_sound_that_does_not_change_has_no_fingerprint() {
        assert_eq!(Fingerprint::new(vec![627_964_279; 900], 120.0), None);
        assert_eq!(Fingerprint::new(words(1, 20), 5.0), None, "too short");
    }

    #[test]
    fn a_fingerprint_is_stored_as_bytes() {
        let original = print(words(1, 100));
        assert_eq!(Fingerprint::from_bytes(&original.to_bytes(), 60.0), Some(original.clone()));
        assert_eq!(Fingerprint::from_bytes(&original.to_bytes()[1..], 60.0), None);
    }
}

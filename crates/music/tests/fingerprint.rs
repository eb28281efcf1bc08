//! Recordings that resemble each other throughout: a version without the voice, another mix.
#![allow(clippy::unwrap_used)]

use music::Fingerprint;

/// Words that look random.
fn words() -> Vec<u32> {
    (1..=400_u32).map(|i| i.wrapping_mul(2_654_435_761).rotate_left(i % 32)).collect()
}

/// Every word with this many other bits.
fn with_other_bits(n: u32) -> Fingerprint {
    let other = words().into_iter().zip(0..).map(|(word, i)| word ^ ((1 << n) - 1_u32).rotate_left(i % 32));
    Fingerprint::new(other.collect(), 60.0).unwrap()
}

#[test]
fn a_difference_throughout_makes_another_recording_even_if_each_part_is_similar() {
    let original = Fingerprint::new(words(), 60.0).unwrap();
    for n in 0..=3 {
        assert!(original.is_same_recording(&with_other_bits(n)), "{n} of 32 bits");
    }
    for n in 4..=8 {
        assert!(!original.is_same_recording(&with_other_bits(n)), "{n} of 32 bits");
    }
}

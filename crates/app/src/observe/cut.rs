//! Long content in a trace: cut where a reader sees it, with the length and the hash of the whole.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// One attribute does not grow beyond this, its mark aside; a collector takes a few megabytes at once.
pub(super) const MOST_BYTES: usize = 64 * 1024;
/// Of those, how many are the end of the text: the newest of a conversation is there.
const END_BYTES: usize = 16 * 1024;

/// A text that may have been cut.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(super) text: String,
    /// Of the whole text, when something of it is missing.
    pub(super) whole: Option<Whole>,
}

#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) n_bytes: usize,
    pub(super) sha256: String,
}

impl Cut {
    pub(super) fn of(text: String) -> Self {
        if text.len() <= MOST_BYTES {
            return Self { text, whole: None };
        }
        let whole = Whole { n_bytes: text.len(), sha256: hex(&Sha256::digest(text.as_bytes())) };
        let head = text.floor_char_boundary(MOST_BYTES - END_BYTES);
        let tail = text.ceil_char_boundary(text.len() - END_BYTES);
        let (n_cut, n_bytes, sha256) = (tail - head, whole.n_bytes, &whole.sha256);
        let mark = format!("\n[… {n_cut} of {n_bytes} bytes are left out here; sha256 of the whole: {sha256} …]\n");
        let text = [&text[..head], &mark, &text[tail..]].concat();
        Self { text, whole: Some(whole) }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_ends_and_says_what_is_missing() {
        let short = Cut::of("x".repeat(MOST_BYTES));
        assert!(short.whole.is_none());
        // Three bytes each, so that neither end of the gap falls between two letters by itself.
        let text = format!("begins{}ends", "€".repeat(40_000));
        let cut = Cut::of(text.clone());
        let whole = cut.whole.expect("it was cut");
        assert_eq!(whole.n_bytes, 120_010);
        assert_eq!(whole.sha256, hex(&Sha256::digest(text.as_bytes())));
        assert!(cut.text.starts_with("begins€") && cut.text.ends_with("€ends"));
        assert!(
            cut.text.contains(&format!("of 120010 bytes are left out here; sha256 of the whole: {}", whole.sha256))
        );
        assert!(cut.text.len() < MOST_BYTES + 200, "{}", cut.text.len());
    }
}

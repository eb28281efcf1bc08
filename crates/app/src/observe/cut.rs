//! Long content in a trace: cut in the middle, with a visible mark, the total length and the hash.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The maximum size of one attribute without its mark: a collector accepts a few megabytes at once.
pub(super) const MOST_BYTES: usize = 64 * 1024;
/// How many of these bytes are from the end of the text, which has the newest messages of a conversation.
const END_BYTES: usize = 16 * 1024;

/// A text that may have been cut.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(super) text: String,
    /// The length and hash of the whole text, if it was cut.
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
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_ends_and_states_what_is_missing() {
        let short = Cut::of("x".repeat(MOST_BYTES));
        assert!(short.whole.is_none());
        // Three bytes each, so that both ends of the cut would be inside a character.
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

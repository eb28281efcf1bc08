//! The sample library, and queries about it.

use std::{fs, path::Path};

use anyhow::Context;
use music::Track;

/// Themes, a title, a line of lyrics, an errand and another language.
pub(crate) const QUERIES: [&str; 10] = [
    "leaving home on the first boat",
    "rain on a window late at night",
    "something calm for reading",
    "angry songs about a boss",
    "a lullaby for a newborn",
    "Leaving on the 6:40",
    "one coat, one case, one window seat",
    "dancing in the kitchen with grandmother",
    "renew my passport before the holidays",
    "Lieder über das Meer",
];

pub(crate) fn sample() -> anyhow::Result<Vec<Track>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/assets/sample");
    let mut tracks = Vec::new();
    for file in ["a.jsonl", "b.jsonl", "c.jsonl"] {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        for line in text.lines() {
            tracks.push(serde_json::from_str(line)?);
        }
    }
    Ok(tracks)
}

//! Text that people type: `Artist - Title`, codes and links, one per line.

use crate::{
    format::{Format, Holds},
    lines::{is_isrcs, list_counts, written_lines},
    spelling::{clean, split_at_dash},
    track::{Entry, ImportedTrack, LineError},
};

pub(super) const FORMAT: Format = Format {
    id: "plainText",
    name: "plain text",
    holds: Holds::Tracks,
    recognise: |beginning| {
        let n = list_counts(beginning);
        let n_known = n.names + n.codes;
        n_known > 0 && n_known * 2 >= n.lines
    },
    entries: |source| Box::new(written_lines(source, entry)),
};

fn entry(line: u64, text: &str, playlist: Option<&str>) -> Entry {
    let mut track = ImportedTrack::at(line);
    track.playlist = playlist.map(str::to_owned);
    if is_isrcs(text) {
        track.set_isrcs(text);
    } else if text.contains("://") || text.starts_with("spotify:") {
        track.set_link(text);
    } else {
        let text = without_number(text);
        if split_at_dash(text).is_none() {
            let expected = "neither \"Artist - Title\" nor an ISRC nor a link";
            return Err(LineError::unusable(line, format!("{expected}: {}", clean(text).unwrap_or_default())));
        }
        track.set_both(text);
    }
    track.finish()
}

/// `12. Artist - Title` and `12) …` without the number. A name may start with digits, so a separator must follow the
/// number.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < text.len() && text.len() - rest.len() <= 4;
    match rest.strip_prefix(['.', ')', ':']) {
        Some(rest) if is_numbered && rest.starts_with(char::is_whitespace) => rest.trim(),
        _ => text.trim_start_matches(['-', '*', '•']).trim(),
    }
}

//! Line-based files: numbered lines without comments, and the kinds of lines at the start of a file.

use std::io::BufRead;

use super::{
    beginning::Beginning,
    spelling::{clean, split_at_dash},
    track::{Entry, LineError},
};
use music::Isrc;

/// Lines with their numbers, from 1, without their ends.
pub(super) fn numbered(mut source: impl BufRead) -> impl Iterator<Item = Result<(u64, String), LineError>> {
    let (mut line, mut ended) = (0, false);
    std::iter::from_fn(move || {
        if ended {
            return None;
        }
        line += 1;
        let mut text = String::new();
        match source.read_line(&mut text) {
            Ok(0) => None,
            Ok(_) => Some(Ok((line, text.trim_end_matches(['\r', '\n']).to_owned()))),
            Err(error) => {
                ended = true;
                Some(Err(LineError::broken(line, error)))
            }
        }
    })
}

/// Every line that is neither empty nor a comment. A comment before the first entry is the name of the list.
pub(super) fn written_lines(
    source: impl BufRead,
    entry: impl Fn(u64, &str, Option<&str>) -> Entry,
) -> impl Iterator<Item = Entry> {
    let (mut playlist, mut begun) = (None, false);
    numbered(source).filter_map(move |line| {
        let (line, text) = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        match text.trim() {
            "" => None,
            text if text.starts_with('#') => {
                if !begun && playlist.is_none() {
                    playlist = clean(text.trim_start_matches('#'));
                }
                None
            }
            text => {
                begun = true;
                Some(entry(line, text, playlist.as_deref()))
            }
        }
    })
}

/// True if a line contains only codes.
pub(super) fn is_isrcs(text: &str) -> bool {
    let codes = Isrc::all_in(text.trim().trim_matches('"'));
    !codes.is_empty() && codes.iter().all(|code| code.as_ref().is_ok_and(|code| code.doubt().is_none()))
}

/// How many of the first lines are of which kind.
pub(super) struct ListCounts {
    pub(super) lines: usize,
    pub(super) codes: usize,
    /// `Artist - Title`, or a link to a track.
    pub(super) names: usize,
}

pub(super) fn list_counts(beginning: &Beginning) -> ListCounts {
    let lines = beginning.written_lines();
    let names_a_track = |line: &&&str| {
        split_at_dash(line).is_some()
            || line.starts_with("spotify:track:")
            || (line.starts_with("https://") && line.contains("/track/"))
    };
    ListCounts {
        lines: lines.len(),
        codes: lines.iter().filter(|line| is_isrcs(line)).count(),
        names: lines.iter().filter(names_a_track).count(),
    }
}

/// Decodes `%20` and other percent escapes.
pub(super) fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

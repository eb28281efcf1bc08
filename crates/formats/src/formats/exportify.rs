//! watsonbox's Exportify: has ISRCs; headers in twelve languages. <https://github.com/watsonbox/exportify>

use crate::{
    beginning::Head,
    columns::{Column, Columns},
    format::{Format, Holds},
    spelling::clean,
    table::{self, Dialect, Row},
    track::ImportedTrack,
};

pub(super) const FORMAT: Format = Format {
    id: "exportify",
    name: "Exportify playlist",
    holds: Holds::Playlist,
    recognise: |beginning| {
        beginning
            .head()
            .is_some_and(|head| is_translated(head) || (beginning.named_head().is_some() && head.has("Artist URI(s)")))
    },
    entries: |source| table::entries(source, Dialect { columns: Columns::exportify, adjust, ..Dialect::default() }),
};

/// Headers in another language. exportify.net has audio features in columns where this format still has names and
/// codes.
fn is_translated(head: &Head) -> bool {
    let has_feature_at_12 = head.header.get(12).is_some_and(|name| name.trim().eq_ignore_ascii_case("danceability"));
    head.header.len() >= 17 && head.row.get(0).is_some_and(|cell| cell.starts_with("spotify:")) && !has_feature_at_12
}

fn adjust(row: &Row, track: &mut ImportedTrack) {
    if let Some(artists) = row.cell(Column::Artist) {
        track.artists = comma_list(artists);
    }
}

/// Artists are joined with commas; a comma inside a name is written as `\,`.
fn comma_list(text: &str) -> Vec<String> {
    let (mut names, mut name) = (vec![], String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&',') => name.extend(chars.next()),
            ',' => names.extend(clean(&std::mem::take(&mut name))),
            _ => name.push(c),
        }
    }
    names.extend(clean(&name));
    names
}

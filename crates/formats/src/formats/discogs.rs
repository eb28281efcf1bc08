//! A record collection at Discogs: `Catalog#,Artist,Title,Label,Format,Rating,Released,release_id,…`. Each row is an
//! album.

use crate::{
    format::{Format, Holds},
    spelling::clean,
    table::{self, Dialect, Row},
    track::ImportedTrack,
};

pub(super) const FORMAT: Format = Format {
    id: "discogs",
    name: "Discogs collection",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.named_head().is_some_and(|head| head.has_all(&["Catalog#", "release_id"])),
    entries: |source| table::entries(source, Dialect { adjust, ..Dialect::default() }),
};

fn adjust(_row: &Row, track: &mut ImportedTrack) {
    track.artists = track.artists.iter().filter_map(|name| clean(plain_name(name))).collect();
    track.make_album();
}

/// Discogs distinguishes artists with the same name by a number, and marks a name variation with an asterisk.
fn plain_name(name: &str) -> &str {
    let name = name.trim_end_matches('*').trim_end();
    let number = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    match number {
        Some((plain, number)) if number.bytes().all(|c| c.is_ascii_digit()) => plain,
        _ => name,
    }
}

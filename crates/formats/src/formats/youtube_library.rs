//! `music library songs.csv` of Google Takeout. Until 2023 its header was `Song URL,Song Title,Album Title,Artist
//! Names`, since then `Video ID,Song Title,Album Title,Artist Name 1,…`.

use crate::{
    columns::Column,
    format::{Format, Holds},
    spelling::clean,
    table::{self, Dialect, Row},
    track::ImportedTrack,
};

pub(super) const FORMAT: Format = Format {
    id: "youtubeLibrary",
    name: "YouTube Music library",
    holds: Holds::Tracks,
    recognise: |beginning| {
        beginning
            .named_head()
            .is_some_and(|head| head.has("Song Title") && (head.has("Song URL") || head.has("Video ID")))
    },
    entries: |source| table::entries(source, Dialect { adjust, ..Dialect::default() }),
};

/// Each artist has a separate column.
fn adjust(row: &Row, track: &mut ImportedTrack) {
    track.artists = row.cells(Column::Artist).filter_map(clean).collect();
}

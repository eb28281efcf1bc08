//! `Apple Music - Play History Daily Tracks.csv` of a privacy export: one row for each track and day.

use crate::{
    columns::Column,
    format::{Format, Holds},
    table::{self, Dialect, Row},
    track::ImportedTrack,
};

pub(super) const FORMAT: Format = Format {
    id: "appleDailyTracks",
    name: "Apple Music play history",
    holds: Holds::History,
    recognise: |beginning| beginning.head().is_some_and(|head| head.has_all(&["Track Description", "Date Played"])),
    entries: |source| table::entries(source, Dialect { is_history: true, adjust, ..Dialect::default() }),
};

/// `Artist - Title`, always in this order.
fn adjust(row: &Row, track: &mut ImportedTrack) {
    track.set_both(row.cell(Column::Description).unwrap_or_default());
    track.either_way = false;
}

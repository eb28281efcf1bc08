//! `Apple Music - Play History Daily Tracks.csv` of a privacy export: one row for each track and day.

use crate::{
    beginning::Beginning,
    columns::Column,
    format::{Entries, Format, Source},
    table::{self, Dialect, Row},
    track::ImportedTrack,
};

pub(super) struct AppleDaily;

impl Format for AppleDaily {
    fn id(&self) -> &'static str {
        "appleDailyTracks"
    }

    fn name(&self) -> &'static str {
        "Apple Music play history"
    }

    fn is_history(&self) -> bool {
        true
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.head().is_some_and(|head| head.has_all(&["Track Description", "Date Played"]))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect { is_history: true, adjust, ..Dialect::default() })
    }
}

/// `Artist - Title`, always in this order.
fn adjust(row: &Row, track: &mut ImportedTrack) {
    track.set_both(row.cell(Column::Description).unwrap_or_default());
    track.either_way = false;
}

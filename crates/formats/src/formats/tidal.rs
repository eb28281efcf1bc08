//! `streaming.csv` of a data export of Tidal.

use crate::{
    columns::Column,
    format::{Format, Holds},
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "tidal",
    name: "Tidal listening history",
    holds: Holds::History,
    recognise: |beginning| {
        beginning
            .named_head()
            .is_some_and(|head| head.columns.has(Column::PlayedMilliseconds) || head.has("entry_date"))
    },
    entries: |source| table::entries(source, Dialect { is_history: true, ..Dialect::default() }),
};

//! The listening history in a data export of Deezer.

use crate::{
    columns::Column,
    format::{Format, Holds},
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "deezer",
    name: "Deezer listening history",
    holds: Holds::History,
    recognise: |beginning| beginning.named_head().is_some_and(|head| head.columns.has(Column::PlayedSeconds)),
    entries: |source| table::entries(source, Dialect { is_history: true, ..Dialect::default() }),
};

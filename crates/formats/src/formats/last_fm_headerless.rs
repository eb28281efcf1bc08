//! Scrobbles without a header: `artist, album, track, time`, as several Last.fm exporters write them.

use crate::{
    columns::Columns,
    format::{Format, Holds},
    spelling::moment,
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "lastFmWithoutHeader",
    name: "Last.fm scrobbles",
    holds: Holds::History,
    recognise: |beginning| {
        let is_moment = |cell: &str| moment(cell).is_some();
        beginning.head().is_some_and(|head| head.header.len() == 4 && head.header.get(3).is_some_and(is_moment))
    },
    entries: |source| {
        table::entries(
            source,
            Dialect { is_history: true, without_header: Some(Columns::headerless_scrobbles), ..Dialect::default() },
        )
    },
};

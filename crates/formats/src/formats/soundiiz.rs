//! Soundiiz: one table for each playlist.

use crate::{
    columns::Column,
    format::{Format, Holds},
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "soundiiz",
    name: "Soundiiz export",
    holds: Holds::Playlist,
    recognise: |beginning| {
        beginning.named_head().is_some_and(|head| {
            let starts = head.header.get(0) == Some("title") && head.header.get(1) == Some("artist");
            starts && head.columns.has(Column::Isrc)
        })
    },
    entries: |source| table::entries(source, Dialect::default()),
};

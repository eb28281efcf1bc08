//! Soundiiz: one table for each playlist.

use crate::{
    beginning::Beginning,
    columns::Column,
    format::{Entries, Format, Source},
    table::{self, Dialect},
};

pub(super) struct Soundiiz;

impl Format for Soundiiz {
    fn id(&self) -> &'static str {
        "soundiiz"
    }

    fn name(&self) -> &'static str {
        "Soundiiz export"
    }

    fn is_playlist(&self) -> bool {
        true
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.named_head().is_some_and(|head| {
            let starts = head.header.get(0) == Some("title") && head.header.get(1) == Some("artist");
            starts && head.columns.has(Column::Isrc)
        })
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect::default())
    }
}

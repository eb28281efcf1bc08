//! The listening history in a data export of Deezer.

use crate::{
    beginning::Beginning,
    columns::Column,
    format::{Entries, Format, Source},
    table::{self, Dialect},
};

pub(super) struct Deezer;

impl Format for Deezer {
    fn id(&self) -> &'static str {
        "deezer"
    }

    fn name(&self) -> &'static str {
        "Deezer listening history"
    }

    fn is_history(&self) -> bool {
        true
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.named_head().is_some_and(|head| head.columns.has(Column::PlayedSeconds))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect { is_history: true, ..Dialect::default() })
    }
}

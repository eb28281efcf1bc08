//! `streaming.csv` of a data export of Tidal.

use crate::{
    beginning::Beginning,
    columns::Column,
    format::{Entries, Format, Source},
    table::{self, Dialect},
};

pub(super) struct Tidal;

impl Format for Tidal {
    fn id(&self) -> &'static str {
        "tidal"
    }

    fn name(&self) -> &'static str {
        "Tidal listening history"
    }

    fn is_history(&self) -> bool {
        true
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning
            .named_head()
            .is_some_and(|head| head.columns.has(Column::PlayedMilliseconds) || head.has("entry_date"))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect { is_history: true, ..Dialect::default() })
    }
}

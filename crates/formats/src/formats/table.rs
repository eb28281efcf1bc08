//! Any other table with known column names, in several languages.

use crate::{
    beginning::Beginning,
    format::{Entries, Format, Source},
    table::{self, Dialect},
};

pub(super) struct Table;

impl Format for Table {
    fn id(&self) -> &'static str {
        "table"
    }

    fn name(&self) -> &'static str {
        "table"
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.named_head().is_some()
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect::default())
    }
}

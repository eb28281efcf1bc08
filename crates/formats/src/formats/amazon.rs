//! The library in a data export of Amazon Music: `asin,title,artistName,albumName,…`.

use crate::{
    beginning::Beginning,
    format::{Entries, Format, Source},
    table::{self, Dialect},
};

pub(super) struct Amazon;

impl Format for Amazon {
    fn id(&self) -> &'static str {
        "amazon"
    }

    fn name(&self) -> &'static str {
        "Amazon Music library"
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.named_head().is_some_and(|head| head.has("artistName") && (head.has("asin") || head.has("albumName")))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect::default())
    }
}

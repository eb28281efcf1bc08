//! exportify.net: has no ISRCs.

use crate::{
    beginning::Beginning,
    format::{Entries, Format, Source},
    table::{self, Dialect},
};

pub(super) struct ExportifyNet;

impl Format for ExportifyNet {
    fn id(&self) -> &'static str {
        "exportifyNet"
    }

    fn name(&self) -> &'static str {
        "exportify.net playlist"
    }

    fn is_playlist(&self) -> bool {
        true
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.named_head().is_some_and(|head| head.has("Track URI"))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect::default())
    }
}

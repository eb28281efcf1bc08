//! Scrobbles of Last.fm, as its exporters write them.

use crate::{
    beginning::Beginning,
    format::{Entries, Format, Source},
    table::{self, Dialect},
};

pub(super) struct LastFm;

impl Format for LastFm {
    fn id(&self) -> &'static str {
        "lastFm"
    }

    fn name(&self) -> &'static str {
        "Last.fm scrobbles"
    }

    fn is_history(&self) -> bool {
        true
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.named_head().is_some_and(|head| head.has("uts") || head.has("track_mbid"))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect { is_history: true, ..Dialect::default() })
    }
}

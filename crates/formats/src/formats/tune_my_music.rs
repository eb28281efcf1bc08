//! TuneMyMusic: one table for all playlists; each row names its playlist.

use crate::{
    beginning::Beginning,
    format::{Entries, Format, Source},
    table::{self, Dialect},
};

pub(super) struct TuneMyMusic;

impl Format for TuneMyMusic {
    fn id(&self) -> &'static str {
        "tuneMyMusic"
    }

    fn name(&self) -> &'static str {
        "TuneMyMusic export"
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.named_head().is_some_and(|head| head.has_all(&["Track name", "Artist name"]))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect::default())
    }
}

//! Scrobbles of Last.fm, as its exporters write them.

use crate::{
    format::{Format, Holds},
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "lastFm",
    name: "Last.fm scrobbles",
    holds: Holds::History,
    recognise: |beginning| beginning.named_head().is_some_and(|head| head.has("uts") || head.has("track_mbid")),
    entries: |source| table::entries(source, Dialect { is_history: true, ..Dialect::default() }),
};

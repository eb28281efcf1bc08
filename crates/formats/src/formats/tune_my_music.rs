//! TuneMyMusic: one table for all playlists; each row names its playlist.

use crate::{
    format::{Format, Holds},
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "tuneMyMusic",
    name: "TuneMyMusic export",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.named_head().is_some_and(|head| head.has_all(&["Track name", "Artist name"])),
    entries: |source| table::entries(source, Dialect::default()),
};

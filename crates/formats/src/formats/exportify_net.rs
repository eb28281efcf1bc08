//! exportify.net: has no ISRCs.

use crate::{
    format::{Format, Holds},
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "exportifyNet",
    name: "exportify.net playlist",
    holds: Holds::Playlist,
    recognise: |beginning| beginning.named_head().is_some_and(|head| head.has("Track URI")),
    entries: |source| table::entries(source, Dialect::default()),
};

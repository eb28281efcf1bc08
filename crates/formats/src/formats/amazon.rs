//! The library in a data export of Amazon Music: `asin,title,artistName,albumName,…`.

use crate::{
    format::{Format, Holds},
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "amazon",
    name: "Amazon Music library",
    holds: Holds::Tracks,
    recognise: |beginning| {
        beginning.named_head().is_some_and(|head| head.has("artistName") && (head.has("asin") || head.has("albumName")))
    },
    entries: |source| table::entries(source, Dialect::default()),
};

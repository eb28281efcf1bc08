//! Any other table with known column names, in several languages.

use crate::{
    format::{Format, Holds},
    table::{self, Dialect},
};

pub(super) const FORMAT: Format = Format {
    id: "table",
    name: "table",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.named_head().is_some(),
    entries: |source| table::entries(source, Dialect::default()),
};

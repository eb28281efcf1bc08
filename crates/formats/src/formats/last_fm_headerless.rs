//! Scrobbles without a header: `artist, album, track, time`, as several Last.fm exporters write them.

use crate::{
    beginning::Beginning,
    columns::Columns,
    format::{Entries, Format, Source},
    spelling::moment,
    table::{self, Dialect},
};

pub(super) struct LastFmWithoutHeader;

impl Format for LastFmWithoutHeader {
    fn id(&self) -> &'static str {
        "lastFmWithoutHeader"
    }

    fn name(&self) -> &'static str {
        "Last.fm scrobbles"
    }

    fn is_history(&self) -> bool {
        true
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        let is_moment = |cell: &str| moment(cell).is_some();
        beginning.head().is_some_and(|head| head.header.len() == 4 && head.header.get(3).is_some_and(is_moment))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(
            source,
            Dialect { is_history: true, without_header: Some(Columns::headerless_scrobbles), ..Dialect::default() },
        )
    }
}

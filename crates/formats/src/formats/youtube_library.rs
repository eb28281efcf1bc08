//! `music library songs.csv` of Google Takeout. Until 2023 its header was `Song URL,Song Title,Album Title,Artist
//! Names`, since then `Video ID,Song Title,Album Title,Artist Name 1,…`.

use crate::{
    beginning::Beginning,
    columns::Column,
    format::{Entries, Format, Source},
    spelling::clean,
    table::{self, Dialect, Row},
    track::ImportedTrack,
};

pub(super) struct YouTubeLibrary;

impl Format for YouTubeLibrary {
    fn id(&self) -> &'static str {
        "youtubeLibrary"
    }

    fn name(&self) -> &'static str {
        "YouTube Music library"
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning
            .named_head()
            .is_some_and(|head| head.has("Song Title") && (head.has("Song URL") || head.has("Video ID")))
    }

    fn entries(&self, source: Source) -> Entries {
        table::entries(source, Dialect { adjust, ..Dialect::default() })
    }
}

/// Each artist has a separate column.
fn adjust(row: &Row, track: &mut ImportedTrack) {
    track.artists = row.cells(Column::Artist).filter_map(clean).collect();
}

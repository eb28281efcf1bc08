//! Determines the format of a file, or explains to its owner what to do instead.

use super::{
    beginning::{Beginning, Shape},
    format::FormatKind,
};

/// Why a file cannot be imported, and what its owner can do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrecognised {
    #[error("the file is empty")]
    Empty,
    #[error("this is a ZIP archive with nothing in it that can be imported")]
    Archive,
    #[error("this is a spreadsheet; save its sheet as CSV and import that")]
    Spreadsheet,
    #[error("this is a web page, not an export; the download may have required a sign-in")]
    WebPage,
    #[error("{0}")]
    Unknown(&'static str),
}

/// Determines the format from the first bytes of a file (up to [`super::FIRST_BYTES`]) and its name.
pub fn recognise(first: &[u8], file_name: &str) -> Result<FormatKind, Unrecognised> {
    let beginning = Beginning::new(first, file_name);
    FormatKind::of(&beginning).ok_or_else(|| refusal(&beginning))
}

fn refusal(beginning: &Beginning) -> Unrecognised {
    match beginning.shape {
        Shape::Empty => Unrecognised::Empty,
        Shape::Zip if matches!(beginning.extension.as_str(), "xlsx" | "ods") => Unrecognised::Spreadsheet,
        Shape::Zip => Unrecognised::Archive,
        Shape::Xml => xml(beginning),
        Shape::Json => Unrecognised::Unknown(
            "this JSON is not a known export; supported are Spotify, Apple Music, ListenBrainz, YouTube watch history, \
             beets and JSPF, and any program's export as CSV with columns Title and Artist",
        ),
        Shape::Binary | Shape::Audio => Unrecognised::Unknown("this is neither text nor an audio file"),
        Shape::Text => text(beginning),
    }
}

fn xml(beginning: &Beginning) -> Unrecognised {
    let lower = beginning.start().to_lowercase();
    let is_page = lower.contains("<!doctype html") || beginning.has_element("html");
    // Google's activity page in any language: cells with the same CSS class, each with a link to a video.
    let is_history = lower.contains("content-cell mdl-cell") || lower.contains("youtube.com/watch");
    if is_page && is_history {
        return Unrecognised::Unknown(
            "this is a YouTube history as a web page; ask Google Takeout for the history in the JSON format and import \
             watch-history.json",
        );
    }
    if is_page {
        return Unrecognised::WebPage;
    }
    Unrecognised::Unknown(
        "this XML is not a known export; supported are Apple Music or iTunes library, Rekordbox, Traktor, XSPF, WPL",
    )
}

fn text(beginning: &Beginning) -> Unrecognised {
    // https://support.google.com/accounts/answer/3024190: Takeout playlists are lists of video ids.
    let has_only_ids = |head: &super::beginning::Head| head.has("Video ID") && head.header.len() <= 3;
    if beginning.head().is_some_and(has_only_ids) {
        return Unrecognised::Unknown(
            "this Takeout playlist contains only video ids, no titles; import \"music library songs.csv\" of the same \
             Takeout, or export the playlist with Soundiiz or TuneMyMusic",
        );
    }
    Unrecognised::Unknown(
        "no table with a title and an artist, no list of ISRCs, and no lines of the form Artist - Title; name the \
         columns Title and Artist in the first line",
    )
}

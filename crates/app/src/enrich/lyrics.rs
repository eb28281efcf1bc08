//! Lyrics: requested from LRCLIB, unless the file has them.

use super::worker::{done, ending_of};
use formats::spelling::clean_lines;
use http_client::service::SourceError;
use sources::lrclib::{Lrclib, Lyrics, Song};
use store::{Claimed, Ending, LyricsFound};

pub(super) async fn find(lrclib: Option<&Lrclib>, claimed: &Claimed) -> Ending {
    let Some(lrclib) = lrclib else { return Ending::Off };
    match ask(lrclib, claimed).await {
        Ok(found) => done(&found, "LRCLIB"),
        Err(error) => ending_of(error, claimed.tries),
    }
}

async fn ask(lrclib: &Lrclib, claimed: &Claimed) -> Result<LyricsFound, SourceError> {
    let track = &claimed.track;
    let song = Song { title: &track.title, artist: &track.artist, album: Some(&track.album), duration: track.duration };
    Ok(match lrclib.lyrics(song).await? {
        // External text: invisible characters are removed.
        Some(Lyrics::Words(words)) => match clean_lines(&words) {
            Some(lyrics) => LyricsFound::Words { lyrics },
            None => LyricsFound::NotFound,
        },
        Some(Lyrics::Instrumental) => LyricsFound::Instrumental,
        None => LyricsFound::NotFound,
    })
}

//! Playlists of Windows Media Player: <https://en.wikipedia.org/wiki/Windows_Media_Player_Playlist>.

use std::collections::VecDeque;

use crate::{
    format::{Format, Holds},
    path_names::PathNames,
    spelling::{clean, milliseconds},
    track::{Entry, ImportedTrack},
    xml::{self, Listener, Opened},
};

pub(super) const FORMAT: Format = Format {
    id: "wpl",
    name: "Windows Media Player playlist",
    holds: Holds::Playlist,
    recognise: |beginning| beginning.has_element("smil"),
    entries: |source| xml::entries(source, WplParser::default()),
};

#[derive(Default)]
struct WplParser {
    playlist: Option<String>,
}

impl Listener for WplParser {
    fn open(&mut self, element: &Opened, found: &mut VecDeque<Entry>) {
        let Some(path) = element.get("src").filter(|_| element.name == "media") else { return };
        let name = |attribute: &str| element.get(attribute).and_then(clean);
        let mut track = ImportedTrack::at(element.line);
        track.playlist.clone_from(&self.playlist);
        // Newer versions write tags; older ones write only the path.
        track.set_title(element.get("trackTitle").unwrap_or_default());
        track.artists = name("trackArtist").or_else(|| name("albumArtist")).into_iter().collect();
        track.album = name("albumTitle");
        track.details.album_artist = name("albumArtist");
        track.duration = element.get("duration").and_then(milliseconds);
        PathNames::of(path).fill(&mut track);
        track.set_link(path);
        found.push_back(track.finish());
    }

    fn close(&mut self, name: &str, text: &str, _depth: usize, _found: &mut VecDeque<Entry>) {
        if name == "title" {
            self.playlist = clean(text);
        }
    }
}

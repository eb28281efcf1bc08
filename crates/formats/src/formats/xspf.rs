//! XSPF playlists: <https://www.xspf.org/spec>.

use std::collections::VecDeque;

use crate::{
    format::{Format, Holds},
    spelling::{clean, milliseconds},
    track::{Entry, ImportedTrack},
    xml::{self, Listener, Opened},
};

pub(super) const FORMAT: Format = Format {
    id: "xspf",
    name: "XSPF playlist",
    holds: Holds::Playlist,
    recognise: |beginning| beginning.has_element("playlist"),
    entries: |source| xml::entries(source, XspfParser::default()),
};

#[derive(Default)]
struct XspfParser {
    playlist: Option<String>,
    track: Option<ImportedTrack>,
}

impl Listener for XspfParser {
    fn open(&mut self, element: &Opened, _found: &mut VecDeque<Entry>) {
        if element.name == "track" {
            self.track = Some(ImportedTrack::at(element.line));
        }
    }

    fn close(&mut self, name: &str, text: &str, depth: usize, found: &mut VecDeque<Entry>) {
        let Some(track) = &mut self.track else {
            if name == "title" && depth == 1 {
                self.playlist = clean(text);
            }
            return;
        };
        match name {
            "title" => track.set_title(text),
            "creator" => track.artists = clean(text).into_iter().collect(),
            "album" => track.album = clean(text),
            "duration" => track.duration = milliseconds(text),
            "trackNum" => track.track_number = text.parse().ok(),
            "location" | "identifier" => track.set_link(text),
            "track" => {
                let mut track = std::mem::take(track);
                self.track = None;
                track.playlist.clone_from(&self.playlist);
                found.push_back(track.finish());
            }
            _ => {}
        }
    }
}

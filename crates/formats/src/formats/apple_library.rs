//! `Library.xml` of iTunes and Music, also written by MusicBee: a property list.

use std::collections::{HashMap, VecDeque};

use crate::{
    format::{Format, Holds},
    lines::percent_decoded,
    spelling::{clean, milliseconds, moment},
    track::{Entry, ImportedTrack, LineError},
    xml::{self, Listener, Opened},
};

pub(super) const FORMAT: Format = Format {
    id: "appleLibrary",
    name: "Apple Music library",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.has_element("plist"),
    entries: |source| xml::entries(source, AppleLibraryParser::default()),
};

/// `Tracks` is a dictionary of dictionaries, `Playlists` is a list of their ids. Every track is returned once by
/// itself and once for each playlist that contains it. Until then, the fields that a playlist needs are kept.
#[derive(Default)]
struct AppleLibraryParser {
    /// One entry per open dictionary or array: its last key, empty for an array.
    path: Vec<String>,
    fields: HashMap<String, String>,
    line: u64,
    known: HashMap<String, ImportedTrack>,
    playlist: Option<String>,
    /// Created by the program itself: the whole library, purchases, folders.
    is_automatic: bool,
}

impl AppleLibraryParser {
    fn is_at(&self, path: &[&str]) -> bool {
        let same = |(step, wanted): (&String, &&str)| *wanted == "*" || step == wanted;
        self.path.len() == path.len() && self.path.iter().zip(path).all(same)
    }

    fn value(&mut self, name: &str, text: &str, found: &mut VecDeque<Entry>) {
        let value = if matches!(name, "true" | "false") { name } else { text };
        if self.is_at(&["Tracks", "*", "*"]) {
            let key = self.path[2].clone();
            self.fields.insert(key, value.to_owned());
        } else if self.is_at(&["Playlists", "", "Name"]) {
            self.playlist = clean(value);
        } else if self.is_at(&["Playlists", "", "Master"])
            || self.is_at(&["Playlists", "", "Folder"])
            || self.is_at(&["Playlists", "", "Distinguished Kind"])
        {
            self.is_automatic |= value != "false";
        } else if self.is_at(&["Playlists", "", "Playlist Items", "", "Track ID"])
            && !self.is_automatic
            && let Some(track) = self.known.get(value)
        {
            found.push_back(Ok(ImportedTrack { playlist: self.playlist.clone(), ..track.clone() }));
        }
    }

    fn track(&mut self) -> Entry {
        let fields = std::mem::take(&mut self.fields);
        let field = |name: &str| fields.get(name).map(String::as_str);
        let is_true = |name: &str| field(name) == Some("true");
        if is_true("Podcast") || is_true("Has Video") || is_true("Movie") || is_true("TV Show") {
            return Err(LineError::left_out(self.line, "not a track"));
        }
        let mut track = ImportedTrack::at(self.line);
        track.set_title(field("Name").unwrap_or_default());
        track.artists = field("Artist").or(field("Album Artist")).and_then(clean).into_iter().collect();
        track.album = field("Album").and_then(clean);
        track.duration = field("Total Time").and_then(milliseconds);
        track.track_number = field("Track Number").and_then(|number| number.parse().ok());
        track.added_at = field("Date Added").and_then(moment);
        track.played_at = field("Play Date UTC").and_then(moment);
        track.n_plays = field("Play Count").and_then(|count| count.parse().ok()).unwrap_or(0);
        track.tags = field("Genre").and_then(clean).into_iter().collect();
        track.release_date = field("Release Date").or(field("Year")).and_then(clean);
        track.ids.location = field("Location").map(percent_decoded).as_deref().and_then(clean);
        let track = track.finish()?;
        if let Some(id) = field("Track ID") {
            // The plays were counted with the track itself.
            self.known.insert(id.to_owned(), ImportedTrack { n_plays: 0, ..track.clone() });
        }
        Ok(track)
    }
}

impl Listener for AppleLibraryParser {
    fn open(&mut self, element: &Opened, _found: &mut VecDeque<Entry>) {
        if !matches!(element.name.as_str(), "dict" | "array") {
            return;
        }
        if self.is_at(&["Tracks", "*"]) {
            self.line = element.line;
        }
        if self.is_at(&["Playlists", ""]) {
            (self.playlist, self.is_automatic) = (None, false);
        }
        self.path.push(String::new());
    }

    fn close(&mut self, name: &str, text: &str, _depth: usize, found: &mut VecDeque<Entry>) {
        match name {
            "key" => {
                if let Some(step) = self.path.last_mut() {
                    text.clone_into(step);
                }
            }
            "dict" | "array" => {
                self.path.pop();
                if self.is_at(&["Tracks", "*"]) {
                    let track = self.track();
                    found.push_back(track);
                }
            }
            "string" | "integer" | "real" | "date" | "true" | "false" => self.value(name, text, found),
            _ => {}
        }
    }
}

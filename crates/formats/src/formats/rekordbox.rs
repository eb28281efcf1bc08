//! A collection of Rekordbox as XML: <https://rekordbox.com/en/support/developer/>, "XML format list".

use std::collections::{HashMap, VecDeque};

use crate::{
    format::{Format, Holds},
    lines::percent_decoded,
    spelling::{clean, moment, seconds},
    track::{Entry, ImportedTrack},
    xml::{self, Listener, Opened},
};

pub(super) const FORMAT: Format = Format {
    id: "rekordbox",
    name: "Rekordbox collection",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.has_element("dj_playlists"),
    entries: |source| xml::entries(source, RekordboxParser::default()),
};

/// `COLLECTION` contains the tracks, `PLAYLISTS` their ids or locations.
#[derive(Default)]
struct RekordboxParser {
    /// By id and by location. A playlist uses one of them, depending on its `KeyType`; an id never equals a location.
    known: HashMap<String, ImportedTrack>,
    /// Names of the open nodes: folders and playlists.
    nodes: Vec<Option<String>>,
}

impl Listener for RekordboxParser {
    fn open(&mut self, element: &Opened, found: &mut VecDeque<Entry>) {
        match (element.name.as_str(), element.get("Key")) {
            ("NODE", _) => self.nodes.push(element.get("Name").and_then(clean)),
            ("TRACK", Some(key)) => {
                let playlist = self.nodes.last().cloned().flatten();
                if let Some(track) = self.known.get(key) {
                    found.push_back(Ok(ImportedTrack { playlist, ..track.clone() }));
                }
            }
            ("TRACK", None) => found.push_back(self.track(element)),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, _text: &str, _depth: usize, _found: &mut VecDeque<Entry>) {
        if name == "NODE" {
            self.nodes.pop();
        }
    }
}

impl RekordboxParser {
    fn track(&mut self, element: &Opened) -> Entry {
        let name = |attribute: &str| element.get(attribute).and_then(clean);
        let mut track = ImportedTrack::at(element.line);
        track.set_title(element.get("Name").unwrap_or_default());
        track.artists = name("Artist").into_iter().collect();
        track.album = name("Album");
        track.duration = element.get("TotalTime").and_then(seconds);
        track.track_number = element.number("TrackNumber").filter(|number| *number > 0);
        track.release_date = name("Year").filter(|year| year != "0");
        track.added_at = element.get("DateAdded").and_then(moment);
        track.n_plays = element.number("PlayCount").unwrap_or(0);
        track.tags = name("Genre").into_iter().collect();
        track.details.composer = name("Composer");
        track.details.disc_number = element.number("DiscNumber").filter(|number| *number > 0);
        track.details.bpm = element.number("AverageBpm").filter(|bpm: &f64| *bpm > 0.0);
        track.details.initial_key = name("Tonality");
        let location = element.get("Location").unwrap_or_default();
        track.ids.location = clean(&path_of(location));
        let track = track.finish()?;
        for key in [element.get("TrackID"), element.get("Location")].into_iter().flatten() {
            // The plays were counted with the track itself.
            self.known.insert(key.to_owned(), ImportedTrack { n_plays: 0, ..track.clone() });
        }
        Ok(track)
    }
}

/// `file://localhost/C:/Music/x.mp3` becomes `C:/Music/x.mp3`; without a drive, `/Music/x.mp3`.
fn path_of(location: &str) -> String {
    let path = percent_decoded(location.trim_start_matches("file://localhost"));
    let has_drive = path.as_bytes().get(2) == Some(&b':') && path.starts_with('/');
    if has_drive { path[1..].to_owned() } else { path }
}

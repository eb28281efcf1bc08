//! `collection.nml` and exported playlists of Traktor.

use std::collections::{HashMap, VecDeque};

use crate::{
    format::{Format, Holds},
    spelling::{clean, moment, seconds},
    track::{Entry, ImportedTrack},
    xml::{self, Listener, Opened},
};

pub(super) const FORMAT: Format = Format {
    id: "traktor",
    name: "Traktor collection",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.has_element("nml"),
    entries: |source| xml::entries(source, TraktorParser::default()),
};

/// `COLLECTION` contains entries with their tags, `PLAYLISTS` entries with the location of a track.
#[derive(Default)]
struct TraktorParser {
    known: HashMap<String, ImportedTrack>,
    is_in_playlists: bool,
    nodes: Vec<Option<String>>,
    track: Option<ImportedTrack>,
    /// How playlists refer to the track: volume, folder and file.
    key: String,
}

impl Listener for TraktorParser {
    fn open(&mut self, element: &Opened, found: &mut VecDeque<Entry>) {
        match element.name.as_str() {
            "PLAYLISTS" => self.is_in_playlists = true,
            "NODE" => self.nodes.push(element.get("NAME").and_then(clean)),
            "PRIMARYKEY" => {
                let playlist = self.nodes.last().cloned().flatten();
                if let Some(track) = element.get("KEY").and_then(|key| self.known.get(key)) {
                    found.push_back(Ok(ImportedTrack { playlist, ..track.clone() }));
                }
            }
            "ENTRY" if !self.is_in_playlists => self.track = Some(entry(element)),
            _ => self.add(element),
        }
    }

    fn close(&mut self, name: &str, _text: &str, _depth: usize, found: &mut VecDeque<Entry>) {
        match name {
            "NODE" => _ = self.nodes.pop(),
            "ENTRY" => {
                let key = std::mem::take(&mut self.key);
                let Some(track) = self.track.take().map(ImportedTrack::finish) else { return };
                if let Ok(track) = &track {
                    self.known.insert(key, ImportedTrack { n_plays: 0, ..track.clone() });
                }
                found.push_back(track);
            }
            _ => {}
        }
    }
}

fn entry(element: &Opened) -> ImportedTrack {
    let mut track = ImportedTrack::at(element.line);
    track.set_title(element.get("TITLE").unwrap_or_default());
    track.artists = element.get("ARTIST").and_then(clean).into_iter().collect();
    track
}

impl TraktorParser {
    /// Reads the elements inside an entry.
    fn add(&mut self, element: &Opened) {
        let Some(track) = &mut self.track else { return };
        let name = |attribute: &str| element.get(attribute).and_then(clean);
        // Traktor writes dates as 2023/5/6.
        let date = |attribute: &str| element.get(attribute).map(dashed);
        match element.name.as_str() {
            "LOCATION" => {
                let part = |name: &str| element.get(name).unwrap_or_default();
                let path = format!("{}{}", part("DIR").replace("/:", "/"), part("FILE"));
                self.key = format!("{}{}{}", part("VOLUME"), part("DIR"), part("FILE"));
                track.ids.location = clean(&path);
            }
            "ALBUM" => {
                track.album = name("TITLE");
                track.track_number = element.number("TRACK");
            }
            "INFO" => {
                track.duration = element.get("PLAYTIME").and_then(seconds);
                track.n_plays = element.number("PLAYCOUNT").unwrap_or(0);
                track.tags = name("GENRE").into_iter().collect();
                track.added_at = date("IMPORT_DATE").as_deref().and_then(moment);
                track.played_at = date("LAST_PLAYED").as_deref().and_then(moment);
                track.release_date = date("RELEASE_DATE");
                track.details.initial_key = name("KEY");
            }
            "TEMPO" => track.details.bpm = element.number("BPM"),
            _ => {}
        }
    }
}

/// `2023/5/6` as `2023-05-06`.
fn dashed(date: &str) -> String {
    let parts: Vec<String> = date.split('/').map(|part| format!("{part:0>2}")).collect();
    parts.join("-")
}

//! XML files: the library of iTunes and Music (a property list) and XSPF playlists.

use std::{
    collections::{HashMap, VecDeque},
    io::BufRead,
};

use quick_xml::{Reader, events::Event};

use super::{
    Kind,
    lines::percent_decoded,
    spelling::{clean, milliseconds, moment},
    track::{Entry, ImportedTrack, LineError},
};

/// What a format makes of the elements it is shown.
trait Listener {
    /// An element begins; `depth` counts the elements around it.
    fn open(&mut self, name: &str, depth: usize, line: u64);
    /// An element ends, with all the text in it. Entries go into `found`.
    fn close(&mut self, name: &str, text: &str, depth: usize, found: &mut VecDeque<Entry>);
}

pub(super) fn entries(kind: Kind, source: impl BufRead + 'static) -> Box<dyn Iterator<Item = Entry>> {
    match kind {
        Kind::Xspf => Box::new(Document::new(source, Xspf::default())),
        _ => Box::new(Document::new(source, AppleLibrary::default())),
    }
}

struct Document<R, L> {
    reader: Reader<R>,
    listener: L,
    buffer: Vec<u8>,
    text: String,
    depth: usize,
    line: u64,
    found: VecDeque<Entry>,
    ended: bool,
}

impl<R: BufRead, L: Listener> Document<R, L> {
    fn new(source: R, listener: L) -> Self {
        let mut reader = Reader::from_reader(source);
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            listener,
            buffer: vec![],
            text: String::new(),
            depth: 0,
            line: 1,
            found: VecDeque::new(),
            ended: false,
        }
    }

    fn read_event(&mut self) -> Result<(), LineError> {
        self.buffer.clear();
        let event = self
            .reader
            .read_event_into(&mut self.buffer)
            .map_err(|error| LineError::broken(self.line, format!("this is not XML ({error})")))?;
        let n_lines = event.matches('\n').count() as u64;
        match &event {
            Event::Start(start) => {
                let name = start.local_name().into_inner().to_owned();
                self.listener.open(&name, self.depth, self.line);
                self.depth += 1;
                self.text.clear();
            }
            Event::End(end) => {
                let name = end.local_name().into_inner().to_owned();
                self.depth = self.depth.saturating_sub(1);
                self.listener.close(&name, self.text.trim(), self.depth, &mut self.found);
                self.text.clear();
            }
            Event::Text(text) => self.text.push_str(text),
            Event::CData(text) => self.text.push_str(text),
            Event::GeneralRef(reference) => self.text.push_str(&referred(reference)),
            Event::Eof => {
                self.ended = true;
                if self.depth > 0 {
                    return Err(LineError::broken(self.line, "the file ends in the middle"));
                }
            }
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        self.line += n_lines;
        Ok(())
    }
}

impl<R: BufRead, L: Listener> Iterator for Document<R, L> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        while self.found.is_empty() && !self.ended {
            if let Err(error) = self.read_event() {
                self.ended = true;
                self.found.push_back(Err(error));
            }
        }
        self.found.pop_front()
    }
}

/// What `&name;` stands for. Only what XML itself defines: a document's own entities are how such files do harm.
fn referred(name: &str) -> String {
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    match (name, number.and_then(char::from_u32)) {
        (_, Some(c)) => c.to_string(),
        ("amp", _) => "&".into(),
        ("lt", _) => "<".into(),
        ("gt", _) => ">".into(),
        ("quot", _) => "\"".into(),
        ("apos", _) => "'".into(),
        _ => format!("&{name};"),
    }
}

#[derive(Default)]
struct Xspf {
    playlist: Option<String>,
    track: Option<ImportedTrack>,
}

impl Listener for Xspf {
    fn open(&mut self, name: &str, _depth: usize, line: u64) {
        if name == "track" {
            self.track = Some(ImportedTrack::at(line));
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

/// `Tracks` is a dictionary of dictionaries, `Playlists` a list that names their ids. Every track is given once by
/// itself and once for each playlist it is in; kept in between is what a playlist needs to name it.
#[derive(Default)]
struct AppleLibrary {
    /// One per open dictionary or array: the key read last, empty in an array.
    path: Vec<String>,
    fields: HashMap<String, String>,
    line: u64,
    known: HashMap<String, ImportedTrack>,
    playlist: Option<String>,
    /// Made by the program itself: the whole library, purchases, folders.
    is_automatic: bool,
}

impl AppleLibrary {
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

impl Listener for AppleLibrary {
    fn open(&mut self, name: &str, _depth: usize, line: u64) {
        if !matches!(name, "dict" | "array") {
            return;
        }
        if self.is_at(&["Tracks", "*"]) {
            self.line = line;
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

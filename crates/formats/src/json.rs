//! JSON files, read element by element: only the current entry is in memory.

use std::io::{BufRead, Read};

use serde_json::Value;
use struson::{
    reader::{JsonReader, JsonStreamReader, ReaderError, ReaderSettings, ValueType},
    serde::DeserializerError,
};

use super::{
    format::{Entries, Source},
    lines::numbered,
    spelling::clean,
    track::{Entry, ImportedTrack, LineError},
};

pub(super) const NOT_A_TRACK: &str = "not a track";

/// A step of the path to the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Into these members of an object.
    Keys(&'static [&'static str]),
    /// Into every element of an array.
    Each,
}

/// One entry: its line, the name of the object around its list, and its value.
pub(super) struct Element {
    pub(super) line: u64,
    pub(super) list_name: Option<String>,
    /// The last member on the path.
    pub(super) key: &'static str,
    pub(super) value: Value,
}

/// Follows `path` and returns every value at its end.
pub(super) struct Elements<R: Read> {
    reader: JsonStreamReader<R>,
    path: &'static [Step],
    /// The member that names a list: `name` or `title`.
    name_key: &'static str,
    /// The number of open containers on the path; the next value belongs to step `n_open`.
    n_open: usize,
    list_name: Option<String>,
    key: &'static str,
    begun: bool,
    ended: bool,
}

impl<R: Read> Elements<R> {
    pub(super) fn new(source: R, path: &'static [Step], name_key: &'static str) -> Self {
        // The nesting limit prevents a stack overflow by a malicious file.
        let settings = ReaderSettings {
            allow_multiple_top_level: true,
            track_path: false,
            max_nesting_depth: Some(64),
            ..ReaderSettings::default()
        };
        let reader = JsonStreamReader::new_custom(source, settings);
        Self { reader, path, name_key, n_open: 0, list_name: None, key: "", begun: false, ended: false }
    }

    fn find(&mut self) -> Result<Option<Element>, LineError> {
        loop {
            if self.n_open == 0 {
                // Concatenated files are read one after the other; anything else after the end is an error.
                if self.begun && !self.reader.has_next().map_err(|error| self.broken(error))? {
                    return Ok(None);
                }
                self.begun = true;
                self.enter().map_err(|error| self.broken(error))?;
            } else if self.advance().map_err(|error| self.broken(error))? {
                return self.element().map(Some);
            }
        }
    }

    /// Opens the container of the next step, or skips a value that is no such container.
    fn enter(&mut self) -> Result<(), ReaderError> {
        match (self.path[self.n_open], self.reader.peek()?) {
            (Step::Each, ValueType::Array) => self.reader.begin_array()?,
            (Step::Keys(_), ValueType::Object) => self.reader.begin_object()?,
            _ => return self.reader.skip_value(),
        }
        self.n_open += 1;
        Ok(())
    }

    /// Continues in the innermost open container. True if the next value is an entry.
    fn advance(&mut self) -> Result<bool, ReaderError> {
        let step = self.path[self.n_open - 1];
        if !self.reader.has_next()? {
            match step {
                Step::Each => self.reader.end_array()?,
                Step::Keys(_) => self.reader.end_object()?,
            }
            self.n_open -= 1;
            return Ok(false);
        }
        if let Step::Keys(keys) = step {
            let name = self.reader.next_name_owned()?;
            if name == self.name_key && self.reader.peek()? == ValueType::String {
                self.list_name = Some(self.reader.next_string()?);
                return Ok(false);
            }
            let Some(key) = keys.iter().find(|key| **key == name) else {
                self.reader.skip_value()?;
                return Ok(false);
            };
            self.key = key;
        }
        if self.n_open == self.path.len() {
            return Ok(true);
        }
        self.enter()?;
        Ok(false)
    }

    fn element(&mut self) -> Result<Element, LineError> {
        // `peek` skips white space, so that the line is the entry's own line.
        self.reader.peek().map_err(|error| self.broken(error))?;
        let line = self.line();
        let value = self.reader.deserialize_next().map_err(|error| match error {
            DeserializerError::ReaderError(error) => self.broken(error),
            other => LineError::broken(line, other),
        })?;
        Ok(Element { line, list_name: self.list_name.clone(), key: self.key, value })
    }

    fn line(&self) -> u64 {
        self.reader.current_position(false).line_pos.map_or(1, |position| position.line + 1)
    }

    fn broken(&self, error: ReaderError) -> LineError {
        let what = match &error {
            ReaderError::SyntaxError(syntax) => format!("this is not JSON ({})", syntax.kind),
            ReaderError::IoError { error, .. } => error.to_string(),
            other => other.to_string(),
        };
        LineError::broken(self.line(), what)
    }
}

impl<R: Read> Iterator for Elements<R> {
    type Item = Result<Element, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let found = self.find().transpose();
        if !matches!(found, Some(Ok(_))) {
            self.ended = true;
        }
        found
    }
}

/// The entries of a document that is one JSON value, or several after each other.
pub(super) fn entries(
    source: Source,
    path: &'static [Step],
    name_key: &'static str,
    entry: fn(&Element) -> Entry,
) -> Entries {
    Box::new(Elements::new(source, path, name_key).map(move |element| entry(&element?)))
}

/// One JSON value per line, or one array of them.
pub(super) fn lines_or_array(mut source: Source, entry: fn(&Element) -> Entry) -> Entries {
    let is_array = source.fill_buf().is_ok_and(|first| first.trim_ascii_start().starts_with(b"["));
    if is_array {
        return entries(source, &[Step::Each], "", entry);
    }
    Box::new(numbered(source).filter_map(move |line| match line {
        Ok((_, text)) if text.trim().is_empty() => None,
        Ok((line, text)) => Some(match serde_json::from_str(&text) {
            Ok(value) => entry(&Element { line, list_name: None, key: "", value }),
            Err(error) => Err(LineError::unusable(line, format!("this is not JSON from column {} on", error.column()))),
        }),
        Err(error) => Some(Err(error)),
    }))
}

/// Where a document has the names of a track; an empty pointer means that it does not have the name.
pub(super) struct Names {
    pub(super) title: &'static str,
    pub(super) artist: &'static str,
    pub(super) album: &'static str,
    pub(super) link: &'static str,
}

impl Element {
    /// A track with the names at these pointers.
    pub(super) fn track(&self, names: &Names) -> ImportedTrack {
        let field = |pointer: &str| if pointer.is_empty() { None } else { text(&self.value, pointer) };
        let mut track = ImportedTrack::at(self.line);
        track.playlist = self.list_name.as_deref().and_then(clean);
        track.set_title(field(names.title).unwrap_or_default());
        track.artists = field(names.artist).and_then(clean).into_iter().collect();
        track.album = field(names.album).and_then(clean);
        if let Some(link) = field(names.link) {
            track.set_link(link);
        }
        track
    }

    pub(super) fn left_out(&self, why: &'static str) -> Entry {
        Err(LineError::left_out(self.line, why))
    }
}

/// A non-empty text at `/pointer`.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str().filter(|text| !text.trim().is_empty())
}

/// A number at `/pointer`, even if it is written as text.
pub(super) fn number(value: &Value, pointer: &str) -> Option<f64> {
    let value = value.pointer(pointer)?;
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| number.is_finite())
}

pub(super) fn is_true(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

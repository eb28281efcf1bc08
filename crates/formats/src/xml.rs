//! XML files, element by element, in bounded memory.

use std::{collections::VecDeque, io::BufRead};

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};

use super::{
    format::{Entries, Source},
    track::{Entry, LineError},
};

/// Receives the elements of a file and produces entries.
pub(super) trait Listener {
    /// An element begins. Entries are appended to `found`.
    fn open(&mut self, element: &Opened, found: &mut VecDeque<Entry>);
    /// An element ends. `text` is all text in it; `depth` is the number of elements around it.
    fn close(&mut self, name: &str, text: &str, depth: usize, found: &mut VecDeque<Entry>);
}

/// The start of an element.
pub(super) struct Opened {
    pub(super) name: String,
    pub(super) line: u64,
    attributes: Vec<(String, String)>,
}

impl Opened {
    fn new(start: &BytesStart<'_>, line: u64) -> Self {
        // An attribute that cannot be parsed is treated as absent; the element is still read.
        let mut attributes = start.attributes();
        let attributes = attributes.with_checks(false).flatten().map(|attribute| {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_or_else(|_| attribute.value.to_string(), |value| value.into_owned());
            (attribute.key.local_name().into_inner().to_owned(), value)
        });
        Self { name: start.local_name().into_inner().to_owned(), line, attributes: attributes.collect() }
    }

    /// A non-empty attribute.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.trim().is_empty())
    }

    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.trim().parse().ok()
    }
}

pub(super) fn entries(source: Source, listener: impl Listener + 'static) -> Entries {
    Box::new(Document::new(source, listener))
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
                self.listener.open(&Opened::new(start, self.line), &mut self.found);
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
                    return Err(LineError::broken(self.line, "the file ends in the middle of an element"));
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

/// The value of `&name;`. Only the entities of XML itself are supported, because a document's own entities can be
/// used for attacks.
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

//! The start of a file, from which every format is recognised: by its content first, by its name if the content is
//! not enough.

use std::{cell::OnceCell, io::Read};

use csv::{ReaderBuilder, StringRecord};
use encoding_rs::Encoding;

use super::{
    audio,
    columns::{Column, Columns},
    table::delimiter,
    text::{SinceLastEntry, Text},
};

/// How many bytes of a file `recognise` needs, if the file is that long.
pub(crate) const FIRST_BYTES: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Empty,
    Zip,
    Audio,
    Xml,
    Json,
    /// Neither text nor audio.
    Binary,
    Text,
}

pub(crate) struct Beginning {
    pub(crate) shape: Shape,
    /// In lower case, without the dot.
    pub(crate) extension: String,
    text: String,
    head: OnceCell<Option<Head>>,
}

/// The first two rows of a table, and what its columns mean.
pub(crate) struct Head {
    pub(crate) header: StringRecord,
    pub(crate) row: StringRecord,
    pub(crate) columns: Columns,
}

impl Beginning {
    /// From the first bytes of a file (up to [`FIRST_BYTES`]) and its name.
    pub(crate) fn new(first: &[u8], file_name: &str) -> Self {
        let extension = file_name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default();
        let text = decoded(first);
        let shape = shape(first, text.trim_start());
        Self { shape, extension, text, head: OnceCell::new() }
    }

    /// The text without leading white space.
    pub(crate) fn start(&self) -> &str {
        self.text.trim_start()
    }

    /// True for XML with an element of this name (in lower case).
    pub(crate) fn has_element(&self, name: &str) -> bool {
        let lower = self.start().to_lowercase();
        let opened = format!("<{name}");
        let ends = |rest: &str| rest.starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/');
        self.shape == Shape::Xml && lower.match_indices(&opened).any(|(at, _)| ends(&lower[at + opened.len()..]))
    }

    /// True for JSON with all of these members, at any depth.
    pub(crate) fn has_members(&self, members: &[&str]) -> bool {
        let has = |member: &&str| self.start().contains(&format!("\"{member}\""));
        self.shape == Shape::Json && members.iter().all(has)
    }

    /// The first lines that are neither empty nor comments.
    pub(crate) fn written_lines(&self) -> Vec<&str> {
        let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
        if self.shape != Shape::Text {
            return vec![];
        }
        self.start().lines().map(str::trim).filter(says).take(50).collect()
    }

    /// The header of a table that has at least a title and another known column, or a code and another known column.
    pub(crate) fn named_head(&self) -> Option<&Head> {
        self.head().filter(|head| {
            let Head { header, columns, .. } = head;
            let names_tracks = columns.has(Column::Title) && (columns.n_known() >= 2 || header.len() > 1);
            names_tracks || (columns.has(Column::Isrc) && header.len() > 1)
        })
    }

    /// The header of any possible table.
    pub(crate) fn head(&self) -> Option<&Head> {
        let read = || (self.shape == Shape::Text).then(|| Head::read(self.start())).flatten();
        self.head.get_or_init(read).as_ref()
    }
}

impl Head {
    fn read(start: &str) -> Option<Self> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter(start))
            .from_reader(start.as_bytes());
        let mut rows = reader.records().map_while(Result::ok);
        let header = rows.next()?;
        let row = rows.next().unwrap_or_default();
        Some(Self { columns: Columns::named(&header), header, row })
    }

    /// True if a column has this name, ignoring case.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.header.iter().any(|cell| cell.trim().trim_start_matches('\u{feff}').eq_ignore_ascii_case(name))
    }

    pub(crate) fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }
}

fn shape(first: &[u8], start: &str) -> Shape {
    if first.starts_with(b"PK\x03\x04") {
        return Shape::Zip;
    }
    // The byte order mark of UTF-16 looks like the start of an MPEG frame.
    if Encoding::for_bom(first).is_none() && audio::looks_like_audio(first) {
        return Shape::Audio;
    }
    match start.chars().next() {
        None => Shape::Empty,
        Some('<') => Shape::Xml,
        // A PLS playlist begins with the name of its only section.
        Some('{' | '[') if !starts_with_ignoring_case(start, "[playlist]") => Shape::Json,
        Some(_) if start.contains('\0') => Shape::Binary,
        Some(_) => Shape::Text,
    }
}

pub(crate) fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// The first bytes as text, cut after the last complete line if there is more than one.
fn decoded(first: &[u8]) -> String {
    let mut text = String::new();
    Text::new(first, SinceLastEntry::default()).read_to_string(&mut text).expect("a slice can always be read");
    if first.len() >= FIRST_BYTES
        && let Some(end) = text.rfind('\n')
    {
        text.truncate(end);
    }
    text
}

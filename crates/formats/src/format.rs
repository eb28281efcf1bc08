//! An import format: its name, its recognition, its parser.

use std::{
    fmt,
    hash::{Hash, Hasher},
    io::{BufReader, Read},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{beginning::Beginning, formats::FORMATS, text::Text, track::Entry};

/// The decoded text of a file, read in small pieces.
pub(crate) type Source = BufReader<Text<Box<dyn Read>>>;

pub(crate) type Entries = Box<dyn Iterator<Item = Entry>>;

/// One format. To add one: a file in `formats/` with its constant, a line in [`FORMATS`], a fixture in `tests/`.
pub(crate) struct Format {
    /// The id in databases and programs. An id must never change, because rows of earlier imports contain it.
    pub(crate) id: &'static str,
    /// The name in reports.
    pub(crate) name: &'static str,
    pub(crate) holds: Holds,
    /// True if the file starts like this format. Formats earlier in [`FORMATS`] have already been ruled out.
    pub(crate) recognise: fn(&Beginning) -> bool,
    /// Streams the entries without keeping them.
    pub(crate) entries: fn(Source) -> Entries,
}

/// What the entries of a file are together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Tracks of a library, or of several playlists that the entries name.
    Tracks,
    /// One playlist. If the file does not name it, the playlist has the name of the file.
    Playlist,
    /// Plays: the same track occurs many times, and each occurrence is a play.
    History,
}

/// The format of a file, as a value that can be stored.
#[derive(Clone, Copy)]
pub struct FormatKind(&'static Format);

impl FormatKind {
    /// Every format, in the order of recognition.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(Self)
    }

    pub fn with_id(id: &str) -> Option<Self> {
        Self::all().find(|kind| kind.id() == id)
    }

    pub fn id(self) -> &'static str {
        self.0.id
    }

    pub(crate) fn is_playlist(self) -> bool {
        self.0.holds == Holds::Playlist
    }

    pub fn is_audio(self) -> bool {
        self.id() == AUDIO_ID
    }

    pub(crate) fn entries(self, source: Source) -> Entries {
        (self.0.entries)(source)
    }

    pub(crate) fn of(beginning: &Beginning) -> Option<Self> {
        Self::all().find(|kind| (kind.0.recognise)(beginning))
    }
}

pub(crate) const AUDIO_ID: &str = "audio";

impl PartialEq for FormatKind {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for FormatKind {}

impl Hash for FormatKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for FormatKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl fmt::Display for FormatKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl Serialize for FormatKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for FormatKind {
    /// A row may contain the id of a format that was removed, or that a newer version added. Its entries are still
    /// valid.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        Ok(Self::with_id(&id).unwrap_or(Self(&UNKNOWN)))
    }
}

/// Represents an id that this version does not know.
const UNKNOWN: Format = Format {
    id: "unknown",
    name: "file of an unknown format",
    holds: Holds::Tracks,
    recognise: |_| false,
    entries: |_| Box::new(std::iter::empty()),
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_format_has_a_unique_id_and_is_stored_by_it() {
        let ids: HashSet<_> = FormatKind::all().map(FormatKind::id).collect();
        assert_eq!(ids.len(), FORMATS.len());
        for kind in FormatKind::all() {
            let stored = serde_json::to_string(&kind).unwrap();
            assert_eq!(stored, format!("{:?}", kind.id()));
            assert_eq!(serde_json::from_str::<FormatKind>(&stored).unwrap(), kind);
        }
    }

    /// Databases of version 0.1 contain these ids.
    #[test]
    fn the_ids_of_earlier_versions_are_still_known() {
        let stored = [
            ("exportify", "Exportify playlist"),
            ("exportifyNet", "exportify.net playlist"),
            ("tuneMyMusic", "TuneMyMusic export"),
            ("soundiiz", "Soundiiz export"),
            ("deezer", "Deezer listening history"),
            ("tidal", "Tidal listening history"),
            ("lastFm", "Last.fm scrobbles"),
            ("lastFmWithoutHeader", "Last.fm scrobbles"),
            ("table", "table"),
            ("spotifyLibrary", "Spotify library"),
            ("spotifyPlaylists", "Spotify playlists"),
            ("spotifyHistory", "Spotify streaming history"),
            ("spotifyExtendedHistory", "Spotify extended streaming history"),
            ("appleLibrary", "Apple Music library"),
            ("appleTracks", "Apple Music privacy export"),
            ("listenBrainz", "ListenBrainz listens"),
            ("jspf", "JSPF playlist"),
            ("xspf", "XSPF playlist"),
            ("m3u", "M3U playlist"),
            ("isrcList", "list of ISRCs"),
            ("plainText", "plain text"),
            ("audio", "audio file"),
        ];
        for (id, name) in stored {
            assert_eq!(FormatKind::with_id(id).map(|kind| kind.to_string()).as_deref(), Some(name));
        }
        assert_eq!(
            serde_json::from_str::<FormatKind>("\"minidisc\"").unwrap().to_string(),
            "file of an unknown format"
        );
    }
}

//! Which kind of file is this? Its content says; its name is only asked where the content cannot.

use std::{fmt, io::Read};

use csv::{ReaderBuilder, StringRecord};
use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};

use super::{
    audio,
    columns::{Column, Columns},
    lines,
    spelling::{moment, split_at_dash},
    text::{SinceLastEntry, Text},
};

/// How much of a file `recognise` should be shown, if there is that much.
pub const FIRST_BYTES: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// watsonbox's: with ISRCs, headers in twelve languages.
    Exportify,
    /// exportify.net: without ISRCs.
    ExportifyNet,
    TuneMyMusic,
    Soundiiz,
    Deezer,
    Tidal,
    LastFm,
    LastFmWithoutHeader,
    /// Any other table that names its columns.
    Table,
    SpotifyLibrary,
    SpotifyPlaylists,
    SpotifyHistory,
    SpotifyExtendedHistory,
    AppleLibrary,
    AppleTracks,
    ListenBrainz,
    Jspf,
    Xspf,
    M3u,
    IsrcList,
    PlainText,
    /// One audio file.
    Audio,
}

/// Why a file is none of ours, and what its owner can do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrecognised {
    #[error("the file is empty")]
    Empty,
    #[error("this is a ZIP archive with nothing in it that can be imported")]
    Archive,
    #[error("this is a spreadsheet; save its sheet as CSV and import that")]
    Spreadsheet,
    #[error("this is a web page, not an export; perhaps the download needed a sign-in")]
    WebPage,
    #[error("{0}")]
    Unknown(&'static str),
}

impl Kind {
    /// In a history the same track comes many times, and each time is a play.
    pub fn is_history(self) -> bool {
        matches!(
            self,
            Self::SpotifyHistory
                | Self::SpotifyExtendedHistory
                | Self::LastFm
                | Self::LastFmWithoutHeader
                | Self::ListenBrainz
                | Self::Deezer
                | Self::Tidal
        )
    }

    fn name(self) -> &'static str {
        match self {
            Self::Exportify => "Exportify playlist",
            Self::ExportifyNet => "exportify.net playlist",
            Self::TuneMyMusic => "TuneMyMusic export",
            Self::Soundiiz => "Soundiiz export",
            Self::Deezer => "Deezer listening history",
            Self::Tidal => "Tidal listening history",
            Self::LastFm | Self::LastFmWithoutHeader => "Last.fm scrobbles",
            Self::Table => "table",
            Self::SpotifyLibrary => "Spotify library",
            Self::SpotifyPlaylists => "Spotify playlists",
            Self::SpotifyHistory => "Spotify streaming history",
            Self::SpotifyExtendedHistory => "Spotify extended streaming history",
            Self::AppleLibrary => "Apple Music library",
            Self::AppleTracks => "Apple Music privacy export",
            Self::ListenBrainz => "ListenBrainz listens",
            Self::Jspf => "JSPF playlist",
            Self::Xspf => "XSPF playlist",
            Self::M3u => "M3U playlist",
            Self::IsrcList => "list of ISRCs",
            Self::PlainText => "plain text",
            Self::Audio => "audio file",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Tells the kind from the first bytes of a file (up to [`FIRST_BYTES`]) and its name.
pub fn recognise(first: &[u8], file_name: &str) -> Result<Kind, Unrecognised> {
    let extension = file_name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default();
    if first.starts_with(b"PK\x03\x04") {
        let is_sheet = matches!(extension.as_str(), "xlsx" | "ods");
        return Err(if is_sheet { Unrecognised::Spreadsheet } else { Unrecognised::Archive });
    }
    // The mark of UTF-16 looks like the start of an MPEG frame.
    if Encoding::for_bom(first).is_none() && audio::looks_like_audio(first) {
        return Ok(Kind::Audio);
    }
    let text = beginning(first);
    let start = text.trim_start();
    match start.chars().next() {
        None => Err(Unrecognised::Empty),
        Some('<') => xml(start),
        Some('{' | '[') => json(start).ok_or(Unrecognised::Unknown("this JSON is no export we know")),
        Some(_) if start.contains('\0') => Err(Unrecognised::Unknown("this is neither text nor an audio file")),
        Some(_) if start.starts_with("#EXTM3U") || extension.starts_with("m3u") => Ok(Kind::M3u),
        Some(_) if start.starts_with("#EXTINF") => Ok(Kind::M3u),
        Some(_) => table(start).or_else(|| list(start)).ok_or(Unrecognised::Unknown(
            "no table with a title and an artist, no list of ISRCs, and no lines of the form Artist - Title",
        )),
    }
}

/// The first bytes as text, up to the last whole line if there is more than one.
fn beginning(first: &[u8]) -> String {
    let mut text = String::new();
    Text::new(first, SinceLastEntry::default()).read_to_string(&mut text).expect("a slice can always be read");
    if first.len() >= FIRST_BYTES
        && let Some(end) = text.rfind('\n')
    {
        text.truncate(end);
    }
    text
}

fn xml(start: &str) -> Result<Kind, Unrecognised> {
    let lower = start.to_lowercase();
    if lower.contains("<plist") {
        return Ok(Kind::AppleLibrary);
    }
    if lower.contains("<playlist") {
        return Ok(Kind::Xspf);
    }
    let is_page = lower.contains("<!doctype html") || lower.contains("<html");
    Err(if is_page { Unrecognised::WebPage } else { Unrecognised::Unknown("this XML is no playlist and no library") })
}

fn json(start: &str) -> Option<Kind> {
    // Each kind by members no other has; the order matters where one kind's members may appear in another.
    const MEMBERS: &[(Kind, &[&str])] = &[
        (Kind::ListenBrainz, &["track_metadata"]),
        (Kind::SpotifyExtendedHistory, &["master_metadata_track_name"]),
        (Kind::SpotifyHistory, &["msPlayed", "trackName"]),
        (Kind::SpotifyPlaylists, &["playlists"]),
        (Kind::Jspf, &["playlist"]),
        (Kind::AppleTracks, &["Title", "Track Identifier"]),
        (Kind::AppleTracks, &["Title", "Apple Music Track Identifier"]),
        (Kind::SpotifyLibrary, &["tracks"]),
    ];
    let has = |member: &&str| start.contains(&format!("\"{member}\""));
    MEMBERS.iter().find(|(_, members)| members.iter().all(has)).map(|(kind, _)| *kind)
}

fn table(start: &str) -> Option<Kind> {
    let delimiter = delimiter(start);
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(start.as_bytes());
    let mut rows = reader.records().map_while(Result::ok);
    let header = rows.next()?;
    let row = rows.next().unwrap_or_default();
    if header.len() >= 17 && row.get(0).is_some_and(|cell| cell.starts_with("spotify:")) && !has_feature_at_12(&header)
    {
        return Some(Kind::Exportify);
    }
    let columns = Columns::named(&header);
    let names_tracks = columns.has(Column::Title) && (columns.n_known() >= 2 || header.len() > 1);
    if names_tracks || (columns.has(Column::Isrc) && header.len() > 1) {
        return Some(service(&header, &columns));
    }
    let is_scrobble = |row: &StringRecord| row.len() == 4 && row.get(3).is_some_and(|cell| moment(cell).is_some());
    is_scrobble(&header).then_some(Kind::LastFmWithoutHeader)
}

/// exportify.net has its features where watsonbox's Exportify, in whatever language, still has names and codes.
fn has_feature_at_12(header: &StringRecord) -> bool {
    header.get(12).is_some_and(|name| name.trim().eq_ignore_ascii_case("danceability"))
}

fn service(header: &StringRecord, columns: &Columns) -> Kind {
    let has = |name: &str| header.iter().any(|cell| cell.trim().eq_ignore_ascii_case(name));
    if has("Artist URI(s)") {
        Kind::Exportify
    } else if has("Track URI") {
        Kind::ExportifyNet
    } else if has("uts") || has("track_mbid") {
        Kind::LastFm
    } else if columns.has(Column::PlayedSeconds) {
        Kind::Deezer
    } else if columns.has(Column::PlayedMilliseconds) || has("entry_date") {
        Kind::Tidal
    } else if has("Track name") && has("Artist name") {
        Kind::TuneMyMusic
    } else if header.get(0) == Some("title") && header.get(1) == Some("artist") && columns.has(Column::Isrc) {
        Kind::Soundiiz
    } else {
        Kind::Table
    }
}

/// Whichever of comma, semicolon and tab the first line has most of, outside quotes.
pub(super) fn delimiter(start: &str) -> u8 {
    let (mut counts, mut quoted) = ([0_usize; 3], false);
    for c in start.lines().next().unwrap_or_default().chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => counts[0] += 1,
            ';' if !quoted => counts[1] += 1,
            '\t' if !quoted => counts[2] += 1,
            _ => {}
        }
    }
    let most = *counts.iter().max().expect("three counts");
    match counts {
        [commas, _, _] if commas == most => b',',
        [_, semicolons, _] if semicolons == most => b';',
        _ => b'\t',
    }
}

fn list(start: &str) -> Option<Kind> {
    let written: Vec<&str> =
        start.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).take(50).collect();
    let n_codes = written.iter().filter(|line| lines::is_isrcs(line)).count();
    let names_a_track = |line: &&&str| {
        split_at_dash(line).is_some()
            || line.starts_with("spotify:track:")
            || (line.starts_with("https://") && line.contains("/track/"))
    };
    let n_names = written.iter().filter(names_a_track).count();
    // Half of the lines may be headings, remarks and mistyped codes.
    if n_codes > n_names && n_codes * 2 >= written.len() {
        return Some(Kind::IsrcList);
    }
    let n_names = n_names + n_codes;
    (n_names > 0 && n_names * 2 >= written.len()).then_some(Kind::PlainText)
}

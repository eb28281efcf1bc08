//! A track as one file describes it, before it is matched to a recording.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{
    details::Details,
    spelling::{clean, split_at_dash},
};
use music::{AudioFeatures, Isrc, isrc::IsrcDoubt};

/// One track of a file. Everything except the line may be missing; an entry has at least a title, a code or an id of
/// some service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ImportedTrack {
    /// For an album, `title` and `album` contain its name.
    #[serde(skip_serializing_if = "EntryKind::is_track")]
    pub kind: EntryKind,
    /// The line in the file, from 1; in a folder of audio files, the position in the list.
    pub line: u64,
    pub title: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artists: Vec<String>,
    /// The line was `A - B`: artist and title may be swapped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub either_way: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub album: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track_number: Option<u32>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_date: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub isrcs: Vec<Isrc>,
    /// The value in place of a code, and why it is not a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_isrc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playlist: Option<String>,
    /// How many plays a history contains; 0 in other files.
    pub n_plays: u32,
    /// The earliest play in a history; the latest is `played_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_played_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_features: Option<AudioFeatures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lyrics: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    pub ids: Ids,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryKind {
    #[default]
    Track,
    Album,
}

impl EntryKind {
    fn is_track(&self) -> bool {
        *self == Self::Track
    }
}

/// The ids of the track at other services.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ids {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spotify: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tidal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deezer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apple: Option<String>,
    /// The id of a video.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub youtube: Option<String>,
    /// The recording's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub music_brainz: Option<String>,
    /// Path or URL of the audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The hash of the audio, for a file that was uploaded or imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
}

/// A line of a file that gave no track.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LineError {
    pub line: u64,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum Problem {
    /// Not an error: the entry is not a track, or a track that should not be counted.
    #[error("left out: {0}")]
    LeftOut(&'static str),
    /// The owner of the file can correct this entry; the others are valid.
    #[error("{0}")]
    Unusable(String),
    /// The rest of the file cannot be read, so nothing of it may be imported.
    #[error("{0}; the rest of the file cannot be read")]
    Broken(String),
}

pub type Entry = Result<ImportedTrack, LineError>;

impl LineError {
    pub(super) fn left_out(line: u64, why: &'static str) -> Self {
        Self { line, problem: Problem::LeftOut(why) }
    }

    pub(super) fn unusable(line: u64, why: impl Into<String>) -> Self {
        Self { line, problem: Problem::Unusable(why.into()) }
    }

    pub(super) fn broken(line: u64, why: impl ToString) -> Self {
        Self { line, problem: Problem::Broken(why.to_string()) }
    }
}

impl ImportedTrack {
    pub(super) fn at(line: u64) -> Self {
        Self { line, ..Self::default() }
    }

    /// Sets one play of a history.
    pub(super) fn set_played(&mut self, at: Option<DateTime<Utc>>) {
        self.n_plays = 1;
        self.played_at = at;
    }

    pub(super) fn is_album(&self) -> bool {
        self.kind == EntryKind::Album
    }

    pub(super) fn make_album(&mut self) {
        self.kind = EntryKind::Album;
        self.album = Some(self.title.clone()).filter(|title| !title.is_empty());
    }

    /// All artists as one text, in order.
    pub fn artist(&self) -> String {
        self.artists.join(", ")
    }

    pub(super) fn set_title(&mut self, text: &str) {
        self.title = clean(text).unwrap_or_default();
    }

    /// A list joined by semicolons. Other separators are part of names such as "Salt, Rope & Tar".
    pub(super) fn set_artists(&mut self, text: &str) {
        self.artists = text.split(';').filter_map(clean).collect();
    }

    /// `Artist - Title`; either side may be the artist.
    pub(super) fn set_both(&mut self, text: &str) {
        match split_at_dash(text) {
            Some((artist, title)) => {
                self.set_artists(artist);
                self.set_title(title);
                self.either_way = true;
            }
            None => self.set_title(text),
        }
    }

    /// Barcodes and placeholders are rejected here. An unusual code is kept, and a catalogue decides.
    pub(super) fn set_isrcs(&mut self, field: &str) {
        if matches!(field.trim().to_lowercase().as_str(), "n/a" | "na" | "none" | "null" | "unknown" | "-") {
            return;
        }
        for code in Isrc::all_in(field) {
            let refused = match code {
                Ok(isrc) => match isrc.doubt() {
                    Some(doubt @ (IsrcDoubt::Barcode | IsrcDoubt::Placeholder)) => doubt.to_string(),
                    Some(IsrcDoubt::Misread(_) | IsrcDoubt::Unusual) | None => {
                        if !self.isrcs.contains(&isrc) {
                            self.isrcs.push(isrc);
                        }
                        continue;
                    }
                },
                Err(reason) => reason.to_string(),
            };
            self.refused_isrc = clean(field).map(|field| format!("{field}: {refused}"));
        }
    }

    /// Reads the id in a link or URI: `spotify:track:…`, a page at Tidal, a MusicBrainz recording, an ISRC.
    pub(super) fn set_link(&mut self, link: &str) {
        let Some(link) = clean(link) else { return };
        let after = |mark: &str| {
            let (_, rest) = link.split_once(mark)?;
            let id: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
            (!id.is_empty()).then_some(id)
        };
        if let Some(id) = after("spotify:track:").or_else(|| after("open.spotify.com/track/")) {
            self.ids.spotify = Some(id);
        } else if link.contains("tidal.com/")
            && let Some(id) = after("/track/")
        {
            self.ids.tidal = Some(id);
        } else if link.contains("deezer.com/")
            && let Some(id) = after("/track/")
        {
            self.ids.deezer = Some(id);
        } else if link.contains("youtube.com/") || link.contains("youtu.be/") {
            self.ids.youtube = after("watch?v=").or_else(|| after("youtu.be/"));
        } else if let Some(id) = after("musicbrainz.org/recording/") {
            self.ids.music_brainz = Some(id);
        } else if let Some(code) = isrc_in(&link) {
            self.set_isrcs(code);
        } else {
            self.ids.location = Some(link);
        }
    }

    /// The track, if it can be identified.
    pub(super) fn finish(self) -> Entry {
        let has_id = self.ids.spotify.is_some() || self.ids.tidal.is_some() || self.ids.music_brainz.is_some();
        if !self.title.is_empty() || !self.isrcs.is_empty() || has_id {
            return Ok(self);
        }
        let why = self.refused_isrc.unwrap_or_else(|| "no title and no ISRC".into());
        Err(LineError::unusable(self.line, why))
    }
}

/// `urn:isrc:…` as RFC 3901 writes it, or the same without `urn:`, as many programs do.
fn isrc_in(link: &str) -> Option<&str> {
    let after = |mark: &str| {
        let (start, rest) = link.split_at_checked(mark.len())?;
        start.eq_ignore_ascii_case(mark).then_some(rest)
    };
    after("urn:isrc:").or_else(|| after("isrc:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_as_the_id_of_its_service() {
        let ids = |link: &str| {
            let mut track = ImportedTrack::default();
            track.set_link(link);
            track
        };
        assert_eq!(ids("spotify:track:0aB").ids.spotify.as_deref(), Some("0aB"));
        assert_eq!(ids("https://open.spotify.com/track/0aB?si=x").ids.spotify.as_deref(), Some("0aB"));
        assert_eq!(ids("https://tidal.com/browse/track/75413016?u").ids.tidal.as_deref(), Some("75413016"));
        assert_eq!(ids("https://www.deezer.com/en/track/3135").ids.deezer.as_deref(), Some("3135"));
        assert_eq!(ids("https://musicbrainz.org/recording/0c2f-11").ids.music_brainz.as_deref(), Some("0c2f-11"));
        assert_eq!(ids("https://music.youtube.com/watch?v=a_b-C1&list=x").ids.youtube.as_deref(), Some("a_b-C1"));
        for link in ["urn:isrc:XTDBL2600001", "isrc:XTDBL2600001", "URN:ISRC:xtdbl2600001"] {
            assert_eq!(ids(link).isrcs[0].as_str(), "XTDBL2600001", "{link}");
        }
        assert_eq!(ids("../a/b.flac").ids.location.as_deref(), Some("../a/b.flac"));
    }
}

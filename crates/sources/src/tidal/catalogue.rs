//! Tracks and albums of the Tidal catalogue.

use super::document::{Attributes, Included, Resource};
use music::{Isrc, identity::RecordingName};

/// Shown when Tidal sends an artist or album without a name.
const UNKNOWN_ARTIST: &str = "Unknown artist";
const UNKNOWN_TITLE: &str = "Unknown title";

/// Covers come in sizes from 80 to 1280. This size is sharp on a card and small to download.
const COVER_WIDTH: u32 = 640;

#[derive(Clone, Debug, PartialEq)]
pub struct TidalTrack {
    pub tidal_id: String,
    /// `None` if Tidal has no code, or a value that is not a code.
    pub isrc: Option<Isrc>,
    pub title: String,
    /// "Live at the Quay", "2011 Remaster".
    pub version: Option<String>,
    /// In Tidal's order, the main artist first. Empty if Tidal sends none.
    pub artists: Vec<String>,
    pub album: Option<TrackAlbum>,
    pub artwork_url: Option<String>,
    /// Seconds.
    pub duration: Option<f64>,
    pub explicit: bool,
    pub popularity: f64,
    /// Position on the album; only set in albums.
    pub volume_number: Option<u32>,
    pub track_number: Option<u32>,
}

/// The release a track was found on.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackAlbum {
    pub id: String,
    pub title: String,
    pub artists: Vec<String>,
    /// `ALBUM`, `EP`, `SINGLE`, or a value that Tidal adds later.
    pub kind: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TidalAlbum {
    pub id: String,
    pub title: String,
    pub artists: Vec<String>,
    pub artwork_url: Option<String>,
    /// `2019-05-03`
    pub release_date: Option<String>,
    /// As printed on the album: tracks that are not available in this country are included.
    pub track_count: u32,
    pub kind: Option<String>,
    pub explicit: bool,
    /// Without the zeros that catalogues add at the start.
    pub barcode: Option<String>,
}

/// An album with the tracks that are available in this country, in playing order.
#[derive(Clone, Debug, PartialEq)]
pub struct AlbumWithTracks {
    pub album: TidalAlbum,
    pub tracks: Vec<TidalTrack>,
    pub n_videos: usize,
}

impl AlbumWithTracks {
    pub(super) fn new(album: TidalAlbum, mut tracks: Vec<TidalTrack>, n_videos: usize) -> Self {
        // Track numbers keep the gaps of unavailable tracks. Without numbers, Tidal's order is kept.
        tracks.sort_by_key(|track| (track.volume_number, track.track_number));
        for track in &mut tracks {
            track.album = Some(album.as_home());
            track.artwork_url.clone_from(&album.artwork_url);
            if track.artists.is_empty() {
                track.artists.clone_from(&album.artists);
            }
        }
        Self { album, tracks, n_videos }
    }
}

impl TidalTrack {
    /// All artists, joined for display.
    pub fn artist(&self) -> String {
        joined(&self.artists)
    }

    /// The title for display: "Low Tide (Live at the Quay)".
    pub fn full_title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} ({version})", self.title),
            None => self.title.clone(),
        }
    }

    pub fn recording_name(&self) -> RecordingName {
        RecordingName::new(&self.title, self.version.as_deref(), self.artists.first().map_or("", String::as_str))
    }

    pub(super) fn read(identifier: &Resource, included: &Included) -> Option<Self> {
        let attributes = included.attributes(identifier)?;
        let album = included.related(identifier, "albums").first();
        Some(Self {
            tidal_id: identifier.id.clone(),
            isrc: attributes.isrc.as_deref().and_then(|code| code.parse().ok()),
            title: text(&attributes.title).unwrap_or_else(|| UNKNOWN_TITLE.into()),
            version: text(&attributes.version),
            artists: artists(identifier, included),
            artwork_url: album.and_then(|album| cover(album, included)),
            album: album.and_then(|album| TrackAlbum::read(album, included)),
            duration: attributes.duration.as_deref().and_then(seconds),
            explicit: attributes.explicit.unwrap_or_default(),
            popularity: attributes.popularity.unwrap_or_default(),
            volume_number: identifier.meta.volume_number,
            track_number: identifier.meta.track_number,
        })
    }
}

impl TrackAlbum {
    fn read(identifier: &Resource, included: &Included) -> Option<Self> {
        let attributes = included.attributes(identifier)?;
        Some(Self {
            id: identifier.id.clone(),
            title: text(&attributes.title)?,
            artists: artists(identifier, included),
            kind: kind(attributes),
        })
    }
}

impl TidalAlbum {
    pub fn artist(&self) -> String {
        joined(&self.artists)
    }

    pub(super) fn read(identifier: &Resource, included: &Included) -> Option<Self> {
        let attributes = included.attributes(identifier)?;
        let title = text(&attributes.title).unwrap_or_else(|| UNKNOWN_TITLE.into());
        Some(Self {
            id: identifier.id.clone(),
            title: text(&attributes.version).map_or(title.clone(), |version| format!("{title} ({version})")),
            artists: artists(identifier, included),
            artwork_url: cover(identifier, included),
            release_date: text(&attributes.release_date),
            track_count: attributes.number_of_items.unwrap_or_default(),
            kind: kind(attributes),
            explicit: attributes.explicit.unwrap_or_default(),
            barcode: text(&attributes.barcode_id).map(|code| code.trim_start_matches('0').to_owned()),
        })
    }

    fn as_home(&self) -> TrackAlbum {
        TrackAlbum {
            id: self.id.clone(),
            title: self.title.clone(),
            artists: self.artists.clone(),
            kind: self.kind.clone(),
        }
    }
}

fn joined(artists: &[String]) -> String {
    if artists.is_empty() { UNKNOWN_ARTIST.into() } else { artists.join(", ") }
}

fn kind(attributes: &Attributes) -> Option<String> {
    text(&attributes.album_type).or_else(|| text(&attributes.old_album_type))
}

fn artists(identifier: &Resource, included: &Included) -> Vec<String> {
    let names = included.related(identifier, "artists").iter().filter_map(|artist| included.attributes(artist));
    names.filter_map(|attributes| text(&attributes.name)).collect()
}

/// The smallest cover that is large enough, or else the largest.
fn cover(album: &Resource, included: &Included) -> Option<String> {
    let artworks = included.related(album, "coverArt").iter().filter_map(|artwork| included.attributes(artwork));
    artworks
        .filter(|artwork| artwork.media_type.as_deref() != Some("VIDEO"))
        .flat_map(|artwork| &artwork.files)
        .filter(|file| file.href.starts_with("https://") || file.href.starts_with("http://"))
        .min_by_key(|file| match file.meta.width.unwrap_or_default() {
            width if width >= COVER_WIDTH => (0, width),
            width => (1, u32::MAX - width),
        })
        .map(|file| file.href.clone())
}

/// Text from Tidal on one line, without hidden characters.
fn text(attribute: &Option<String>) -> Option<String> {
    let visible: String = attribute.as_deref()?.chars().filter(|c| !c.is_control() && !text::is_hidden(*c)).collect();
    let visible = visible.trim();
    (!visible.is_empty()).then(|| visible.to_owned())
}

/// An ISO 8601 duration in seconds: `PT3M`, `PT1H2M3S`, `PT3M5.5S`.
fn seconds(duration: &str) -> Option<f64> {
    let rest = duration.strip_prefix('P')?;
    let (days, time) = rest.split_once('T').unwrap_or((rest, ""));
    Some(sum_of(days, &[('D', 86_400.0)])? + sum_of(time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])?)
}

fn sum_of(mut parts: &str, units: &[(char, f64)]) -> Option<f64> {
    let mut sum = 0.0;
    while !parts.is_empty() {
        let end = parts.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = parts[..end].parse().ok()?;
        let unit = parts[end..].chars().next()?;
        sum += number * units.iter().find(|(name, _)| *name == unit)?.1;
        parts = &parts[end + unit.len_utf8()..];
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_in_every_format() {
        let forms = [
            ("PT3M", Some(180.0)),
            ("PT3M5S", Some(185.0)),
            ("PT1H2M3S", Some(3723.0)),
            ("PT0S", Some(0.0)),
            ("PT2.5S", Some(2.5)),
            ("P1DT1S", Some(86_401.0)),
            ("3:05", None),
            ("PT3X", None),
            ("PT3é", None),
            ("PTM", None),
        ];
        for (form, expected) in forms {
            assert_eq!(seconds(form), expected, "{form}");
        }
    }

    #[test]
    fn invisible_characters_are_removed() {
        let cleaned = |s: &str| text(&Some(s.to_owned()));
        assert_eq!(cleaned(" Low\u{200b} Ti\u{202e}de\u{e0041}\u{7} ").as_deref(), Some("Low Tide"));
        assert_eq!(cleaned("\u{feff} "), None);
    }
}

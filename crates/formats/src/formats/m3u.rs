//! M3U and M3U8 playlists: <https://en.wikipedia.org/wiki/M3U>.

use crate::{
    beginning::Shape,
    format::{Format, Holds, Source},
    lines::numbered,
    path_names::PathNames,
    spelling::{clean, seconds},
    track::{Entry, ImportedTrack},
};

pub(super) const FORMAT: Format = Format {
    id: "m3u",
    name: "M3U playlist",
    holds: Holds::Playlist,
    recognise: |beginning| {
        let start = beginning.start();
        let is_marked = start.starts_with("#EXTM3U") || start.starts_with("#EXTINF");
        beginning.shape == Shape::Text && (is_marked || beginning.extension.starts_with("m3u"))
    },
    entries: |source| Box::new(entries(source)),
};

fn entries(source: Source) -> impl Iterator<Item = Entry> {
    let mut playlist = None;
    let mut next = ImportedTrack::default();
    numbered(source).filter_map(move |line| {
        let (line, text) = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        let text = text.trim();
        if let Some((directive, value)) = text.strip_prefix('#').map(|text| text.split_once(':').unwrap_or((text, "")))
        {
            match directive {
                "PLAYLIST" => playlist = clean(value),
                "EXTINF" => extinf(&mut next, value),
                "EXTALB" => next.album = clean(value),
                "EXTART" => next.artists = clean(value).into_iter().collect(),
                _ => {}
            }
            return None;
        }
        if text.is_empty() {
            return None;
        }
        let mut track = std::mem::take(&mut next);
        track.line = line;
        track.playlist.clone_from(&playlist);
        if !text.starts_with("urn:") && !text.starts_with("isrc:") {
            PathNames::of(text).fill(&mut track);
        }
        track.set_link(text);
        Some(track.finish())
    })
}

/// `221,Ivy Marlow - Paper Lanterns`; some players put attributes after the length: `221 logo="x",Name`.
fn extinf(track: &mut ImportedTrack, value: &str) {
    let (length, name) = value.split_once(',').unwrap_or((value, ""));
    track.duration = length.split_whitespace().next().and_then(seconds);
    let artists = std::mem::take(&mut track.artists);
    track.set_both(name);
    // In this format the artist always comes first; only lines that people type are uncertain.
    track.either_way = false;
    if !artists.is_empty() {
        track.artists = artists;
    }
}

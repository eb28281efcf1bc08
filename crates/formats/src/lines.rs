//! Files of lines: M3U playlists, lists of codes, and whatever people type.

use std::io::BufRead;

use super::{
    Kind,
    spelling::{clean, seconds, split_at_dash},
    track::{Entry, ImportedTrack, LineError},
};
use music::Isrc;

/// Lines with their numbers, from 1, without their ends.
pub(super) fn numbered(mut source: impl BufRead) -> impl Iterator<Item = Result<(u64, String), LineError>> {
    let (mut line, mut ended) = (0, false);
    std::iter::from_fn(move || {
        if ended {
            return None;
        }
        line += 1;
        let mut text = String::new();
        match source.read_line(&mut text) {
            Ok(0) => None,
            Ok(_) => Some(Ok((line, text.trim_end_matches(['\r', '\n']).to_owned()))),
            Err(error) => {
                ended = true;
                Some(Err(LineError::broken(line, error)))
            }
        }
    })
}

pub(super) fn entries(kind: Kind, source: impl BufRead + 'static) -> Box<dyn Iterator<Item = Entry>> {
    match kind {
        Kind::M3u => Box::new(m3u(source)),
        Kind::IsrcList => Box::new(written_lines(source, |line, text, _| isrcs(line, text))),
        _ => Box::new(written_lines(source, typed)),
    }
}

/// Every line that says something, without comments. A comment before the first entry names the list.
fn written_lines(
    source: impl BufRead,
    entry: impl Fn(u64, &str, Option<&str>) -> Entry,
) -> impl Iterator<Item = Entry> {
    let (mut playlist, mut begun) = (None, false);
    numbered(source).filter_map(move |line| {
        let (line, text) = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        match text.trim() {
            "" => None,
            text if text.starts_with('#') => {
                if !begun && playlist.is_none() {
                    playlist = clean(text.trim_start_matches('#'));
                }
                None
            }
            text => {
                begun = true;
                Some(entry(line, text, playlist.as_deref()))
            }
        }
    })
}

fn isrcs(line: u64, text: &str) -> Entry {
    // A heading over the column, as a spreadsheet writes it.
    if line == 1 && text.trim_matches('"').to_lowercase().starts_with("isrc") && text.len() < 12 {
        return Err(LineError::left_out(line, "a heading"));
    }
    let mut track = ImportedTrack::at(line);
    track.set_isrcs(text.trim_matches('"'));
    track.finish()
}

/// True when a line holds nothing but codes.
pub(super) fn is_isrcs(text: &str) -> bool {
    let codes = Isrc::all_in(text.trim().trim_matches('"'));
    !codes.is_empty() && codes.iter().all(|code| code.as_ref().is_ok_and(|code| code.doubt().is_none()))
}

fn typed(line: u64, text: &str, playlist: Option<&str>) -> Entry {
    let mut track = ImportedTrack::at(line);
    track.playlist = playlist.map(str::to_owned);
    if is_isrcs(text) {
        track.set_isrcs(text);
    } else if text.contains("://") || text.starts_with("spotify:") {
        track.set_link(text);
    } else {
        let text = without_number(text);
        if split_at_dash(text).is_none() {
            let expected = "neither \"Artist - Title\" nor an ISRC nor a link";
            return Err(LineError::unusable(line, format!("{expected}: {}", clean(text).unwrap_or_default())));
        }
        track.set_both(text);
    }
    track.finish()
}

/// `12. Artist - Title` and `12) …` without the number; a name may begin with digits, so a mark must follow them.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < text.len() && text.len() - rest.len() <= 4;
    match rest.strip_prefix(['.', ')', ':']) {
        Some(rest) if is_numbered && rest.starts_with(char::is_whitespace) => rest.trim(),
        _ => text.trim_start_matches(['-', '*', '•']).trim(),
    }
}

fn m3u(source: impl BufRead) -> impl Iterator<Item = Entry> {
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
        if track.title.is_empty() && !text.starts_with("urn:") {
            track.set_both(&file_stem(text));
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
    // The format says artist first, so only what people type is unsure.
    track.either_way = false;
    if !artists.is_empty() {
        track.artists = artists;
    }
}

/// The name a file would have without folder, extension and track number.
pub(super) fn file_stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.len() <= 5 => stem,
        _ => name,
    };
    let stem = if path.contains("://") { percent_decoded(stem) } else { stem.to_owned() };
    let unnumbered = stem.trim_start_matches(|c: char| c.is_ascii_digit());
    let unnumbered = unnumbered.trim_start_matches(['.', ' ', '-', '_']);
    if unnumbered.is_empty() { stem } else { unnumbered.replace('_', " ") }
}

/// `%20` and its kin as what they stand for.
pub(super) fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

//! Audio files: what their tags say, code and lyrics included.

use std::{
    fs,
    io::{Read, Seek},
    path::{Path, PathBuf},
};

use lofty::{
    config::ParseOptions,
    file::{AudioFile, FileType, TaggedFile, TaggedFileExt},
    probe::Probe,
    tag::{ItemKey, Tag},
};

use super::{
    lines::file_stem,
    spelling::{clean, clean_lines},
    track::{Entry, ImportedTrack, LineError},
};
use music::lrc::plain_lyrics;

/// Every audio file below `folder`, in the order of their names.
pub fn files_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut folders, mut files) = (vec![folder.to_owned()], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            // Links are not followed: a folder that holds itself would never end.
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && is_audio(&entry.path()) {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn is_audio(path: &Path) -> bool {
    FileType::from_path(path).is_some()
}

/// True when the first bytes are those of an audio file.
pub(super) fn looks_like_audio(first: &[u8]) -> bool {
    first.starts_with(b"ID3") || FileType::from_buffer(first).is_some()
}

/// The track of one file; `line` is its place in the list.
pub fn file(line: u64, path: &Path) -> Entry {
    let unreadable = |error: &dyn std::fmt::Display| LineError::unusable(line, format!("{}: {error}", path.display()));
    let source = fs::File::open(path).map_err(|error| unreadable(&error))?;
    let mut track = stream(line, std::io::BufReader::new(source))
        .map_err(|error| LineError::unusable(line, format!("{}: {}", path.display(), error.problem)))?;
    track.ids.location = clean(&path.display().to_string());
    if track.lyrics.is_none() {
        track.lyrics = lyrics_beside(path);
    }
    named(track, &path.file_name().unwrap_or_default().to_string_lossy())
}

/// A file without a title tag is called what its name says.
pub(super) fn named(mut track: ImportedTrack, file_name: &str) -> Entry {
    if track.title.is_empty() {
        let artists = std::mem::take(&mut track.artists);
        track.set_both(&file_stem(file_name));
        if !artists.is_empty() {
            (track.artists, track.either_way) = (artists, false);
        }
    }
    track.finish()
}

/// What the tags of one stream say; the title may be missing.
pub fn stream(line: u64, source: impl Read + Seek) -> Entry {
    let mut options = ParseOptions::new();
    options.read_cover_art(false);
    let probe = Probe::new(source).guess_file_type().map_err(|error| LineError::unusable(line, error.to_string()))?;
    let read = probe.options(options).read();
    let file = read.map_err(|error| LineError::unusable(line, format!("the tags cannot be read: {error}")))?;
    Ok(track_of(line, &file))
}

fn track_of(line: u64, file: &TaggedFile) -> ImportedTrack {
    let mut track = ImportedTrack::at(line);
    let seconds = file.properties().duration().as_secs_f64();
    track.duration = (seconds > 0.0).then_some(seconds);
    // The best tag first; older ones in the same file fill what it leaves open.
    for tag in file.primary_tag().into_iter().chain(file.tags()) {
        add(&mut track, tag);
    }
    track
}

fn add(track: &mut ImportedTrack, tag: &Tag) {
    let first = |key| tag.get_strings(key).find_map(clean);
    if track.title.is_empty() {
        track.title = first(ItemKey::TrackTitle).unwrap_or_default();
    }
    if track.artists.is_empty() {
        let each: Vec<_> = tag.get_strings(ItemKey::TrackArtists).filter_map(clean).collect();
        let joined = || tag.get_strings(ItemKey::TrackArtist).flat_map(|names| names.split(';')).filter_map(clean);
        track.artists = if each.is_empty() { joined().collect() } else { each };
    }
    if track.artists.is_empty() {
        track.artists = first(ItemKey::AlbumArtist).into_iter().collect();
    }
    track.album = track.album.take().or_else(|| first(ItemKey::AlbumTitle));
    let number = || first(ItemKey::TrackNumber)?.split('/').next()?.trim().parse().ok();
    track.track_number = track.track_number.or_else(number);
    track.release_date = track.release_date.take().or_else(|| first(ItemKey::RecordingDate));
    track.ids.music_brainz = track.ids.music_brainz.take().or_else(|| first(ItemKey::MusicBrainzRecordingId));
    if track.tags.is_empty() {
        track.tags = tag.get_strings(ItemKey::Genre).filter_map(clean).collect();
    }
    if track.isrcs.is_empty() {
        tag.get_strings(ItemKey::Isrc).for_each(|field| track.set_isrcs(field));
    }
    // Formats disagree about which of the two an ordinary lyrics field is.
    let lyrics = || [ItemKey::UnsyncLyrics, ItemKey::Lyrics].into_iter().find_map(|key| tag.get_string(key));
    track.lyrics = track.lyrics.take().or_else(|| lyrics().and_then(words));
}

/// `Song.lrc` next to `Song.flac`.
fn lyrics_beside(path: &Path) -> Option<String> {
    // A missing or unreadable companion is the usual case, not a failure of the track.
    let bytes = fs::read(path.with_extension("lrc")).ok()?;
    words(&String::from_utf8_lossy(&bytes))
}

fn words(lyrics: &str) -> Option<String> {
    clean_lines(&plain_lyrics(lyrics)?)
}
